"""One step, from what the gate knows to a committed transaction. Driver, tasks and keeper run the
same functions here; they differ only in where the events come from and whose producer writes.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from confluent_kafka import TopicPartition

from holdfast.errors import GateStoppedError, RecordTooLargeError
from holdfast.flows.names import FlowNames
from holdfast.flows.status import encode_offset_metadata
from holdfast.gate import Asked, Backlog, Drained, Moment, PartitionState, Result, Step, Verdict
from holdfast.pipeline import faults
from holdfast.pipeline.events import Events
from holdfast.pipeline.held_rows import Held
from holdfast.pipeline.transactions import Pair
from holdfast.pipeline.writer import RecordRefusedError

STEP_ROWS = 50_000
STEP_BYTES = 64 * 1024**2
"""A step is one transaction: memory, and what a crash repeats, are bounded by these."""


class Counts(NamedTuple):
    """What became of events in committed steps."""

    taken: int = 0
    passed: int = 0
    held: int = 0
    dead: int = 0
    drained: int = 0
    """Rows that left held for processed."""
    foreign: int = 0
    """Events held in a partition that murmur2 does not give their key."""

    def plus(self, other: "Counts") -> "Counts":
        return Counts(*map(int.__add__, self, other))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A step that is decided, and not written yet."""

    partition: int
    result: Result
    events: Events = field(default_factory=Events)
    verdicts: bytearray = field(default_factory=bytearray)
    """Where each event goes, as a `Verdict` a byte; that of an invalid one means nothing."""
    drained: Sequence[Drained[Held]] = ()

    def sources_of(
        self, records: Collection[tuple[bytes | None, bytes | None]]
    ) -> Iterator[tuple[int, int]]:
        """Partition and offset of each event here that has such a key and value, and is not among
        the dead letters for its size already. (librdkafka tells no more of a refused record.)"""
        events = self.events
        for index, pair in enumerate(zip(events.keys, events.values, strict=True)):
            if pair in records and index not in events.flaws:
                yield self.partition, events.offsets[index]
        for each in self.drained:
            if (each.key, each.row.payload.value) in records:
                yield self.partition, each.row.source

    def counts(self) -> Counts:
        flawed = self.events.flaws
        held = self.verdicts.count(Verdict.HOLD)
        dead = self.verdicts.count(Verdict.DEAD) + len(flawed)
        drained = sum(each.verdict is Verdict.PASS for each in self.drained)
        return Counts(
            taken=len(self.events),
            passed=len(self.events) - held - dead,
            held=held,
            dead=dead + len(self.drained) - drained,
            drained=drained,
            foreign=sum(self.result.foreign.values()),
        )


Prepare = Callable[[Collection[tuple[int, int]]], Sequence[Prepared]]
"""Decides steps; the argument is the events that are too large, by partition and offset."""


def decide_events(
    state: PartitionState,
    moment: Moment,
    commands: Sequence[Asked],
    *,
    held_end: int,
    end: int,
    events: Events,
) -> Prepared:
    """A step that takes the events up to `end`."""
    step = Step(state, moment, commands, held_end=held_end, end=end)
    verdicts = bytearray(len(events))
    shown = events.interesting
    decided = step.decide(*events.at(shown))
    for index, verdict in zip(shown, decided, strict=True):
        verdicts[index] = verdict
    return Prepared(state.partition, step.finish(), events, verdicts)


def decide_upkeep(
    state: PartitionState,
    moment: Moment,
    commands: Sequence[Asked],
    *,
    held_end: int,
    backlog: Backlog[Held] | None = None,
    rows: int = STEP_ROWS,
    size: int = STEP_BYTES,
    publish: int = 0,
    trim: bool = False,
    accept_loss_until: int | None = None,
) -> Prepared:
    """A step without events: commands, time, and what leaves held."""
    step = Step(state, moment, commands, held_end=held_end)
    if accept_loss_until is not None:
        step.accept_loss(accept_loss_until)
    drained = step.drain(backlog, rows=rows, size=size) if backlog is not None else []
    return Prepared(state.partition, step.finish(publish=publish, trim=trim), drained=drained)


P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)
P_co = TypeVar("P_co", covariant=True)


class StepTransactions(Protocol[P_co]):
    """Transactions of one id, one at a time; after any error, `renew`."""

    def renew(self, *, one_by_one: bool = False) -> None: ...
    def begin(self) -> P_co: ...
    def commit(self, offsets: Sequence[TopicPartition], group_metadata: bytes) -> None: ...
    def refused(self) -> set[Pair]: ...
    def close(self) -> None: ...


class StepWriter(Protocol[P_contra]):
    """Writes steps into the transaction that is open."""

    def begin(self, producer: P_contra, /) -> None: ...
    def write_events(self, partition: int, events: Events, verdicts: bytearray) -> None: ...
    def write_drained(
        self,
        partition: int,
        drained: Sequence[Drained[Held]],
        too_large: Collection[tuple[int, int]],
    ) -> None: ...
    def write_result(self, partition: int, result: Result) -> None: ...


class Committer:
    """Writes steps in transactions of one id."""

    def __init__(
        self, names: FlowNames, transactions: StepTransactions[P], writer: StepWriter[P]
    ) -> None:
        self.transactions: StepTransactions[Any] = transactions
        self._names = names
        self._writer: StepWriter[Any] = writer
        self._too_large: set[tuple[int, int]] = set()
        """Events that were refused for their size, each alone, by partition and offset."""

    def commit(self, prepare: Prepare, group_metadata: bytes) -> Sequence[Prepared]:
        """Decide, write and commit steps, of one partition each, in one transaction. -> the steps

        If this raises, only a look at the committed offsets, after `transactions.renew`, can tell
        what came of it. Records that are too large are the exception: nothing was committed then,
        and the steps are decided anew with these among the dead letters.
        """
        while True:
            prepared = prepare(self._too_large)
            if not prepared:
                return prepared
            try:
                self._write(prepared, group_metadata)
            except RecordTooLargeError as error:
                if self._commit_one_by_one(prepared, group_metadata, error):
                    return prepared
            else:
                return prepared

    def _write(self, prepared: Sequence[Prepared], group_metadata: bytes) -> None:
        faults.reach("before-begin")
        writer = self._writer
        writer.begin(self.transactions.begin())
        for each in prepared:
            writer.write_events(each.partition, each.events, each.verdicts)
            writer.write_drained(each.partition, each.drained, self._too_large)
            writer.write_result(each.partition, each.result)
        offsets = [
            TopicPartition(
                self._names.events,
                each.partition,
                each.result.position.offset,
                encode_offset_metadata(each.result.position),
            )
            for each in prepared
        ]
        self.transactions.commit(offsets, group_metadata)

    def _commit_one_by_one(
        self, prepared: Sequence[Prepared], group_metadata: bytes, error: RecordTooLargeError
    ) -> bool:
        """A topic's limit is on batches: only what is refused alone is too large. -> committed?"""
        found: set[tuple[int, int]] = set()
        if isinstance(error, RecordRefusedError):
            found = {error.source} if error.source is not None else found
        else:
            self.transactions.renew(one_by_one=True)
            try:
                self._write(prepared, group_metadata)
            except RecordTooLargeError:
                refused = self.transactions.refused()
                found = {source for each in prepared for source in each.sources_of(refused)}
            else:
                self.transactions.renew()
                return True
        if not found:
            raise GateStoppedError(
                "The gate has stopped: the broker refuses one of its own records for its size. "
                "Raise max.message.bytes of the flow's journal, status and dlq."
            ) from error
        self._too_large |= found
        self.transactions.renew()
        return False
