"""One partition while this worker owns it: a thread that runs its steps, one after the other.

First it fences every earlier owner and loads the state. Then each turn takes buffered events and
rows that are due, gives them to the handlers, and commits what became of them, in one transaction.
"""

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from threading import Thread
from time import monotonic

from confluent_kafka import Message

from holdfast.gate import blocked, flow_is_over
from holdfast.guard.circuit import Allowance
from holdfast.guard.crashes import Caution
from holdfast.guard.ownership import LostError
from holdfast.guard.shared import Shared
from holdfast.guard.steps import Steps

log = logging.getLogger(__name__)

_READ_SECONDS = 0.1
_LAST_READ_SECONDS = 5.0
_UNREAD_SECONDS = 0.05
"""Rows that were just committed may not be readable yet."""
_PROBE_SECONDS = 0.1
_PARKED_MS = 60_000
_LONGEST_WAIT_SECONDS = 30.0


class OwnedPartition:
    """One partition of the guard's topic."""

    def __init__(self, shared: Shared, partition: int) -> None:
        self.partition = partition
        self.started: Future[int] = Future()
        """The offset from which to fetch, once the partition is taken over."""
        self._shared = shared
        self._steps = Steps(shared, partition)
        self.counts = self._steps.counts
        self._caution = Caution(shared, self._steps)
        self._ownership = self._steps.ownership
        self.buffer = self._steps.buffer
        name = f"partition {partition} of {shared.flow.names.events}"
        self._thread = Thread(target=self._run, name=name, daemon=True)

    # What the worker's polling thread calls.

    def start(self) -> None:
        self._thread.start()

    def offer(self, messages: Sequence[Message]) -> None:
        """Fetched events, in order."""
        self.buffer.add(messages)
        self.wake()

    def wake(self) -> None:
        self._steps.wake.set()

    def give_up(self) -> None:
        """The partition was revoked: take nothing more, finish the step, commit, and end."""
        self._ownership.revoked_at = monotonic()
        self.wake()

    def abandon(self) -> None:
        """Another worker may own the partition: commit nothing more."""
        self._ownership.lost.set()
        self.wake()

    def join(self, timeout: float) -> bool:
        """Returns True if the thread has ended."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    # What reports and metrics read, from any thread.

    @property
    def stuck(self) -> int:
        """How many handlers run for too long."""
        return self._steps.stuck.count

    @property
    def is_blocked(self) -> bool:
        """Returns True if the limit of held events is reached, and no events are taken."""
        return blocked([self._steps.state], self._steps.share) is not None

    @property
    def offset(self) -> int:
        """The next event to take, as committed."""
        return self._steps.state.position.offset

    # The thread.

    def _run(self) -> None:
        steps, ownership = self._steps, self._ownership
        try:
            self._caution.begin(steps.take_over())
            self.started.set_result(steps.state.position.offset)
            while not ownership.lost.is_set() and ownership.revoked_at is None:
                if not self._turn():
                    steps.wake.wait(self._seconds_to_wait())
                steps.wake.clear()
            if not ownership.lost.is_set():
                self._let_go()
        except LostError as error:
            log.warning("Partition %d: %s", self.partition, error)
            self._end(error)
        except Exception as error:
            if not ownership.lost.is_set():
                self._end(error)
        finally:
            if not self.started.done():
                self.started.set_exception(LostError("The partition was given away."))
            steps.close()

    def _end(self, error: Exception) -> None:
        if self.started.done():
            self._shared.fail(error)
        else:
            self.started.set_exception(error)

    def _let_go(self) -> None:
        """Commit what became of handlers that have ended since, and leave no trace of a crash."""
        steps = self._steps
        while any(job.running for job in steps.running.values()) and not self._ownership.is_late:
            steps.wake.wait(_UNREAD_SECONDS)
            steps.wake.clear()
        steps.held.read_ahead(steps.state, steps.running, _LAST_READ_SECONDS)
        plan = steps.plan([], Allowance.NONE)
        plan.step.release()
        steps.commit(steps.settle(plan))

    def _turn(self) -> bool:
        """One step, if there is something to do. Returns True if there may be more at once."""
        circuit, steps, caution = self._shared.circuit, self._steps, self._caution
        steps.held.read_ahead(steps.state, steps.running, _READ_SECONDS)
        allowance = circuit.allows()
        try:
            rows = not steps.held.backlog.is_empty
            # One event at a time means one of these.
            one = allowance is Allowance.ONE or bool(caution)
            messages = [] if one and caution.first_row() is not None else self._take(allowance)
            changed = circuit.is_open != steps.circuit_noted
            if not (messages or rows or changed or self._is_due()):
                return False
            if caution and allowance is not Allowance.NONE:
                return caution.take(messages)
            return steps.run(messages, allowance)
        finally:
            if allowance is Allowance.ONE:
                circuit.give_back()

    def _is_due(self) -> bool:
        """Returns True if a step without events and tries has something to do."""
        steps, state, now = self._steps, self._steps.state, self._shared.clock()
        expiry, paced = state.next_expiry(), state.next_paced()
        return (
            state.position.control < self._shared.control.log.end
            or (expiry is not None and expiry <= now.wall)
            or (paced is not None and paced <= now.monotonic and bool(state.outgoing))
            or any(steps.stuck.is_new(job) for job in steps.running.values())
            or bool(state.uncounted)
            or steps.clock_has_jumped
            or state.position.settings != steps.settings.digest
            or state.position.overflow != flow_is_over([state], steps.share.limits)
        )

    def _seconds_to_wait(self) -> float:
        steps, state, now = self._steps, self._steps.state, self._shared.clock()
        times = [_LONGEST_WAIT_SECONDS]
        if (expiry := state.next_expiry()) is not None:
            times.append((expiry - now.wall) / 1000)
        if (paced := state.next_paced()) is not None:
            times.append((paced - now.monotonic) / 1000)
        if (probe := self._shared.circuit.seconds_to_probe()) is not None:
            times.append(max(_PROBE_SECONDS, probe))
        elif state.drains and state.outgoing.keys() - state.buckets.keys() - steps.running.keys():
            times.append(_UNREAD_SECONDS)
        if steps.running:
            times.append(steps.stuck.limit)
        return max(0.01, min(times))

    def _take(self, allowance: Allowance) -> list[Message]:
        """The next fetched events: up to a number and a size."""
        steps = self._steps
        if allowance is Allowance.NONE or self._ownership.revoked_at is not None:
            return []
        if steps.state.pauses or blocked([steps.state], steps.share) is not None:
            return []
        if allowance is Allowance.ONE and self._tries_soon():
            return []  # during an outage a key that is parked already is tried: no other is parked
        most = 1 if self._caution or allowance is Allowance.ONE else steps.most
        return self.buffer.take(most, self._shared.settings.step_bytes)

    def _tries_soon(self) -> bool:
        """Returns True if a hold, most likely the guard's own, expires within a minute."""
        expiry = self._steps.state.next_expiry()
        return expiry is not None and expiry - self._shared.clock().wall < _PARKED_MS
