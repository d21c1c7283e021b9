"""The dead letters of a flow: reads them, selects them, and knows which were redriven before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Message

from holdfast.client.connection import Connection
from holdfast.client.dead_letters import (
    ATTEMPT,
    SOURCE_TOPIC,
    message_pattern,
    reason_of,
    split_headers,
)
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import SOURCE, Header, headers_of
from holdfast.errors import InvalidArgumentError
from holdfast.flows.redriven import REDRIVEN_TOPIC, Mark, decode_mark
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import Coordinate, Redrive
from holdfast.pipeline.runs.slices import ORIGINAL_TIME

REDRIVE_RUN = "holdfast-redrive-run"
REDRIVE_SOURCE = "holdfast-redrive-source"
"""Headers of a redriven event: the run, and the coordinate of its dead letter. The attempt follows,
and then, if the topic would not keep the event's original time, that time."""

_REDRIVEN = (REDRIVE_RUN, REDRIVE_SOURCE, ATTEMPT)


@dataclass(frozen=True, slots=True)
class Letter:
    coordinate: Coordinate
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Sequence[Header]

    @classmethod
    def of(cls, message: Message) -> "Letter":
        _, timestamp = message.timestamp()
        coordinate = Coordinate(message.partition() or 0, message.offset() or 0)
        return cls(coordinate, message.key(), message.value(), timestamp, headers_of(message))

    @property
    def reason(self) -> str:
        return reason_of(self.headers).kind

    @property
    def message(self) -> str:
        """As groups of dead letters name it."""
        return message_pattern(reason_of(self.headers).message)

    def attempt(self, marks: Mapping[Coordinate, Mark]) -> int:
        """The number of the attempt that failed: 1 unless it was redriven before."""
        own, appended = split_headers(self.headers)
        by_worker = _text(dict(appended).get(ATTEMPT))
        if by_worker.isascii() and by_worker.isdigit():
            return int(by_worker)
        mark = _mark_on(own, marks)
        return 1 if mark is None else mark.attempt

    def own_headers(self, marks: Mapping[Coordinate, Mark]) -> list[Header]:
        """The headers that the event was first sent with. `marks`: the redriven letters, which
        distinguish headers of an earlier redrive from forged ones."""
        own, appended = split_headers(self.headers)
        topic = _text(dict(appended).get(SOURCE_TOPIC))
        if topic.endswith(".processed") and own and own[-1][0] == SOURCE:
            own = own[:-1]  # a worker read it after the gate
        if _mark_on(own, marks) is not None:
            own = own[: -len(_REDRIVEN) - (own[-1][0] == ORIGINAL_TIME)]
        return own


def _mark_on(headers: Sequence[Header], marks: Mapping[Coordinate, Mark]) -> Mark | None:
    """The mark of the redrive that the last headers name; None if they name none, or if the mark
    does not match them."""
    if headers and headers[-1][0] == ORIGINAL_TIME:
        headers = headers[:-1]
    last = headers[-len(_REDRIVEN) :]
    if tuple(name for name, _ in last) != _REDRIVEN:
        return None
    run, letter, attempt = (_text(value) for _, value in last)
    try:
        mark = marks.get(Coordinate.parse(letter))
    except InvalidArgumentError:
        return None
    return mark if mark and (mark.run, str(mark.attempt)) == (run, attempt) else None


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def matches(letter: Letter, work: Redrive) -> bool:
    """Returns True if the letter matches all filters of the redrive."""
    return (
        (not work.letters or letter.coordinate in work.letters)
        and (not work.reason or letter.reason == work.reason)
        and (not work.message or letter.message == work.message)
        and (not work.keys or letter.key in work.keys)
    )


def read_letters(
    connection: Connection, topic: str, ranges: Mapping[int, tuple[int, int]]
) -> Iterator[Letter]:
    """The dead letters in these ranges, partition by partition."""
    reader = LogReader(connection, isolation="read_committed")
    try:
        for partition, (start, end) in sorted(ranges.items()):
            for messages in reader.read(Partition(topic, partition), start, end):
                for message in messages:
                    yield Letter.of(message)
    finally:
        reader.close()


def read_marks(connection: Connection, flow: FlowDefinition) -> dict[Coordinate, Mark]:
    """The marks of all redriven letters of the flow that were committed before this call."""
    partition = Partition(REDRIVEN_TOPIC, 0)
    offsets = Offsets(connection, committed_only=False)
    start, end = offsets.starts([partition])[partition], offsets.ends([partition])[partition]
    marks = {}
    reader = LogReader(connection, isolation="read_committed")
    try:
        for messages in reader.read(partition, start, end):
            for message in messages:
                mark = decode_mark(flow, message.key(), message.value())
                if mark is not None:
                    marks[mark.letter] = mark
    finally:
        reader.close()
    return marks
