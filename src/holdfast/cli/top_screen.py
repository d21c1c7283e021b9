"""The screen of `holdfast top`: figures as rich tables."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from holdfast.cli.top_figures import Figures, FlowFigures, KeyFigures, Order

_STATES = {"HELD": "yellow", "DRAINING": "blue"}
_WELL = frozenset({"running", "starting"})
_TEXTS = frozenset({"flow", "key", "state", "by", "reason"})
_FLEXIBLE = {"flow": 6, "key": 14, "reason": 8}
"""Columns that share what room there is, and what they need of it; the others keep theirs."""
_WIDE = 100
"""Columns of a terminal from which on who and since when are shown as well."""
_FRAME_LINES = 9
"""Title, heads, empty lines, what was left out, keys."""
_UNITS = ("B", "kB", "MB", "GB", "TB")


def screen(
    figures: Figures, *, now: int, order: Order, only: str | None, lines: int, width: int
) -> RenderableType:
    """All that fits on so many lines: the flows always, keys as far as there is room."""
    unwell = sum(bool(flow.reason) for flow in figures.flows)
    room = max(0, lines - len(figures.flows) - unwell - _FRAME_LINES)
    return Group(
        *_tables(figures, now=now, order=order, only=only, room=room, width=width),
        Text("\nq quit   s sort   f flow", style="dim"),
    )


def printed(
    figures: Figures, *, now: int, order: Order, only: str | None, width: int
) -> RenderableType:
    """All there is, to be printed once."""
    room = len(figures.keys)
    return Group(*_tables(figures, now=now, order=order, only=only, room=room, width=width))


def _tables(
    figures: Figures, *, now: int, order: Order, only: str | None, room: int, width: int
) -> Iterator[RenderableType]:
    yield _title(figures)
    yield Text()
    yield _flows(figures.flows, now)
    for flow in figures.flows:
        if flow.reason:
            yield Text(f"{flow.name}: {printable(flow.reason)}", style="red", no_wrap=True)
    if figures.keys:
        which = f"Held keys of {only}" if only else "Held keys"
        yield Text(f"\n{which}, by {order.value}", style="bold")
        yield _keys(figures.keys[:room], now, wide=width >= _WIDE)
    if len(figures.keys) > room:
        yield Text(f"… and {len(figures.keys) - room} more", style="dim")


def _title(figures: Figures) -> Text:
    if figures.trouble:
        return Text(printable(figures.trouble), style="bold red")
    keys = sum(flow.held_keys for flow in figures.flows)
    events = sum(flow.held_events for flow in figures.flows)
    return Text(f"Holdfast: {keys} keys held, {events} events wait", style="bold")


def _flows(flows: tuple[FlowFigures, ...], now: int) -> Table:
    columns = (
        "flow",
        "state",
        "in/s",
        "out/s",
        "held/s",
        "lag",
        "keys",
        "events",
        "size",
        "oldest",
    )
    table = _table(columns)
    for flow in flows:
        table.add_row(
            Text(flow.name),
            Text(flow.health, style="green" if flow.health in _WELL else "red"),
            *(f"{rate:.1f}" for rate in (flow.incoming, flow.outgoing, flow.held)),
            str(flow.lag),
            Text(str(flow.held_keys), style="yellow" if flow.held_keys else ""),
            str(flow.held_events),
            size(flow.held_bytes),
            _age(flow.oldest, now),
        )
    return table


def _keys(keys: tuple[KeyFigures, ...], now: int, *, wide: bool) -> Table:
    columns = ("flow", "key", "state", "events", "size", "oldest", "ends in", "reason")
    table = _table(columns + (("by", "since") if wide else ()))
    for key in keys:
        row = key.row
        table.add_row(
            Text(key.flow),
            Text(printable(row.text)),
            Text(row.state.value, style=_STATES.get(row.state.value, "")),
            str(row.events),
            size(row.bytes),
            _age(row.oldest, now),
            "-" if row.expires_at is None else duration((row.expires_at - now) / 1000),
            Text(printable(row.reason)),
            *((Text(printable(row.actor)), _age(row.since, now)) if wide else ()),
        )
    return table


def _table(columns: tuple[str, ...]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=True)
    for name in columns:
        table.add_column(
            name,
            justify="left" if name in _TEXTS else "right",
            no_wrap=True,
            overflow="ellipsis",
            min_width=_FLEXIBLE.get(name, len(name)),
            ratio=(1 if name == "flow" else 2) if name in _FLEXIBLE else None,
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
