"""Reading what is held of a key, a page at a time, without touching the gate."""

from collections.abc import Iterator
from dataclasses import dataclass

from confluent_kafka import Message

from holdfast.client.connection import Connection
from holdfast.client.flow import KeyStatus
from holdfast.client.positions import Offsets, Partition
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Entry
from holdfast.pipeline.events import Header, headers_of
from holdfast.pipeline.loading import source_offset
from holdfast.pipeline.log_reader import LogReader


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
    """Where to go on: the partition, and the offset in its held."""

    partition: int
    held_offset: int


@dataclass(frozen=True, slots=True)
class Page:
    """Events in the order in which they will come out, and where the next page begins, if there
    may be one."""

    events: tuple[HeldEvent, ...]
    following: Place | None


def read_held(
    connection: Connection,
    names: FlowNames,
    status: KeyStatus,
    *,
    start: Place | None = None,
    limit: int = 100,
) -> Page:
    """Up to `limit` events that are held of a key, by its status (`Flow.status`).

    Events that come out meanwhile may be shown still; none is shown that came out before the
    status was read.
    """
    reader = LogReader(connection, isolation="read_committed")
    events: list[HeldEvent] = []
    try:
        for partition, entry in status.entries:
            if start is not None and partition < start.partition:
                continue
            first = start.held_offset if start and start.partition == partition else 0
            for message in _rows(connection, reader, names, partition, entry, first):
                if len(events) == limit:
                    return Page(tuple(events), Place(partition, message.offset() or 0))
                events.append(_event(partition, message))
    finally:
        reader.close()
    return Page(tuple(events), None)


def _rows(
    connection: Connection,
    reader: LogReader,
    names: FlowNames,
    partition: int,
    entry: Entry,
    first: int,
) -> Iterator[Message]:
    """The rows of the entry's key that have not left held."""
    held = Partition(names.held, partition)
    offsets = Offsets(connection)
    # What lies below the log's start was let go of: it is nobody's any more.
    begin = max(entry.held_from, first, offsets.starts([held])[held])
    for messages in reader.read(held, begin, offsets.ends([held])[held]):
        for message in messages:
            if message.key() == entry.key and source_offset(message) > entry.drained_through:
                yield message


def _event(partition: int, message: Message) -> HeldEvent:
    headers = headers_of(message)[:-1]  # the last is the coordinate, added on the way
    _, timestamp = message.timestamp()
    return HeldEvent(partition, source_offset(message), timestamp, message.value(), tuple(headers))
