"""One flow's gate in this process: its place in the group, its state, its lock and its driver's
producer. Batches and the keeper run their steps through it.
"""

import logging
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from time import monotonic, time
from typing import Any, TypeVar

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import (
    EventsLostError,
    FencedError,
    GateStoppedError,
    HoldfastError,
    TransientError,
)
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import Position
from holdfast.gate import (
    Asked,
    FlowHolds,
    GateSettings,
    Moment,
    PartitionState,
    check_log,
    flow_is_over,
    is_current,
)
from holdfast.gate import blocked as why_blocked
from holdfast.pipeline.bulk.transactions import BulkTransactions
from holdfast.pipeline.control_log import ControlTail
from holdfast.pipeline.exits import REPLACED, START_AGAIN, End, end_process
from holdfast.pipeline.loading import Loader
from holdfast.pipeline.lock import FairLock
from holdfast.pipeline.owner import Owner
from holdfast.pipeline.steps import Committer, Counts, Prepare, Prepared, decide_upkeep
from holdfast.pipeline.topic_guard import TopicGuard
from holdfast.pipeline.transactions import MembershipLostError, Transactions
from holdfast.pipeline.writer import Writer

log = logging.getLogger(__name__)

T = TypeVar("T")

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0
_INITIALISED_AT_ONCE = 8


class GateClosedError(HoldfastError):
    """The gate is being stopped: this step is not run."""


class FlowGate:
    """Runs steps of one flow, one at a time, exactly once.

    Between `start` and `close` whoever has steps to run gives them to `carry_out`. When the place
    in the group is lost, the process ends (`end`).
    """

    def __init__(
        self,
        connection: Connection,
        flow: FlowDefinition,
        *,
        clock: Callable[[], int] = lambda: round(time() * 1000),
        end: End = end_process,
    ) -> None:
        self.id = str(uuid.uuid4())
        self.connection = connection
        self.flow = flow
        self.names = flow.names
        self.settings = GateSettings.of(flow)
        self.clock = clock
        self.lock = FairLock()
        self.news = Event()
        """Set when there may be something to do: a command, a change, or the end."""
        self.stopping = Event()
        self.guard = TopicGuard(connection, flow)
        self.owner = Owner(connection, flow.names, flow.partitions, self.guard.check, end=end)
        self.tail = ControlTail(connection, flow.names, flow.partitions, self.news.set)
        self.producer_config: dict[str, Any] = {}
        """Sizes for producers, by the limits of the topics."""
        self.states: list[PartitionState] = []
        self.holds = FlowHolds()
        self.held_ends: list[int] = []
        """Ends of held as last seen. An older end is safe, a later one than true is not."""
        self.counts = Counts()
        """Of all steps that this process has committed."""
        self.committed_at = monotonic()
        """When all partitions were last committed together."""
        self.trouble: HoldfastError | None = None
        """What keeps the gate from going on right now."""
        self._end = end
        self._offsets = Offsets(connection, committed_only=False, known=True)
        self._loader = Loader(connection, flow.names)
        self._committer: Committer | None = None
        self._uncertain = False
        self._tasks_at_large = False

    # from start to close

    def start(self, *, accept_loss: bool = False) -> None:
        """Become the owner, read everything, and put this process's name there by a first step.

        `accept_loss`: go on at the log's start where events were deleted before they were taken;
        this is journalled.
        """
        with self._ending_if_gone():
            self._start(accept_loss)
        log.info("The gate of %s runs, as %s.", self.flow.name, self.id)

    def _start(self, accept_loss: bool) -> None:
        self.guard.begin()
        self.owner.join()
        self.producer_config = dict(self.guard.producer_config())
        driver = Transactions(
            self.connection, self.names.driver_transactional_id, self.producer_config
        )
        writer = Writer(self.names, self.guard.processed_partitions)
        self._committer = Committer(self.names, driver, writer)
        driver.renew()
        self._initialise_tasks()
        self._load(accept_loss)
        self._commit_first_step(accept_loss)

    def close(self) -> None:
        """End after the step that runs. The place in the group is kept until someone takes it."""
        self.stopping.set()
        self.news.set()
        with self.lock.turn():
            self.tail.stop()
            self.owner.close()
            self.guard.close()
            self._loader.close()
            if self._committer is not None:
                self._committer.transactions.close()

    @property
    def committer(self) -> Committer:
        """The driver's. There is one once the gate was started."""
        assert self._committer is not None
        return self._committer

    def change(self, flow: FlowDefinition) -> None:
        """Other limits, policy or schema: they act from the next step on."""
        with self.lock.turn():
            self.flow = flow
            self.settings = GateSettings.of(flow)
        self.news.set()

    # running steps

    def carry_out(self, work: Callable[[], T]) -> T:
        """Run `work` under the lock until it succeeds. While the broker is away, or a person has
        to see to something, this waits without the lock and says why in `trouble`.

        `work` reads the control log's end, decides and commits anew in each attempt: what an
        attempt that failed has committed after all is found by comparison before the next.
        """
        pause = _FIRST_PAUSE
        while True:
            if self.stopping.is_set():
                raise GateClosedError("The gate is being stopped.")
            try:
                with self.lock.turn(), self._ending_if_gone():
                    self._make_sure()
                    result = work()
            except (GateStoppedError, EventsLostError, TransientError) as error:
                self.say(error)
                self.news.clear()
                self.news.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self.trouble = None
                return result

    @contextmanager
    def _ending_if_gone(self) -> Iterator[None]:
        try:
            yield
        except MembershipLostError as error:
            self._end(START_AGAIN, str(error))
        except FencedError as error:
            self._end(REPLACED, str(error))

    def moment(self) -> Moment:
        """What all partitions share in a step that begins now, under the lock.

        The topics are looked at here, after the events were read: what was read before then came
        from the topics that the gate knows.
        """
        self.owner.check()
        self.guard.check()
        end = self.tail.end()
        self.tail.read_through(end)
        self.holds.advance(self.tail.log, max(end, self.holds.through), self.clock())
        over = flow_is_over(self.states, self.settings.limits)
        topics = self.guard.identity
        return Moment(self.id, self.flow.partitions, self.holds, self.settings, over, topics)

    def commands(self, state: PartitionState) -> list[Asked]:
        """The commands that the partition has yet to take."""
        return self.tail.log.between(state.position.control, self.holds.through)

    def commit(self, prepare: Prepare) -> Sequence[Prepared]:
        """Commit steps in one transaction of the driver, and make their changes the state."""
        try:
            prepared = self.committer.commit(prepare, self.owner.group_metadata())
            for each in prepared:
                self.states[each.partition].apply(each.result.changes)
        except BaseException:
            self._uncertain = True
            raise
        self.note(each.counts() for each in prepared)
        if len(prepared) == len(self.states):
            self.committed_at = monotonic()
        for each in prepared:
            for key, events in each.result.foreign.items():
                log.warning(
                    "%d events of the held key %r came in partition %d, which murmur2 does not "
                    "give it: a producer uses another partitioner. They are held there.",
                    events, key, each.partition,
                )  # fmt: skip
        return prepared

    def note(self, counts: Iterable[Counts]) -> None:
        """Steps were committed: count what they did, and forget commands that all have taken."""
        for each in counts:
            self.counts = self.counts.plus(each)
        self.tail.log.forget(min(state.position.control for state in self.states))

    def tasks_at_large(self) -> None:
        """A job did not return normally, so its tasks may go on: before anything else is done,
        everything that acts in this process's name is replaced."""
        self._tasks_at_large = True

    def doubt(self) -> None:
        """The state at hand may not be that of the last commit: compare before acting."""
        self._uncertain = True

    def blocked(self) -> str | None:
        """Why no batch may begin now: as much is held as may be. None if one may."""
        with self.lock.turn():
            return why_blocked(self.states, self.settings)

    def say(self, error: HoldfastError) -> None:
        """This keeps the gate from going on."""
        if str(error) != str(self.trouble):
            log.warning("Flow %s: %s", self.flow.name, error)
        self.trouble = error

    def reached(self) -> None:
        """The broker has answered."""
        if isinstance(self.trouble, TransientError):
            self.trouble = None

    def check_logs(self) -> None:
        """Raise GateStoppedError if events were deleted before they were taken."""
        places = [Partition(self.names.events, p) for p in range(self.flow.partitions)]
        starts, ends = self._offsets.starts(places), self._offsets.ends(places)
        for place in places:
            check_log(self.states[place.number].position, starts[place], ends[place])

    def check_topics(self) -> None:
        """Say so if the topics are not those that they were, though no step is due."""
        try:
            self.guard.check()
        except GateStoppedError as error:
            self.say(error)

    def refresh_held_ends(self) -> None:
        """Look up the ends of held. They never go back: a trim may have followed a later one."""
        held = [Partition(self.names.held, p) for p in range(self.flow.partitions)]
        found = self._offsets.ends(held)
        before = self.held_ends or [0] * len(held)
        self.held_ends = [max(found[p], before[p.number]) for p in held]

    # reading and comparing

    def _initialise_tasks(self) -> None:
        """Abort what tasks of earlier processes left open, and refuse what they still send."""

        def initialise(partition: int) -> None:
            transactional_id = self.names.task_transactional_id(partition)
            size = self.producer_config["batch.size"]
            task = BulkTransactions(self.connection.settings, transactional_id, size)
            try:
                task.renew()
            finally:
                task.close()

        with ThreadPoolExecutor(_INITIALISED_AT_ONCE) as pool:
            list(pool.map(initialise, range(self.flow.partitions)))

    def _load(self, accept_loss: bool) -> None:
        committed = self.owner.committed()
        control = self.tail.first_offset()
        self.states = [
            self._loader.begin(
                p,
                committed[p],
                start=self.flow.start,
                control=control,
                now=self.clock(),
                loss_accepted=accept_loss,
            )
            for p in range(self.flow.partitions)
        ]
        for state in self.states:
            self.guard.compare(state.position.topics)
        self.tail.start(min(state.position.control for state in self.states))
        self.tail.read_through(self.tail.end())
        self.holds = FlowHolds.build(self.states, self.tail.log)
        self.refresh_held_ends()

    def _commit_first_step(self, accept_loss: bool) -> None:
        moment = self.moment()
        lost = {}
        if accept_loss:
            starts = {p: self._loader.log_start(p) for p in range(self.flow.partitions)}
            lost = {p: s for p, s in starts.items() if s > self.states[p].position.offset}
        self.commit(
            lambda _: [
                decide_upkeep(
                    state,
                    moment,
                    self.commands(state),
                    held_end=self.held_ends[state.partition],
                    accept_loss_until=lost.get(state.partition),
                )
                for state in self.states
            ]
        )

    def _make_sure(self) -> None:
        """Compare, then act: the committed offsets tell what came of the last commit, and states
        that are not theirs are read again. Half a millisecond, before every step."""
        if self._tasks_at_large:
            self._compare(self.owner.committed_so_far())  # a replaced one must not come back
            self.owner.renew()
            self._initialise_tasks()
            self._tasks_at_large = False
            self._uncertain = True
        if self._uncertain:
            self.committer.transactions.renew()  # what the last one left open is aborted by this
        for p, position in self._compare(self.owner.committed()).items():
            self.states[p] = self._loader.load(p, position, self.clock())
        self._uncertain = False

    def _compare(self, committed: dict[int, Position | None]) -> dict[int, Position]:
        """The committed positions of which the state at hand is another."""
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
