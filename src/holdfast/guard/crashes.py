"""Events that may end the process: they run alone, each after a commit that names it.

So if the process dies, the next owner of the partition knows which event ran.
"""

import logging
from collections.abc import Sequence
from time import monotonic

from confluent_kafka import Message

from holdfast.flows.status import KeyState
from holdfast.guard.circuit import Allowance
from holdfast.guard.policy import AFTER_LAST, Failure
from holdfast.guard.shared import Shared
from holdfast.guard.steps import Steps
from holdfast.guard.writer import StepOutput

log = logging.getLogger(__name__)

CRASHES = 3
"""An event that has ended its process this often while it ran alone has failed for good."""
CAREFUL_STARTS = 2
"""After this many workers that died soon after they took the partition over, events run alone."""
CAREFUL_EVENTS = 500
"""So many do so, then as many as before: more than a step after a crash takes."""


class Caution:
    """Of one partition. For its thread alone."""

    def __init__(self, shared: Shared, steps: Steps) -> None:
        self._shared = shared
        self._steps = steps
        self._left = 0
        """How many more events run alone."""

    def __bool__(self) -> bool:
        return self._left > 0

    def begin(self, alone: int) -> None:
        """The partition was taken over. `alone`: the event that ran alone when its last owner
        crashed, or -1."""
        position = self._steps.state.position
        if position.starts >= CAREFUL_STARTS or alone >= 0:
            self._left = CAREFUL_EVENTS
            log.warning(
                "Partition %d: earlier workers have crashed. Events from offset %d on run one at "
                "a time.",
                self._steps.partition,
                position.offset,
            )

    def take(self, messages: Sequence[Message]) -> bool:
        """Run the first row that is due, else the event, while nothing else runs in this process.
        Returns True if there may be more at once."""
        steps = self._steps
        source = (messages[0].offset() or 0) if messages else self.first_row()
        if source is None:
            return steps.run([], Allowance.NONE)
        self._left -= 1
        with self._shared.pool.alone():  # first: an event of another partition must not be marked
            step = steps.begin(self._shared.control.log.end, None)
            step.mark_alone(source)
            steps.commit(StepOutput(step.finish()))
            if steps.state.position.crashes >= CRASHES:
                self._fail(messages, source)
            else:
                steps.run(messages, Allowance.ALL, alone=True)
        return True

    def first_row(self) -> int | None:
        """The source offset of the row that would be tried first."""
        steps = self._steps
        if steps.state.pauses:
            return None
        for key in steps.held.backlog.waiting():
            entry = steps.state.entries.get(key)
            if entry is None or entry.state is not KeyState.DRAINING or key in steps.running:
                continue
            row = next(steps.held.backlog.rows(entry), None)
            if row is not None and row.source > entry.dead_through:
                return row.source
        return None

    def _fail(self, messages: Sequence[Message], source: int) -> None:
        """The event has ended its process too often: it has failed, without another try."""
        steps = self._steps
        failure = Failure(
            "crash",
            f"The process has ended {CRASHES} times while this event was handled.",
            fate=AFTER_LAST[self._shared.policy.then],
        )
        plan = steps.plan(messages, Allowance.ALL, alone=True)
        for job in plan.schedule.jobs:
            if job.source == source:
                job.begun, job.finished, job.failure = monotonic(), True, failure
        plan.cut(steps.state.position.offset)
        steps.commit(steps.settle(plan))
