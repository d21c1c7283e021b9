"""One flow's gate in this process. Batches and the keeper run their steps through it."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import TypeVar

from holdfast.backoff import Backoff
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
from holdfast.gate import GateSettings, Now, check_log
from holdfast.gate import blocked as why_blocked
from holdfast.gate import paused as why_paused
from holdfast.kafka.errors import MembershipLostError
from holdfast.kafka.watch import Watches
from holdfast.pipeline.gate.exclusive import ExclusiveFlow, Unlocked
from holdfast.pipeline.gate.lock import FairLock
from holdfast.pipeline.gate.sizes import MOST_ATTEMPTS
from holdfast.pipeline.gate.steps import Counts, LimitsChangedError
from holdfast.pipeline.parts.clock import PipelineClock
from holdfast.pipeline.parts.ticket import REPLACED, START_AGAIN, End, end_process

log = logging.getLogger(__name__)

T = TypeVar("T")

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 0.5
"""A cluster that serves again is noticed this soon."""


class GateClosedError(HoldfastError):
    """The gate is being stopped: this step is not run."""


class FlowGate:
    """Runs steps of one flow, one at a time, exactly once.

    Between `start` and `close` callers give their steps to `run_exclusively`. The flow's state is
    handed out under the lock only; what needs no lock is `Unlocked`. When the place in the group is
    lost, the process ends (`end`).
    """

    def __init__(
        self,
        connection: Connection,
        flow: FlowDefinition,
        *,
        clock: Callable[[], Now] | None = None,
        end: End = end_process,
        watches: Watches | None = None,
    ) -> None:
        """`watches`: the log watches of the process; own ones unless given."""
        self.connection = connection
        self.watches = watches or Watches(connection.settings)
        self._own_watches = None if watches else self.watches
        self.flow = flow
        self.names = flow.names
        self.clock = clock or PipelineClock()
        self.news = Event()
        """Set when there may be something to do: a command, a change, or the end."""
        self.stopping = Event()
        self.trouble: HoldfastError | None = None
        """The error for which the gate waits now."""
        self._lock = FairLock()
        self._end = end
        self._offsets = Offsets(connection, committed_only=False, known=True)
        self.commits = 0
        """How often steps were committed that changed an entry or held events."""
        self.keeper_sleeps = False
        """The keeper waits for news, for as long as it takes: a commit is news to it then."""
        self._exclusive = ExclusiveFlow(
            connection,
            flow,
            self.clock,
            self.news.set,
            self._steps_committed,
            end,
            self.watches.control,
        )
        self._unlocked: Unlocked = self._exclusive

    def start(self, *, accept_loss: bool = False) -> None:
        """Become the owner, read everything, and commit a first step in this process's name.

        `accept_loss`: go on at the log's start where events were deleted before they were taken;
        this is journalled.
        """
        with self._ending_if_replaced():  # without the lock: nothing else runs yet
            self._exclusive.start(accept_loss=accept_loss)
        log.info("The gate of %s runs, as %s.", self.flow.name, self._unlocked.id)

    def close(self) -> None:
        """End after the running step. The place in the group is kept until another process takes
        it."""
        self.stopping.set()
        self.news.set()
        with self.exclusive() as flow:
            flow.close()
        if self._own_watches is not None:
            self._own_watches.stop()

    def change(self, definition: FlowDefinition) -> None:
        """Use other limits, another policy or another schema from the next step on."""
        with self.exclusive() as flow:
            self.flow = definition
            flow.settings = GateSettings.of(definition)
        self.news.set()

    def _steps_committed(self) -> None:
        self.commits += 1
        if self.keeper_sleeps:
            self.news.set()

    # running steps

    @contextmanager
    def exclusive(self) -> Iterator[ExclusiveFlow]:
        """Hold the flow's lock and look at its state, which may be that of a failed step."""
        with self._lock.turn():
            yield self._exclusive

    def run_exclusively(self, step: Callable[[ExclusiveFlow], T]) -> T:
        """Run `step` under the lock until it succeeds. While the broker is away, or a person has
        to do something, this waits without the lock and gives the reason in `trouble`.

        `step` reads the control log's end, decides and commits in each attempt. If a failed
        attempt has committed, the comparison before the next attempt finds that out.
        """
        backoff = Backoff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        limit_changes = 0
        while True:
            if self.stopping.is_set():
                raise GateClosedError("The gate is being stopped.")
            try:
                with self.exclusive() as flow, self._ending_if_replaced():
                    flow.make_current()
                    result = step(flow)
            except (GateStoppedError, EventsLostError, TransientError) as error:
                if isinstance(error, LimitsChangedError) and limit_changes < MOST_ATTEMPTS:
                    limit_changes += 1
                    continue  # decide again at once
                self.report_trouble(error)
                self.news.clear()
                self.news.wait(backoff.next())
            else:
                self.trouble = None
                return result

    @contextmanager
    def _ending_if_replaced(self) -> Iterator[None]:
        try:
            yield
        except MembershipLostError as error:
            self._end(START_AGAIN, str(error))
        except FencedError as error:
            self._end(REPLACED, str(error))

    # without the lock

    @property
    def settings(self) -> GateSettings:
        return self._unlocked.settings

    @property
    def counts(self) -> Counts:
        """Counts of all steps that this process has committed."""
        return self._unlocked.counts

    @property
    def control_failure(self) -> HoldfastError | None:
        """Why the control log is read no further, if its reader has ended by itself."""
        return self._unlocked.control_failure

    def positions(self) -> list[Position]:
        """The position of each partition, as of its last step."""
        return self._unlocked.positions()

    def epochs(self) -> dict[int, int]:
        """The leader epochs that positions speak of. To be read before events are: if one has
        changed when they are to be taken, they may be of a log that is gone."""
        return {p: position.epoch for p, position in enumerate(self.positions())}

    def has_new_commands(self) -> bool:
        reached = self._unlocked.control_reached
        return any(position.control < reached for position in self.positions())

    def read_held_ends(self) -> list[int]:
        return self._unlocked.read_held_ends()

    def check_logs(self) -> None:
        """Raise GateStoppedError if events were deleted before they were taken."""
        events = [Partition(self.names.events, p) for p in range(self.flow.partitions)]
        starts, ends = self._offsets.starts(events), self._offsets.ends(events)
        for partition, position in zip(events, self.positions(), strict=True):
            check_log(position, starts[partition], ends[partition])

    def check_topics(self) -> None:
        """Report it if the topics are not those that they were, though no step is due."""
        try:
            self._unlocked.check_topics()
        except GateStoppedError as error:
            self.report_trouble(error)

    def report_trouble(self, error: HoldfastError) -> None:
        """This keeps the gate from going on."""
        if str(error) != str(self.trouble):
            log.warning("Flow %s: %s", self.flow.name, error)
        self.trouble = error

    def broker_answered(self) -> None:
        if isinstance(self.trouble, TransientError):
            self.trouble = None

    # with the lock, for a moment

    def blocked(self) -> str | None:
        """Why no batch may begin now: the flow is paused, or holds the most that it may. None if
        one may."""
        with self.exclusive() as flow:
            return why_paused(flow.states) or why_blocked(flow.states, flow.settings)
