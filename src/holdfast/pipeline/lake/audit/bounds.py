"""How far each log is looked at, so that a flow can be verified while it runs.

First the committed positions are read, then the ends of the logs. A step is one transaction, so all
that was decided about an event below a committed offset lies below those ends. What comes later may
be there in part: the journal of a step is *obeyed* (something must have come out) only up to the
committed step, but *believed* (something may have come out) to its end, which is read last.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic, sleep

from confluent_kafka import Consumer

from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import headers_of, source_of
from holdfast.client.topics import Topics
from holdfast.errors import ConflictError, TimedOutError
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Position
from holdfast.pipeline.owner import committed_positions

_PATIENCE_S = 150.0
"""A transaction that nobody ends is aborted by the broker after two minutes at most."""
_COMMITTED_S = 30.0
_NOWHERE = 2**62


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of each partition of a topic: the first offset, and the one after the last."""

    starts: Mapping[int, int]
    ends: Mapping[int, int]

    def after(self, border: Mapping[int, int]) -> "Stretch":
        """What of it comes after a border."""
        starts = {p: min(max(s, border.get(p, 0)), self.ends[p]) for p, s in self.starts.items()}
        return Stretch(starts, self.ends)

    @property
    def length(self) -> int:
        return sum(self.ends[p] - start for p, start in self.starts.items())


@dataclass(frozen=True, slots=True)
class Bounds:
    """The logs of one flow at one moment."""

    positions: Mapping[int, Position]
    """What was committed, by partition."""
    events: Stretch
    control: Stretch
    journal: Stretch
    status: Stretch
    held: Stretch
    processed: Stretch
    dlq: Stretch
    held_since: Mapping[int, int]
    """Below this source offset rows of held may have been let go."""
    settled: Mapping[str, Mapping[int, int]]
    """By topic and partition, the offset below which held, processed and dlq have only what was
    committed before the positions were read: all of it is of events that were taken."""

    @property
    def records(self) -> int:
        """How many there are in all logs, at most."""
        logs = (
            self.events, self.control, self.journal, self.status, self.held, self.processed,
            self.dlq,
        )  # fmt: skip
        return sum(log.length for log in logs)

    @property
    def taken(self) -> dict[int, int]:
        """The first source offset of each partition that the gate has not taken yet."""
        return {p: position.offset for p, position in self.positions.items()}


def fix_bounds(connection: Connection, names: FlowNames, partitions: int) -> Bounds:
    """The bounds as of now. Waits until all below them can be read.

    ConflictError if the gate has never run.
    """
    outputs = {names.held: partitions, names.dlq: partitions}
    outputs[names.processed] = Topics(connection).describe(names.processed).partitions
    settled: dict[str, dict[int, int]] = {topic: {} for topic in outputs}
    for place, end in Offsets(connection).ends(_places(outputs)).items():
        settled[place.topic][place.number] = end
    positions = _positions(connection, names, partitions)
    outputs[names.status] = partitions
    inputs = {names.control: 1, names.events: partitions}
    starts = Offsets(connection).starts(_places({**outputs, names.journal: partitions, **inputs}))
    ends = _high_watermarks(connection, outputs)
    ends |= _high_watermarks(connection, {names.journal: partitions})
    ends |= _high_watermarks(connection, inputs)
    _wait_until_readable(connection, {p: end for p, end in ends.items() if p.topic != names.events})

    def stretch(topic: str) -> Stretch:
        mine = [place for place in ends if place.topic == topic]
        return Stretch(
            {p.number: min(starts[p], ends[p]) for p in mine}, {p.number: ends[p] for p in mine}
        )

    held = stretch(names.held)
    return Bounds(
        positions=positions,
        events=stretch(names.events),
        control=stretch(names.control),
        journal=stretch(names.journal),
        status=stretch(names.status),
        held=held,
        processed=stretch(names.processed),
        dlq=stretch(names.dlq),
        held_since=_held_since(connection, names.held, held),
        settled=settled,
    )


def has_moved(connection: Connection, names: FlowNames, bounds: Bounds) -> bool:
    """Whether a log has let go of records that lay within the bounds when they were fixed."""
    logs = {names.events: bounds.events, names.held: bounds.held}
    places = _places({topic: len(log.starts) for topic, log in logs.items()})
    starts = Offsets(connection).starts(places)
    return any(start > logs[p.topic].starts[p.number] for p, start in starts.items())


def _positions(connection: Connection, names: FlowNames, partitions: int) -> dict[int, Position]:
    settings = {
        "group.id": names.group,
        "enable.auto.commit": False,
        "isolation.level": "read_committed",  # waits for offsets of transactions about to end
    }
    consumer = connection.make(Consumer, settings)
    try:
        places = {Partition(names.events, p) for p in range(partitions)}
        found = committed_positions(consumer, places, _COMMITTED_S)
    finally:
        consumer.close()
    missing = sorted(p for p, position in found.items() if position is None)
    if missing:
        raise ConflictError(
            f"The gate of {names.flow} has never taken a step in partition {missing[0]}: there is "
            "nothing to verify. Is a pipeline running?"
        )
    return {p: position for p, position in found.items() if position is not None}


def _places(topics: Mapping[str, int]) -> list[Partition]:
    return [Partition(topic, number) for topic, count in topics.items() for number in range(count)]


def _high_watermarks(connection: Connection, topics: Mapping[str, int]) -> dict[Partition, int]:
    """Not the last stable offsets: of a transaction that has just been committed, one log may say
    so a moment before another does."""
    return Offsets(connection, committed_only=False).ends(_places(topics))


def _wait_until_readable(connection: Connection, ends: Mapping[Partition, int]) -> None:
    offsets, waiting = Offsets(connection), dict(ends)
    deadline = monotonic() + _PATIENCE_S
    while True:
        stable = offsets.ends(waiting)
        waiting = {place: end for place, end in waiting.items() if stable[place] < end}
        if not waiting:
            return
        if monotonic() > deadline:
            place, end = next(iter(waiting.items()))
            raise TimedOutError(
                f"{place} cannot be read up to {end} yet, but only up to {stable[place]}: a "
                "transaction is open there. Try again in a few minutes."
            )
        sleep(0.05)


def _held_since(connection: Connection, topic: str, held: Stretch) -> dict[int, int]:
    """The source of the first row that held still has. Rows lie there in the order of their
    source, so what was let go lies below it."""
    since: dict[int, int] = {}
    reader = LogReader(connection, isolation="read_committed")
    try:
        for partition, start in held.starts.items():
            since[partition] = 0
            if start:
                place = Partition(topic, partition)
                since[partition] = _first_source(reader, place, start, held.ends[partition])
    finally:
        reader.close()
    return since


def _first_source(reader: LogReader, place: Partition, start: int, end: int) -> int:
    for messages in reader.read(place, start, end):
        source = source_of(headers_of(messages[0]))
        if source is not None:
            return source[1]
    return _NOWHERE
