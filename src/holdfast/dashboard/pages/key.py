"""Key: its state, its timeline, its held events, its commands."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from holdfast.access.masks import visible_error, visible_value
from holdfast.access.roles import Actor
from holdfast.client.held import HeldEvent, HeldPosition, read_held
from holdfast.control.filters import Filter
from holdfast.control.holds import standing_holds
from holdfast.control.records import Browse, browse
from holdfast.dashboard.commands import CommandRow, command_row
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.page_request import PageRequest
from holdfast.dashboard.state_styles import StateStyle, key_styles
from holdfast.dashboard.timeline import SPANS, Arrival, Timeline, timeline
from holdfast.dashboard.values import EventView, event_view
from holdfast.flows.holds import GUARD, StandingHold
from holdfast.flows.keys import partition_of
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
    """The page without its events."""

    flow: FlowDefinition
    name: KeyName
    row: KeyRow
    styles: tuple[StateStyle, ...]
    entries: tuple[tuple[int, Entry], ...]
    history: tuple[CommandRow, ...]
    holds: tuple["HoldChoice", ...]
    error: str
    """Of a guard: the last failure of the first event, as the person may see it."""
    more_history: bool
    """There are more commands than shown; the audit has all."""

    @property
    def on_hold(self) -> bool:
        return bool(self.entries)

    @property
    def parked(self) -> bool:
        """Its guard waits for the next try, or for a person."""
        return any(choice.hold.name == GUARD for choice in self.holds)


@dataclass(frozen=True, slots=True)
class HoldChoice:
    """A hold of the key in a dialog."""

    hold: StandingHold
    own: bool
    """It is of the person who looks at it."""
    meant: bool
    """It is chosen at first: their own, or the only one."""


def key_page(view: FlowView, key: bytes, now: int, actor: Actor) -> KeyPage:
    """One key in any state."""
    detail = view.key(key)
    holds = standing_holds(view, key)
    rows = [command_row(view.name, item, now) for item in detail.history]
    return KeyPage(
        flow=view.definition,
        name=KeyName(key),
        row=detail.row,
        styles=key_styles(detail.row),
        entries=detail.entries,
        history=tuple(rows[:_HISTORY]),
        holds=tuple(
            HoldChoice(hold, hold.label == actor.name, len(holds) == 1 or hold.label == actor.name)
            for hold in holds
        ),
        error=visible_error(detail.row.error, view.definition.masks, actor),
        more_history=len(rows) > _HISTORY or bool(detail.history_since),
    )


def key_timeline(
    view: FlowView, key: bytes, arrivals: Sequence[Arrival], span: str, now: int
) -> Timeline:
    detail = view.key(key)
    return timeline(
        detail.history,
        arrivals,
        span=span,
        now=now,
        expires_at=detail.row.expires_at,
        buffered=detail.row.events,
    )


_PAGE = 12
_ARRIVALS = 400


@dataclass(frozen=True, slots=True)
class Buffered:
    """A page of the key's held events, and the event that is shown in full."""

    events: tuple[EventView, ...]
    shown: EventView | None
    start: str
    following: str
    span: str

    @property
    def address(self) -> str:
        """The query string of this page."""
        chosen = self.shown.coordinate if self.shown else ""
        return _address(start=self.start, event=chosen, span=self.span)

    @property
    def next(self) -> str:
        return _address(start=self.following, span=self.span) if self.following else ""

    def link(self, event: EventView) -> str:
        """The query string of this page with another event in full."""
        return _address(start=self.start, event=event.coordinate, span=self.span)


def timeline_with_events(request: PageRequest, view: FlowView, key: bytes, span: str) -> Timeline:
    """The timeline with the newest events of the key that a short search finds."""
    since = request.now - SPANS[span] if span in SPANS else None
    home = partition_of(key, view.definition.partitions)
    others = (partition for partition, _ in view.key(key).entries)
    query = Browse(
        topic=view.names.events,
        partitions=tuple(sorted({home, *others})),
        since=since,
        filter=Filter(key=key),
        limit=_ARRIVALS,
    )
    records = browse(request.services.connection, query, (), request.actor).records
    arrivals = [Arrival(seen.time, seen.record.partition, seen.record.offset) for seen in records]
    return key_timeline(view, key, arrivals[::-1], span, request.now)


def buffered_events(
    request: PageRequest, view: FlowView, key: bytes, start: str, event: str, span: str
) -> Buffered:
    entries = view.key(key).entries
    if not entries:
        return Buffered((), None, "", "", span)
    first = HeldPosition.parse(start) if start else None
    page = read_held(request.services.connection, view.names, entries, start=first, limit=_PAGE)
    events = tuple(_event(request, view, key, held) for held in page.events)
    chosen = next((one for one in events if one.coordinate == event), events[0] if events else None)
    return Buffered(events, chosen, start, str(page.following or ""), span)


def _event(request: PageRequest, view: FlowView, key: bytes, held: HeldEvent) -> EventView:
    return event_view(
        partition=held.partition,
        offset=held.offset,
        at=held.timestamp,
        key=key,
        value=visible_value(held.value, view.definition.masks, request.actor),
        headers=held.headers,
    )


def _address(**values: str) -> str:
    return urlencode({name: value for name, value in values.items() if value})
