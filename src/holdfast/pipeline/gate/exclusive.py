"""State and operations of a flow that need its lock: deciding and committing steps."""

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from time import monotonic
from typing import Protocol

from holdfast.client.connection import Connection
from holdfast.client.loading import Loader
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import HoldfastError, UnavailableError
from holdfast.flows.commands import Skip
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import Position
from holdfast.gate import (
    ControlEntry,
    FlowHolds,
    FlowPausedError,
    GateSettings,
    KeysOfInterest,
    Now,
    PartitionState,
    StepContext,
    Unreadable,
    cut_back,
    flow_is_over,
    is_current,
    is_paused,
)
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.errors import MembershipLostError
from holdfast.kafka.fetch import unreadable_at
from holdfast.kafka.producer import TransactionalProducer
from holdfast.kafka.transactions import Transactions
from holdfast.kafka.watch import LogWatch
from holdfast.pipeline.gate.control_log import ControlTail
from holdfast.pipeline.gate.events import Events
from holdfast.pipeline.gate.owner import Owner
from holdfast.pipeline.gate.sizes import MOST_ATTEMPTS, SizeLimits, limits_keep_changing
from holdfast.pipeline.gate.steps import (
    Committer,
    Counts,
    DecidedStep,
    LimitsChangedError,
    Upkeep,
    decide_events,
    decide_upkeep,
)
from holdfast.pipeline.gate.topic_guard import TopicGuard
from holdfast.pipeline.gate.writer import Writer
from holdfast.pipeline.parts.ticket import End

log = logging.getLogger(__name__)

_INITIALISED_AT_ONCE = 8


class Unlocked(Protocol):
    """The members of an ExclusiveFlow that any thread may use without the lock. Each value is
    immutable and replaced as a whole; the methods read brokers or such values."""

    @property
    def id(self) -> str: ...
    @property
    def settings(self) -> GateSettings: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def control_failure(self) -> HoldfastError | None: ...
    @property
    def control_reached(self) -> int: ...
    def positions(self) -> list[Position]: ...
    def read_held_ends(self) -> list[int]: ...
    def check_topics(self) -> None: ...


class ExclusiveFlow:
    """One flow, for the thread that holds the flow's lock. `FlowGate` hands it out.

    A step of some partitions: `begin_step`, decide (`decide_events`, `decide_upkeep`), `commit`.
    """

    def __init__(
        self,
        connection: Connection,
        flow: FlowDefinition,
        clock: Callable[[], Now],
        news: Callable[[], None],
        committed: Callable[[], None],
        end: End,
        commands: LogWatch,
    ) -> None:
        """`news` is called when there are new commands, `committed` after steps that changed an
        entry or held events, and `end` when this process must end. `commands`: the log watch of
        control logs."""
        self.id = str(uuid.uuid4())
        """The name under which this process commits."""
        self.partitions = flow.partitions
        self.names = flow.names
        self.settings = GateSettings.of(flow)
        self.guard = TopicGuard(connection, flow)
        self.owner = Owner(connection, flow.names, flow.partitions, self.guard.check, end=end)
        self.tail = ControlTail(connection, flow.names, flow.partitions, news, commands)
        self.states: list[PartitionState] = []
        self.holds = FlowHolds()
        self.held_ends = [0] * flow.partitions
        """Ends of held as last read. An older end is safe, a later one than true is not."""
        self.counts = Counts()
        """Counts of all steps that this process has committed."""
        self.committed_at = monotonic()
        """When all partitions were last committed together."""
        self.initialisations = 0
        """How often the transactional ids of all tasks were initialised. Each time fences every
        producer that a worker keeps."""
        self._connection = connection
        self._committed = committed
        self._start_at = flow.start
        self._clock = clock
        self._offsets = Offsets(connection, committed_only=False, known=True)
        self._loader = Loader(connection, flow.names)
        self._cluster = ClusterClient(connection.settings)
        self._limits = SizeLimits.of_flow(connection.settings, flow.names)
        driver = Transactions(connection, flow.names.driver_transactional_id)
        self.committer = Committer(
            flow.names,
            driver,
            lambda dlq_limit: Writer(
                flow.names, self.guard.processed_partitions, driver.begin(), dlq_limit
            ),
            self._limits,
        )
        self._state_is_stale = False
        self._tasks_unaccounted = False

    # from start to close

    def start(self, *, accept_loss: bool) -> None:
        """Become the owner, read everything, and commit a first step in this process's name."""
        self.guard.begin()
        self.owner.join()
        self.committer.renew()
        self._initialise_tasks()
        self._load(accept_loss)
        for _ in range(MOST_ATTEMPTS):
            with suppress(LimitsChangedError):
                self._commit_first_step(accept_loss)
                return
        raise limits_keep_changing()

    def close(self) -> None:
        self.tail.stop()
        self.owner.close()
        self.guard.close()
        self._loader.close()
        self._cluster.forget()
        self.committer.transactions.close()

    # one step

    def make_current(self) -> None:
        """Compare, then act: the committed offsets show what became of the last commit. States
        that differ from them are read again. Half a millisecond, before every step."""
        if self._tasks_unaccounted or self._state_is_stale:
            # A replaced process must end here: below it would fence the producer of its successor.
            self._compare(self.owner.committed_so_far())
        if self._tasks_unaccounted:
            self.owner.renew()
            self._initialise_tasks()
            self._tasks_unaccounted = False
            self._state_is_stale = True
        if self._state_is_stale:
            self.committer.renew()  # this aborts what the last producer left open
        for p, position in self._compare(self.owner.committed()).items():
            self.states[p] = self._loader.load(p, position, self._clock().monotonic)
        self._state_is_stale = False

    def begin_step(self, *, accept_loss: bool = False) -> StepContext:
        """Read the control log's end. Returns what all partitions share in a step that begins now.

        The topics are checked here, after the events were read: so the events came from the topics
        that the gate knows. A partition that has a new leader gets a step of its own first, unless
        that leader lacks events: GateStoppedError then.
        """
        self.owner.check()
        self.guard.check()
        end = self.tail.end()
        self.tail.read_through(end)
        now = self._clock()
        through = max(end, self.holds.through)
        self.holds.advance(self.tail.log, through, now.wall, self.states)
        over = flow_is_over(self.states, self.settings.limits)
        topics = self.guard.identity
        context = StepContext(
            self.id, self.partitions, self.holds, now, self.settings, over, topics
        )
        self._follow_leaders(context, accept_loss)
        return context

    def begin_batch(self) -> StepContext:
        """As `begin_step`, for steps with events. FlowPausedError if the flow takes none."""
        context = self.begin_step()
        if is_paused(self.states[0].pauses, self.commands(self.states[0])):
            raise FlowPausedError("The flow is paused: it takes no events.")
        return context

    def interest(self) -> KeysOfInterest:
        """The keys whose events need a decision in the next step."""
        lowest = min(state.position.control for state in self.states)
        commands = self.tail.log.between(lowest, self.holds.through)
        return KeysOfInterest(self.states, self.holds, commands)

    def commands(self, state: PartitionState) -> list[ControlEntry]:
        """The commands that the partition has yet to take."""
        return self.tail.log.between(state.position.control, self.holds.through)

    def to_skip(self, state: PartitionState) -> Unreadable | None:
        """The batch at the partition's position, if a command asks to skip it and it cannot be
        read. It is read again for that: only what cannot be read now may be left out."""
        at = state.position.offset
        if not any(
            isinstance(entry.command, Skip)
            and (entry.command.partition, entry.command.first) == (state.partition, at)
            for entry in self.commands(state)
        ):
            return None
        try:
            return unreadable_at(self._cluster, self.names.events, state.partition, at)
        except BaseException:
            self._cluster.forget()
            raise

    def decide_events(
        self, partition: int, context: StepContext, events: Events, end: int
    ) -> DecidedStep:
        """Decides a step of one partition that takes the events up to `end`."""
        state = self.states[partition]
        return decide_events(
            state,
            context,
            self.commands(state),
            held_end=self.held_ends[partition],
            end=end,
            events=events,
            limits=self.committer.output_limits,
        )

    def decide_upkeep(
        self, context: StepContext, upkeep: Mapping[int, Upkeep]
    ) -> list[DecidedStep]:
        """Decides a step without events for each of these partitions."""
        return [
            decide_upkeep(
                self.states[p],
                context,
                self.commands(self.states[p]),
                each,
                held_end=self.held_ends[p],
                limits=self.committer.output_limits,
            )
            for p, each in upkeep.items()
        ]

    def commit(self, steps: Sequence[DecidedStep]) -> None:
        """Commit the steps in one transaction of the driver, and apply their changes."""
        if not steps:
            return
        try:
            self.committer.commit(steps, self.owner.group_metadata())
            for step in steps:
                self.states[step.partition].apply(step.result.changes)
        except LimitsChangedError:
            raise  # nothing was committed
        except BaseException:
            self.mark_state_stale()
            raise
        counts = [step.counts() for step in steps]
        entries = any(step.result.journal or step.result.status for step in steps)
        self.count(counts, entries=entries or any(each.held for each in counts))
        if len(steps) == len(self.states):
            self.committed_at = monotonic()
        for step in steps:
            for key, events in step.result.foreign.items():
                log.warning(
                    "%d events of the held key %r came in partition %d, which murmur2 does not "
                    "give it: a producer uses another partitioner. They are held there.",
                    events, key, step.partition,
                )  # fmt: skip

    def count(self, counts: Iterable[Counts], *, entries: bool = True) -> None:
        """Count what committed steps did, and forget commands that all partitions have taken.
        `entries`: the steps may have changed entries or held events."""
        for each in counts:
            self.counts = self.counts.plus(each)
        self.tail.log.forget(min(state.position.control for state in self.states))
        if entries:
            self._committed()

    def mark_tasks_unaccounted(self) -> None:
        """A job did not return normally, so its tasks may still run: before anything else is done,
        everything that acts in this process's name is replaced."""
        self._tasks_unaccounted = True

    def mark_state_stale(self) -> None:
        """The state may not be that of the last commit: compare before acting."""
        self._state_is_stale = True

    def refresh_held_ends(self) -> None:
        """Read the ends of held."""
        self.raise_held_ends(self.read_held_ends())

    def read_held_ends(self) -> list[int]:
        """The ends of held now. This needs no lock."""
        held = [Partition(self.names.held, p) for p in range(self.partitions)]
        ends = self._offsets.ends(held)
        return [ends[p] for p in held]

    @property
    def control_failure(self) -> HoldfastError | None:
        """Why the control log is read no further, if its reader has ended by itself."""
        return self.tail.failure

    @property
    def control_reached(self) -> int:
        """The offset up to which the control log was read."""
        return self.tail.reached

    def positions(self) -> list[Position]:
        """The position of each partition, as of its last step."""
        return [state.position for state in self.states]

    def check_topics(self) -> None:
        """Raise GateStoppedError if the topics are not those that they were."""
        self.guard.check()

    def raise_held_ends(self, ends: Sequence[int]) -> None:
        """Ends never go back: a trim may have followed a later one."""
        self.held_ends = list(map(max, self.held_ends, ends))

    # starting, comparing, following leaders

    def _initialise_tasks(self) -> None:
        """Abort what tasks of earlier processes left open, and refuse what they still send."""
        settings, batch_bytes = self._connection.settings, self._limits.batch_bytes

        def initialise(partition: int) -> None:
            transactional_id = self.names.task_transactional_id(partition)
            with closing(TransactionalProducer(settings, transactional_id, batch_bytes)) as task:
                task.renew()

        self.initialisations += 1  # first: if one id fails, others may be initialised already
        with ThreadPoolExecutor(_INITIALISED_AT_ONCE) as pool:
            list(pool.map(initialise, range(self.partitions)))

    def _load(self, accept_loss: bool) -> None:
        committed = self.owner.committed()
        control = self.tail.first_offset()
        self.states = [
            self._loader.begin(
                p,
                committed[p],
                start=self._start_at,
                control=control,
                now=self._clock().monotonic,
                epoch=self.guard.epochs[p],
                loss_accepted=accept_loss,
            )
            for p in range(self.partitions)
        ]
        for state in self.states:
            self.guard.compare(state.position.topics)
        self.tail.start(min(state.position.control for state in self.states))
        self.tail.read_through(self.tail.end())
        self.holds = FlowHolds.build(self.states, self.tail.log)
        self.refresh_held_ends()

    def _commit_first_step(self, accept_loss: bool) -> None:
        context = self.begin_step(accept_loss=accept_loss)
        lost: dict[int, int] = {}
        if accept_loss:
            starts = {p: self._loader.log_start(p) for p in range(self.partitions)}
            lost = {p: s for p, s in starts.items() if s > self.states[p].position.offset}
        upkeep = {
            state.partition: Upkeep(
                lost_until=lost.get(state.partition),
                unreadable=None if state.partition in lost else self.to_skip(state),
            )
            for state in self.states
        }
        self.commit(self.decide_upkeep(context, upkeep))

    def _compare(self, committed: dict[int, Position | None]) -> dict[int, Position]:
        """The committed positions that differ from the state at hand."""
        stale = {}
        for p, position in committed.items():
            if position is None:
                self.guard.check()  # with a topic go the offsets that were committed of it
                raise MembershipLostError(
                    f"The committed offset of partition {p} is gone. It can be restored from "
                    "status by a new start."
                )
            if not is_current(position, self.states[p].position, self.id):
                stale[p] = position
        return stale

    def _follow_leaders(self, context: StepContext, accept_loss: bool) -> None:
        """Compare the log of each new leader with the position, and record its epoch."""
        epochs = self.guard.epochs
        upkeep = {
            state.partition: Upkeep(
                epoch=epochs[state.partition],
                cut_back_to=self._cut_back_to(state, epochs[state.partition], accept_loss),
            )
            for state in self.states
            if state.position.epoch != epochs[state.partition]
        }
        self.commit(self.decide_upkeep(context, upkeep))

    def _cut_back_to(self, state: PartitionState, epoch: int, accept_loss: bool) -> int | None:
        """Where the log of the leader of this epoch ends, if it lacks events that were taken and
        that is accepted; GateStoppedError if it is not accepted."""
        p, position = state.partition, state.position
        if position.epoch > epoch:
            raise UnavailableError(
                f"A broker says that partition {p} of {self.names.events} is led in epoch {epoch}, "
                f"but events were taken in epoch {position.epoch}. Nothing is taken until the "
                "broker has caught up. If it does not, the cluster was restored from an older "
                "copy: restore a later one, or make a new flow."
            )
        end = self.guard.end_of_epoch(p, position.epoch) if position.epoch >= 0 else None
        if end is None or end >= position.offset:
            return None
        if not accept_loss:
            raise cut_back(self.names.events, p, position, end)
        return end
