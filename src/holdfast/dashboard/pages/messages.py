"""Records of a topic, as a list with one of them in full; for topics and dead letters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import urlencode

from holdfast.access.roles import Actor
from holdfast.api.browsing import Browse, BrowsePage, Order, Seen, browse
from holdfast.api.key_paths import key_from_path
from holdfast.api.matching import Filter
from holdfast.client.connection import Connection
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.values import EventView, event_view
from holdfast.errors import InvalidArgumentError
from holdfast.flows.registry import FlowDefinition

PAGE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Which records, as it stands in the page's address."""

    partition: int | None = None
    offset: int | None = None
    since: str = ""
    """A time of day or a date, in UTC, as people write it."""
    key: str = ""
    """As in addresses of keys."""
    text: str = ""
    path: str = ""
    header: str = ""
    order: Order = "newest"
    cursor: str = ""
    event: str = ""
    """Coordinates of the record that is shown in full."""
    follow: bool = False
    """Fetch anew what arrives."""

    def address(self, **changes: object) -> str:
        """The query string with some values changed; what is as usual is left out."""
        chosen = replace(self, **changes)  # type: ignore[arg-type]
        values = {
            "partition": chosen.partition,
            "offset": chosen.offset,
            "since": chosen.since,
            "key": chosen.key,
            "q": chosen.text,
            "path": chosen.path,
            "header": chosen.header,
            "order": "" if chosen.order == "newest" else chosen.order,
            "cursor": chosen.cursor,
            "event": chosen.event,
            "follow": "1" if chosen.follow else "",
        }
        return urlencode({n: v for n, v in values.items() if v not in ("", None)})

    def query(self, topic: str, partitions: int) -> Browse:
        """The API's query, or InvalidArgumentError."""
        if self.partition is not None and not 0 <= self.partition < partitions:
            raise InvalidArgumentError(f"There are the partitions 0 to {partitions - 1}.")
        places = range(partitions) if self.partition is None else [self.partition]
        return Browse(
            topic=topic,
            partitions=tuple(places),
            order=self.order,
            offset=self.offset,
            since=time_of(self.since) if self.since else None,
            filter=Filter(
                key=key_from_path(self.key) if self.key else None,
                text=self.text,
                json_path=self.path,
                header=self.header,
            ),
            limit=PAGE,
            cursor=self.cursor or None,
        )

    @property
    def key_text(self) -> str:
        """The key as people read it, for the form's field."""
        return KeyName(key_from_path(self.key)).text if self.key else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePage:
    """A page of records."""

    filter: MessageFilter
    events: tuple[EventView, ...]
    shown: EventView | None
    cursor: str | None
    looked_at: int
    stopped_early: str


def message_page(
    connection: Connection,
    topic: str,
    partitions: int,
    flow: FlowDefinition,
    chosen: MessageFilter,
    actor: Actor,
) -> MessagePage:
    """The records that the filter asks for."""
    found = browse(connection, chosen.query(topic, partitions), flow.masks, actor)
    return _page(found, chosen)


def _page(found: BrowsePage, chosen: MessageFilter) -> MessagePage:
    events = tuple(seen_view(seen) for seen in found.records)
    first = events[0] if events else None
    return MessagePage(
        filter=chosen,
        events=events,
        shown=next((one for one in events if one.coordinate == chosen.event), first),
        cursor=found.cursor,
        looked_at=found.looked_at,
        stopped_early=found.stopped_early,
    )


def seen_view(seen: Seen) -> EventView:
    """A record that was found, ready to be shown."""
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


def time_of(text: str) -> int:
    """Milliseconds since 1970 of a time as the browser's field gives it, in UTC.

    >>> time_of("2026-01-01T00:00")
    1767225600000
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgumentError(
            f"{text!r} is no time: write it as in 2026-01-31T14:30."
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)
