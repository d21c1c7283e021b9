"""Reading what is held of a key, a page at a time, without touching the gate."""

from collections.abc import Iterator
from dataclasses import dataclass

from confluent_kafka import Message

from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import Header, headers_of, source_of
from holdfast.errors import EventsLostError, InvalidArgumentError, InvalidRecordError
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Entry

MOST_LOOKED_AT = 200_000
"""Rows, of all keys, that one page looks at: a second or two, whatever else is held."""


@dataclass(frozen=True, slots=True)
class HeldEvent:
    """An event that waits: as it was sent, and where."""

    partition: int
    offset: int
    """Of the event in `<flow>.events`."""
    timestamp: int
    value: bytes | None
    headers: tuple[Header, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go on: the partition, and the offset in its held.

    >>> Place.parse("2:1017")
    Place(partition=2, held_offset=1017)
    """

    partition: int
    held_offset: int

    @classmethod
    def parse(cls, text: str) -> "Place":
        """The place that was written as `<partition>:<offset>`."""
        partition, _, offset = text.partition(":")
        if not (_is_number(partition) and _is_number(offset)):
            raise InvalidArgumentError(
                f"{text!r} is no place in held: give what the page before said, for example 0:17."
            )
        return cls(int(partition), int(offset))

    def __str__(self) -> str:
        return f"{self.partition}:{self.held_offset}"


@dataclass(frozen=True, slots=True)
class HeldPage:
    """Events in the order in which they will come out, and where the next page begins, if there
    may be one."""

    events: tuple[HeldEvent, ...]
    following: Place | None


def read_held(
    connection: Connection,
    names: FlowNames,
    entries: tuple[tuple[int, Entry], ...],
    *,
    start: Place | None = None,
    limit: int = 100,
    look_at: int = MOST_LOOKED_AT,
) -> HeldPage:
    """Up to `limit` events that are held of a key, by its entries (`KeyStatus.entries`).

    Events that come out meanwhile may be shown still; none is shown that came out before the
    status was read. A page ends early, even empty, when it has looked at `look_at` rows.
    """
    reader = LogReader(connection, isolation="read_committed")
    events: list[HeldEvent] = []
    looked_at = 0
    try:
        for partition, entry in entries:
            if start is not None and partition < start.partition:
                continue
            first = start.held_offset if start and start.partition == partition else 0
            for message in _rows(connection, reader, names, partition, max(first, entry.held_from)):
                if len(events) == limit or looked_at == look_at:
                    return HeldPage(tuple(events), Place(partition, message.offset() or 0))
                looked_at += 1
                event = _event(partition, entry, message)
                if event is not None:
                    events.append(event)
    finally:
        reader.close()
    return HeldPage(tuple(events), None)


def _rows(
    connection: Connection, reader: LogReader, names: FlowNames, partition: int, first: int
) -> Iterator[Message]:
    """The rows of held from `first` on that are still there."""
    held = Partition(names.held, partition)
    offsets = Offsets(connection)
    end = offsets.ends([held])[held]
    while True:
        # What lies below the log's start was let go of: it is nobody's any more.
        first = max(first, offsets.starts([held])[held])
        try:
            for messages in reader.read(held, first, end):
                for message in messages:
                    yield message
                    first = (message.offset() or 0) + 1
        except EventsLostError:
            continue  # let go of in this moment
        return


def _event(partition: int, entry: Entry, message: Message) -> HeldEvent | None:
    """The event in this row; None if it is another key's, or has come out."""
    if message.key() != entry.key:
        return None
    headers = headers_of(message)
    source = source_of(headers)
    if source is None:
        raise InvalidRecordError(
            f"Offset {message.offset()} of {message.topic()} does not say which event it is. "
            "Something else than the gate has written to it."
        )
    if source[1] <= entry.drained_through:
        return None
    own = tuple(headers[:-1])  # the last is the coordinate, added on the way
    return HeldEvent(partition, source[1], message.timestamp()[1], message.value(), own)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
