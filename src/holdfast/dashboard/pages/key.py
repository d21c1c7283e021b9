"""Key: its state, its timeline, what is buffered, what was asked of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.dashboard.commands import CommandRow, command_row
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.looks import Look, key_looks
from holdfast.dashboard.timeline import Arrival, Timeline, timeline
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import Entry
from holdfast.views.flow_view import FlowView
from holdfast.views.keys import KeyRow

SPAN_TITLES = (
    ("5m", "5 min"),
    ("15m", "15 min"),
    ("1h", "1 h"),
    ("6h", "6 h"),
    ("24h", "24 h"),
    ("all", "All"),
)
_HISTORY = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPage:
    """The page but its events."""

    flow: FlowDefinition
    name: KeyName
    row: KeyRow
    looks: tuple[Look, ...]
    entries: tuple[tuple[int, Entry], ...]
    history: tuple[CommandRow, ...]
    more_history: bool
    """There is more than is shown; the audit has all."""

    @property
    def on_hold(self) -> bool:
        return bool(self.entries)


def key_page(view: FlowView, key: bytes, now: int) -> KeyPage:
    """One key, whatever its state."""
    found = view.key(key)
    rows = [command_row(view.name, item, now) for item in found.history]
    return KeyPage(
        flow=view.definition,
        name=KeyName(key),
        row=found.row,
        looks=key_looks(found.row),
        entries=found.entries,
        history=tuple(rows[:_HISTORY]),
        more_history=len(rows) > _HISTORY or bool(found.history_since),
    )


def key_timeline(
    view: FlowView, key: bytes, arrivals: Sequence[Arrival], span: str, now: int
) -> Timeline:
    """The key's picture."""
    found = view.key(key)
    return timeline(
        found.history,
        arrivals,
        span=span,
        now=now,
        expires_at=found.row.expires_at,
        buffered=found.row.events,
    )
