"""Dead letters of a flow: which there are, which are meant, and which were redriven before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Message

from holdfast.client.connection import Connection
from holdfast.client.dead_letters import ATTEMPT, ERROR, MESSAGE, SOURCE_TOPIC, TIME
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import SOURCE, Header, headers_of
from holdfast.flows.redriven import REDRIVEN_TOPIC, Mark, decode_mark
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.work import Coordinate, Redrive

REDRIVE_RUN = "holdfast-redrive-run"
REDRIVE_SOURCE = "holdfast-redrive-source"
"""Headers of a redriven event: which run, and where its dead letter stands."""

_ADDED = {SOURCE, SOURCE_TOPIC, ERROR, MESSAGE, ATTEMPT, TIME, REDRIVE_RUN, REDRIVE_SOURCE}
"""Headers that were added on the way to the dead letters, or by an earlier redrive."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter."""

    place: Coordinate
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Sequence[Header]

    @classmethod
    def of(cls, message: Message) -> "Letter":
        _, timestamp = message.timestamp()
        place = Coordinate(message.partition() or 0, message.offset() or 0)
        return cls(place, message.key(), message.value(), timestamp, headers_of(message))

    @property
    def reason(self) -> str:
        return self._last(ERROR) or ""

    @property
    def attempt(self) -> int:
        """Which attempt at the event has failed: 1 unless it was redriven before."""
        text = self._last(ATTEMPT) or ""
        return int(text) if text.isascii() and text.isdigit() else 1

    def own_headers(self) -> list[Header]:
        """The event's, without those that were added on its way here: of each name the last, for
        it may have brought one from another flow."""
        last = {name: index for index, (name, _) in enumerate(self.headers) if name in _ADDED}
        added = set(last.values())
        return [each for index, each in enumerate(self.headers) if index not in added]

    def _last(self, name: str) -> str | None:
        for found, value in reversed(self.headers):
            if found == name and isinstance(value, bytes):
                return value.decode(errors="replace")
        return None


def is_meant(letter: Letter, work: Redrive) -> bool:
    """Whether all that was said of the letters holds of this one."""
    return (
        (not work.letters or letter.place in work.letters)
        and (not work.reason or letter.reason == work.reason)
        and (not work.keys or letter.key in work.keys)
    )


def read_letters(
    connection: Connection, topic: str, ranges: Mapping[int, tuple[int, int]]
) -> Iterator[Letter]:
    """The dead letters from and up to these offsets, partition after partition."""
    reader = LogReader(connection, isolation="read_committed")
    try:
        for partition, (start, end) in sorted(ranges.items()):
            for messages in reader.read(Partition(topic, partition), start, end):
                for message in messages:
                    yield Letter.of(message)
    finally:
        reader.close()


def read_marks(connection: Connection, flow: FlowDefinition) -> dict[Coordinate, Mark]:
    """Which letters of the flow were redriven, to the very end of the topic: nothing that was
    committed before this call is missing."""
    place = Partition(REDRIVEN_TOPIC, 0)
    offsets = Offsets(connection, committed_only=False)
    start, end = offsets.starts([place])[place], offsets.ends([place])[place]
    marks = {}
    reader = LogReader(connection, isolation="read_committed")
    try:
        for messages in reader.read(place, start, end):
            for message in messages:
                mark = decode_mark(flow, message.key(), message.value())
                if mark is not None:
                    marks[mark.letter] = mark
    finally:
        reader.close()
    return marks
