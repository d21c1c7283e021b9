"""Reading the held events of a key, in pages, without the gate."""

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
"""Rows, of all keys, that one page reads: a second or two, however many are held."""


@dataclass(frozen=True, slots=True)
class HeldEvent:
    """A held event, as it was sent."""

    partition: int
    offset: int
    """The event's offset in `<flow>.events`."""
    timestamp: int
    value: bytes | None
    headers: tuple[Header, ...]


@dataclass(frozen=True, slots=True)
class HeldPosition:
    """A position in `<flow>.held`: a partition and an offset in it.

    >>> HeldPosition.parse("2:1017")
    HeldPosition(partition=2, held_offset=1017)
    """

    partition: int
    held_offset: int

    @classmethod
    def parse(cls, text: str) -> "HeldPosition":
        """Parses a position that was written as `<partition>:<offset>`."""
        partition, _, offset = text.partition(":")
        if not (_is_number(partition) and _is_number(offset)):
            raise InvalidArgumentError(
                f"{text!r} is not a position in held: take the one that the page before gives, "
                "for example 0:17."
            )
        return cls(int(partition), int(offset))

    def __str__(self) -> str:
        return f"{self.partition}:{self.held_offset}"


@dataclass(frozen=True, slots=True)
class HeldPage:
    """Events in the order of their release, and the start of the next page, if there may be one."""

    events: tuple[HeldEvent, ...]
    following: HeldPosition | None


def read_held(
    connection: Connection,
    names: FlowNames,
    entries: tuple[tuple[int, Entry], ...],
    *,
    start: HeldPosition | None = None,
    limit: int = 100,
    look_at: int = MOST_LOOKED_AT,
) -> HeldPage:
    """Up to `limit` held events of a key with these entries (`KeyStatus.entries`).

    Events that are released during the call may still be returned; events that were released
    before the status was read are not. A page ends early, even empty, after `look_at` rows.
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
                    return HeldPage(tuple(events), HeldPosition(partition, message.offset() or 0))
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
    """The remaining rows of held, from `first` on."""
    held = Partition(names.held, partition)
    offsets = Offsets(connection)
    end = offsets.ends([held])[held]
    while True:
        # Rows below the log's start were trimmed: no key needs them.
        first = max(first, offsets.starts([held])[held])
        try:
            for messages in reader.read(held, first, end):
                for message in messages:
                    yield message
                    first = (message.offset() or 0) + 1
        except EventsLostError:
            continue  # trimmed during this read
        return


def _event(partition: int, entry: Entry, message: Message) -> HeldEvent | None:
    """The event of this row; None if it is of another key, or was released."""
    if message.key() != entry.key:
        return None
    headers = headers_of(message)
    source = source_of(headers)
    if source is None:
        raise InvalidRecordError(
            f"Offset {message.offset()} of {message.topic()} does not name its event. "
            "Something other than the gate has written to this topic."
        )
    if source[1] <= entry.drained_through:
        return None
    own = tuple(headers[:-1])  # the last is the coordinate, which the gate has added
    return HeldEvent(partition, source[1], message.timestamp()[1], message.value(), own)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
