"""Records of a topic, as a list with one of them in full; for topics and dead letters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from urllib.parse import urlencode

from holdfast.access.roles import Actor
from holdfast.client.connection import Connection
from holdfast.control.dead_letters import has_reason
from holdfast.control.filters import Filter, FilterError
from holdfast.control.key_paths import key_from_path
from holdfast.control.records import Browse, Seen, SortOrder, browse
from holdfast.control.spans import Span
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.values import EventView, event_view
from holdfast.errors import HoldfastError
from holdfast.flows.registry import FlowDefinition

PAGE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """The filter of records, as in the page's address."""

    partition: str = ""
    offset: str = ""
    since: str = ""
    until: str = ""
    zone: str = ""
    """Of times that name none; empty: UTC."""
    key: str = ""
    """As in addresses of keys."""
    text: str = ""
    path: str = ""
    value: str = ""
    """What the path finds."""
    header: str = ""
    reason: str = ""
    """Of dead letters: the kind of error."""
    message: str = ""
    """Of dead letters: the pattern of its message."""
    redriven: bool = False
    """Of dead letters: also those that were redriven."""
    order: SortOrder = "newest"
    cursor: str = ""
    event: str = ""
    """Coordinates of the record that is shown in full."""
    follow: bool = False
    """Reload as records arrive."""

    def address(self, **changes: object) -> str:
        """The query string with some values changed; defaults are left out."""
        chosen = replace(self, **changes)  # type: ignore[arg-type]
        values = {
            each.name: getattr(chosen, each.name)
            for each in fields(chosen)
            if getattr(chosen, each.name) != each.default
        }
        return urlencode(values)

    def query(self, topic: str, partitions: int) -> Browse:
        """The query, or FilterError."""
        partition = _number("partition", self.partition)
        if partition is not None and partition >= partitions:
            raise FilterError("partition", f"There are the partitions 0 to {partitions - 1}.")
        chosen = range(partitions) if partition is None else [partition]
        span = Span.parse(self.since, self.until, zone=self.zone)
        return Browse(
            topic=topic,
            partitions=tuple(chosen),
            order=self.order,
            offset=_number("offset", self.offset),
            since=span.since,
            until=span.until,
            filter=Filter(
                key=_key(self.key),
                text=self.text,
                path=self.path,
                value=self.value,
                header=self.header,
            ),
            limit=PAGE,
            cursor=self.cursor or None,
        )

    @property
    def key_text(self) -> str:
        """The key as people read it, for the form's field."""
        try:
            key = _key(self.key)
        except FilterError:
            return self.key
        return "" if key is None else KeyName(key).text


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePage:
    filter: MessageFilter
    events: tuple[EventView, ...]
    runs: Mapping[str, str]
    """Of dead letters: the runs that redrove those of the page, by coordinate."""
    shown: EventView | None
    cursor: str | None
    looked_at: int
    stopped_early: str
    errors: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with the filter, by its field."""


def message_page(
    connection: Connection,
    topic: str,
    partitions: int,
    flow: FlowDefinition,
    chosen: MessageFilter,
    actor: Actor,
    *,
    run_of: Callable[[str], str] | None = None,
) -> MessagePage:
    """One page. `run_of`: of dead letters, the run that redrove one, by its coordinate."""
    try:
        query = chosen.query(topic, partitions)
    except FilterError as error:
        return MessagePage(
            filter=chosen, events=(), runs={}, shown=None, cursor=None, looked_at=0,
            stopped_early="", errors={error.field: str(error)},
        )  # fmt: skip
    if run_of is not None:
        query = replace(query, wanted=letter_condition(chosen, run_of))
    records = browse(connection, query, flow.masks, actor)
    events = tuple(seen_view(seen) for seen in records.records)
    first = events[0] if events else None
    return MessagePage(
        filter=chosen,
        events=events,
        runs={one.coordinate: run_of(one.coordinate) for one in events} if run_of else {},
        shown=next((one for one in events if one.coordinate == chosen.event), first),
        cursor=records.cursor,
        looked_at=records.looked_at,
        stopped_early=records.stopped_early,
    )


def seen_view(seen: Seen) -> EventView:
    """A record, ready to be shown."""
    record = seen.record
    headers: Sequence[tuple[str, str | bytes | None]] = record.headers
    return event_view(
        partition=record.partition,
        offset=record.offset,
        at=seen.time,
        key=record.key,
        value=seen.value,
        headers=headers,
    )


def letter_condition(chosen: MessageFilter, run_of: Callable[[str], str]) -> Callable[[Seen], bool]:
    """The condition on dead letters, beyond that on any record."""

    def wanted(seen: Seen) -> bool:
        coordinate = f"{seen.record.partition}:{seen.record.offset}"
        return has_reason(seen, chosen.reason, chosen.message) and (
            chosen.redriven or not run_of(coordinate)
        )

    return wanted


def _number(name: str, text: str) -> int | None:
    if not text.strip():
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise FilterError(name, f"{text!r} is not a number.")
    return int(text)


def _key(segment: str) -> bytes | None:
    try:
        return key_from_path(segment) if segment else None
    except HoldfastError as error:
        raise FilterError("key", str(error)) from None
