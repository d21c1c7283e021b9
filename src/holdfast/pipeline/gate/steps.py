"""One step, from its decision to a committed transaction.

Driver, tasks and keeper share these functions. They differ in where the events come from and in
whose producer writes.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from confluent_kafka import TopicPartition

from holdfast import faults
from holdfast.errors import (
    GateStoppedError,
    HoldfastError,
    RecordTooLargeError,
    StaleStateError,
    TransientError,
)
from holdfast.flows.names import FlowNames
from holdfast.flows.status import encode_offset_metadata
from holdfast.gate import (
    Backlog,
    ControlEntry,
    Drained,
    PartitionState,
    Result,
    Step,
    StepContext,
    Unreadable,
    Verdict,
)
from holdfast.kafka.errors import Refused
from holdfast.pipeline.gate.events import Events
from holdfast.pipeline.gate.held_rows import Held
from holdfast.pipeline.gate.sizes import OutputLimits, SizeLimits
from holdfast.pipeline.spark.tasks import STEP_BYTES, STEP_ROWS


class LimitsChangedError(TransientError):
    """A topic takes larger or smaller records than the steps were decided for. Nothing was
    committed. The new limits are known: decide again."""


class Counts(NamedTuple):
    """Events of committed steps, by where they went."""

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
class DecidedStep:
    """A step of one partition that is decided and not written yet."""

    partition: int
    result: Result
    events: Events = field(default_factory=Events)
    verdicts: bytearray = field(default_factory=bytearray)
    """Where each event goes, as a `Verdict` a byte; that of an invalid one means nothing."""
    drained: Sequence[Drained[Held]] = ()
    oversized: Collection[int] = frozenset()
    """Source offsets of the drained rows that are too large for processed: dead letters."""

    @property
    def has_oversized(self) -> bool:
        return bool(self.oversized) or self.events.has_oversized

    def larger_than(self, limit: int) -> Iterator[tuple[bytes | None, bytes | None, int]]:
        """Key, value and size of each record of an event that is larger."""
        events = self.events
        for index, size in events.larger_than(limit, self.partition):
            yield events.keys[index], events.values[index], size
        for each in self.drained:
            if each.row.weight > limit:
                payload = each.row.payload
                yield each.key, payload.value, payload.wire_size(each.key)

    def counts(self) -> Counts:
        flawed = self.events.flaws
        held = self.verdicts.count(Verdict.HOLD)
        dead = self.verdicts.count(Verdict.DEAD) + len(flawed)
        drained = sum(each.verdict is Verdict.PASS for each in self.drained) - len(self.oversized)
        return Counts(
            taken=len(self.events),
            passed=len(self.events) - held - dead,
            held=held,
            dead=dead + len(self.drained) - drained,
            drained=drained,
            foreign=sum(self.result.foreign.values()),
        )


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The work of a step without events, beside commands and expiries."""

    backlog: Backlog[Held] | None = None
    """Held rows of the partition, to drain up to `rows` of them and up to `size` bytes."""
    rows: int = STEP_ROWS
    size: int = STEP_BYTES
    publish: int = 0
    """How many entries whose counts alone have changed are written to status."""
    trim: bool = False
    lost_until: int | None = None
    """The log begins here, behind the position: the loss in between is accepted."""
    epoch: int | None = None
    """The epoch of a new leader of the partition."""
    cut_back_to: int | None = None
    """The new leader's log ends here, before the position: the loss is accepted."""
    unreadable: Unreadable | None = None
    """The batch at the position, if it cannot be read and a command asks to skip it."""


def decide_events(
    state: PartitionState,
    context: StepContext,
    commands: Sequence[ControlEntry],
    *,
    held_end: int,
    end: int,
    events: Events,
    limits: OutputLimits,
) -> DecidedStep:
    """Decides a step that takes the events up to `end`. Events that are too large for their topic
    become dead letters."""
    all_large = events.larger_than(limits.lowest, state.partition)
    while True:
        large = [(i, size) for i, size in all_large if i not in events.flaws]
        step = Step(state, context, commands, held_end=held_end, end=end)
        verdicts = bytearray(len(events))
        shown = events.interesting
        decided = step.decide(*events.at(shown))
        for index, verdict in zip(shown, decided, strict=True):
            verdicts[index] = verdict
        refused = [i for i, size in large if limits.refuses(verdicts[i], size)]
        if not refused:
            left_out = [
                events.offsets[i]
                for i, size in all_large
                if events.is_oversized(i)
                or ((i in events.flaws or verdicts[i] == Verdict.DEAD) and limits.shortens(size))
            ]
            _note_oversized(step, left_out, limits)
            return DecidedStep(state.partition, step.finish(), events, verdicts)
        # Without these there may be room in held for others: decide again.
        events = events.without(refused)


def decide_upkeep(
    state: PartitionState,
    context: StepContext,
    commands: Sequence[ControlEntry],
    upkeep: Upkeep,
    *,
    held_end: int,
    limits: OutputLimits,
) -> DecidedStep:
    """Decides a step without events: commands, time, and rows that leave held."""
    step = Step(state, context, commands, held_end=held_end, unreadable=upkeep.unreadable)
    if upkeep.epoch is not None:
        step.follow_epoch(upkeep.epoch, upkeep.cut_back_to)
    if upkeep.lost_until is not None:
        step.accept_loss(upkeep.lost_until)
    drained: Sequence[Drained[Held]] = ()
    if upkeep.backlog is not None:
        drained = step.drain(upkeep.backlog, rows=upkeep.rows, size=upkeep.size)
    oversized = {
        each.row.source
        for each in drained
        if each.row.weight > limits.processed
        and limits.refuses(each.verdict, each.row.payload.wire_size(each.key))
    }
    shortened = {
        each.row.source
        for each in drained
        if each.verdict is Verdict.DEAD and limits.shortens(each.row.weight)
    }
    _note_oversized(step, oversized | shortened, limits)
    result = step.finish(publish=upkeep.publish, trim=upkeep.trim)
    return DecidedStep(state.partition, result, drained=drained, oversized=oversized)


def _note_oversized(step: Step, sources: Collection[int], limits: OutputLimits) -> None:
    if sources:
        step.note_oversized(sources, min(limits))


class StepTransactions(Protocol):
    """Transactions of one transactional id, one at a time. After any error, `renew`."""

    batch_bytes: int
    """Bytes of records in a batch; another value is used from the next `renew` on."""

    def renew(self) -> None: ...
    def commit(self, offsets: Sequence[TopicPartition], group_metadata: bytes) -> None: ...
    def refused(self) -> set[Refused]: ...
    def close(self) -> None: ...


class StepWriter(Protocol):
    """Writes steps into one open transaction."""

    def write(self, step: DecidedStep) -> None: ...


OpenWriter = Callable[[int], StepWriter]
"""Begins a transaction and returns its writer. Takes the size limit of the dead letters' topic."""


class Committer:
    """Writes steps in transactions of one transactional id."""

    def __init__(
        self,
        names: FlowNames,
        transactions: StepTransactions,
        open_writer: OpenWriter,
        limits: SizeLimits,
    ) -> None:
        self.transactions = transactions
        self._names = names
        self._open_writer = open_writer
        self._limits = limits

    @property
    def output_limits(self) -> OutputLimits:
        """The limits to decide steps by."""
        return self._limits.outputs(self._names)

    def renew(self) -> None:
        """Begin again with a new producer, whose batches fit the limits."""
        self.transactions.batch_bytes = self._limits.batch_bytes
        self.transactions.renew()

    def commit(self, steps: Sequence[DecidedStep], group_metadata: bytes) -> None:
        """Write and commit the steps, of one partition each, in one transaction.

        LimitsChangedError: nothing was committed, decide again. After any other error only the
        committed offsets, read after `renew`, show if the transaction was committed.
        """
        # Before an event becomes a dead letter for its size, the limits are read again: they may
        # have been raised.
        if any(step.has_oversized for step in steps) and self._limits.refresh():
            raise LimitsChangedError("The size limits of the flow's topics have changed.")
        if self.transactions.batch_bytes > self._limits.batch_bytes:
            self.renew()
        try:
            self._write(steps, group_metadata)
        except (RecordTooLargeError, StaleStateError) as error:
            # After a refusal librdkafka takes no more records, and reports StaleStateError only.
            refused = self.transactions.refused()
            if not refused and not isinstance(error, RecordTooLargeError):
                raise
            self._learn(steps, refused, error)
            raise LimitsChangedError(f"Records were too large: {error}") from error

    def _write(self, steps: Sequence[DecidedStep], group_metadata: bytes) -> None:
        faults.reach("before-begin")
        writer = self._open_writer(self._limits.of(self._names.dlq))
        for step in steps:
            writer.write(step)
        offsets = [
            TopicPartition(
                self._names.events,
                step.partition,
                step.result.position.offset,
                encode_offset_metadata(step.result.position),
                # An unknown epoch is left out.
                step.result.position.epoch if step.result.position.epoch >= 0 else None,
            )
            for step in steps
        ]
        self.transactions.commit(offsets, group_metadata)

    def _learn(
        self, steps: Sequence[DecidedStep], refused: Collection[Refused], error: HoldfastError
    ) -> None:
        """Find the limits by what was refused, and begin again with a new producer."""
        self.renew()
        large = (each for step in steps for each in step.larger_than(self._limits.batch_bytes))
        if not self._limits.adapt(refused, large):
            topics = " and ".join(sorted({topic for topic, _, _ in refused}))
            raise GateStoppedError(
                f"The gate has stopped: the broker refuses one of its own records for {topics} "
                f"because of its size. Raise max.message.bytes of {topics}."
            ) from error
