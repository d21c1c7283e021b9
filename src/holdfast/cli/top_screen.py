"""The screen of `holdfast top`: figures as rich tables."""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from holdfast.cli.top_figures import Figures, FlowFigures, KeyFigures, Order

_STATES = {"HELD": "yellow", "DRAINING": "blue"}
_WELL = frozenset({"running", "starting"})
_FRAME_LINES = 9
"""Title, two heads of three lines each, what was left out, keys."""
_UNITS = ("B", "kB", "MB", "GB", "TB")


def screen(
    figures: Figures, *, now: int, order: Order, only: str | None, lines: int
) -> RenderableType:
    """All that fits on so many lines: the flows always, keys as far as there is room."""
    room = max(0, lines - len(figures.flows) - _FRAME_LINES)
    return Group(
        *_tables(figures, now=now, order=order, only=only, room=room),
        Text("q quit   s sort   f flow", style="dim"),
    )


def printed(figures: Figures, *, now: int, order: Order, only: str | None) -> RenderableType:
    """All there is, to be printed once."""
    return Group(*_tables(figures, now=now, order=order, only=only, room=len(figures.keys)))


def _tables(
    figures: Figures, *, now: int, order: Order, only: str | None, room: int
) -> Iterator[RenderableType]:
    yield _title(figures)
    yield _flows(figures.flows, now)
    if figures.keys:
        which = f"Held keys of {only}" if only else "Held keys"
        yield Text(f"{which}, by {order.value}", style="bold")
        yield _keys(figures.keys[:room], now)
    if len(figures.keys) > room:
        yield Text(f"… and {len(figures.keys) - room} more", style="dim")


def _title(figures: Figures) -> Text:
    if figures.trouble:
        return Text(printable(figures.trouble), style="bold red")
    keys = sum(flow.held_keys for flow in figures.flows)
    events = sum(flow.held_events for flow in figures.flows)
    return Text(f"Holdfast: {keys} keys held, {events} events wait", style="bold")


def _flows(flows: tuple[FlowFigures, ...], now: int) -> Table:
    table = _table("flow", "state", "in/s", "out/s", "held/s", "lag", "keys", "events", "size",
                   "oldest", text=("flow", "state"))  # fmt: skip
    for flow in flows:
        told = flow.health if not flow.reason else f"{flow.health}: {printable(flow.reason)}"
        table.add_row(
            Text(flow.name),
            Text(told, style="green" if flow.health in _WELL else "red"),
            *(f"{rate:.1f}" for rate in (flow.incoming, flow.outgoing, flow.held)),
            str(flow.lag),
            Text(str(flow.held_keys), style="yellow" if flow.held_keys else ""),
            str(flow.held_events),
            size(flow.held_bytes),
            _age(flow.oldest, now),
        )
    return table


def _keys(keys: tuple[KeyFigures, ...], now: int) -> Table:
    table = _table("flow", "key", "state", "events", "size", "oldest", "since", "ends in", "by",
                   "reason", text=("flow", "key", "state", "by", "reason"))  # fmt: skip
    for key in keys:
        row = key.row
        table.add_row(
            Text(key.flow),
            Text(printable(row.text)),
            Text(row.state.value, style=_STATES.get(row.state.value, "")),
            str(row.events),
            size(row.bytes),
            _age(row.oldest, now),
            _age(row.since, now),
            "-" if row.expires_at is None else duration((row.expires_at - now) / 1000),
            Text(printable(row.actor)),
            Text(printable(row.reason)),
        )
    return table


def _table(*columns: str, text: tuple[str, ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", expand=True)
    for name in columns:
        table.add_column(
            name,
            justify="left" if name in text else "right",
            no_wrap=True,
            overflow="ellipsis",
            ratio=2 if name in ("key", "reason") else None,
        )
    return table


def printable(text: str) -> str:
    """Without anything that would move the cursor or colour the terminal.

    >>> printable("a\\x1b[31mb\\nc")
    'a\\\\x1b[31mb\\\\nc'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def size(count: int) -> str:
    """
    >>> size(999), size(15_300), size(2_000_000_000)
    ('999 B', '15.3 kB', '2.0 GB')
    """
    amount, unit = float(count), 0
    while amount >= 1000 and unit + 1 < len(_UNITS):
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {_UNITS[unit]}" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """
    >>> duration(59), duration(3700), duration(200_000), duration(-1)
    ('59s', '1h01m', '2d07h', '0s')
    """
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}m"
    return f"{whole // 86400}d{whole % 86400 // 3600:02}h"


def _age(at: int | None, now: int) -> str:
    return "-" if at is None else duration((now - at) / 1000)
