"""The screen of `holdfast top`: figures as rich tables."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from holdfast.cli.top_figures import Figures, FlowFigures, KeyFigures, SortOrder
from holdfast.clock import duration_text

_STATES = {"HELD": "yellow", "DRAINING": "blue"}
_WELL = frozenset({"running", "starting"})
_TEXTS = frozenset({"flow", "key", "state", "by", "reason"})
_FLEXIBLE = {"flow": 6, "key": 14, "reason": 8}
"""Columns that share the free width, with their minimum; the others are fixed."""
_WIDE = 100
"""From this width on, actor and time are shown as well."""
_FRAME_LINES = 9
"""Title, heads, empty lines, what was left out, keys."""
_UNITS = ("B", "kB", "MB", "GB", "TB")


def screen(
    figures: Figures,
    *,
    now: int,
    order: SortOrder,
    only: str | None,
    width: int,
    lines: int | None = None,
) -> RenderableType:
    """The figures in a number of lines: all flows, and as many keys as fit. Without a number: all
    figures, to be printed once."""
    if lines is None:
        room, keys = len(figures.keys), ""
    else:
        unwell = sum(bool(flow.reason) for flow in figures.flows)
        room = max(0, lines - len(figures.flows) - unwell - _FRAME_LINES)
        keys = "\nq quit   s sort   f flow"
    tables = _tables(figures, now=now, order=order, only=only, room=room, width=width)
    return Group(*tables, *([Text(keys, style="dim")] if keys else []))


def _tables(
    figures: Figures, *, now: int, order: SortOrder, only: str | None, room: int, width: int
) -> Iterator[RenderableType]:
    yield _title(figures)
    yield Text()
    yield _flows(figures.flows, now)
    for flow in figures.flows:
        if flow.reason:
            yield Text(f"{flow.flow}: {printable(flow.reason)}", style="red", no_wrap=True)
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
    heads = "flow state in/s out/s held/s lag keys events size oldest"
    guards = any(flow.guard for flow in flows)
    table = _table((*heads.split(), *(["failing"] if guards else [])))
    for flow in flows:
        table.add_row(
            Text(flow.flow),
            Text(flow.health, style="green" if flow.health in _WELL else "red"),
            *(
                f"{rate:.1f}"
                for rate in (flow.in_per_second, flow.out_per_second, flow.held_per_second)
            ),
            "-" if flow.lag is None else str(flow.lag),
            Text(str(flow.held_keys), style="yellow" if flow.held_keys else ""),
            str(flow.held_events),
            size(flow.held_bytes),
            _age(flow.oldest, now),
            *([_failing(flow)] if guards else []),
        )
    return table


def _failing(flow: FlowFigures) -> Text:
    """Of a guard: how many keys fail."""
    if not flow.guard:
        return Text("-")
    return Text(str(flow.failing_keys), style="red" if flow.failing_keys else "")


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
            "-" if row.expires_at is None else duration_text(row.expires_at - now),
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
    """Text without characters that would move the cursor or colour the terminal.

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


def _age(at: int | None, now: int) -> str:
    return "-" if at is None else duration_text(now - at)
