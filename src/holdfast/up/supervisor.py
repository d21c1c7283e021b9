"""All children: started in order, restarted when they end, stopped in reverse order."""

from collections.abc import Callable, Sequence
from threading import Event
from time import monotonic

from holdfast.backoff import Backoff
from holdfast.up.child import Child, Role

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""After this time without a failure, the next failure counts as the first."""
CHECK_SECONDS = 5.0
MAX_FAILED_CHECKS = 3
"""A child that fails this number of checks in a row is restarted."""
READY_SECONDS = 120.0
MAX_STARTS = 3
"""A child that ends this number of times without ever having been ready is not started again."""
_TURN_SECONDS = 0.1

Print = Callable[[str, str], None]
"""Called with the name of a role and a line of text."""


class SupervisedRole:
    """A role, its present child, and the history of its failures."""

    def __init__(self, role: Role, output: Print) -> None:
        self.role = role
        self.child: Child | None = None
        self.ended = False
        """No child is started for it again."""
        self.failed = False
        self._output = output
        self._start_at = 0.0
        self._backoff = Backoff(FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, steady=STEADY_SECONDS)
        self._ends_before_ready = 0
        self._was_ready = False
        self._check_at = 0.0
        self._missed = 0

    def check(self) -> None:
        """Start the child if it is due; restart it if it has ended or does not answer."""
        if self.ended:
            return
        if self.child is None:
            if monotonic() >= self._start_at:
                self._start()
        elif self.child.exit_code is not None:
            self._child_ended(self.child.stop())
        elif not self._answers(self.child):
            self._output(self.role.name, "does not answer: it is restarted")
            self._child_ended(self.child.stop())

    @property
    def is_ready(self) -> bool:
        return self.child is not None and self.child.is_ready

    def stop(self) -> None:
        if self.child is not None:
            self.child.stop()
            self.child = None

    def _start(self) -> None:
        self.child = Child(self.role, self._output)
        self._check_at = monotonic() + CHECK_SECONDS
        self._missed = 0

    def _answers(self, child: Child) -> bool:
        now = monotonic()
        if not child.is_ready:
            return now < child.began + READY_SECONDS
        self._was_ready = True
        if now < self._check_at:
            return True
        self._missed = 0 if self.role.well() else self._missed + 1
        self._check_at = monotonic() + CHECK_SECONDS
        return self._missed < MAX_FAILED_CHECKS

    def _child_ended(self, code: int) -> None:
        assert self.child is not None
        self._was_ready |= self.child.is_ready
        self.child = None
        if code in self.role.not_again:
            self.ended = True
            self._output(self.role.name, f"has ended: {self.role.not_again[code]}")
            return
        self._ends_before_ready += not self._was_ready
        if self._ends_before_ready >= MAX_STARTS:
            self.ended = self.failed = True
            self._output(
                self.role.name,
                f"has ended {MAX_STARTS} times before it was ready; it is not started again",
            )
            return
        pause = self._backoff.next()
        self._start_at = monotonic() + pause
        self._output(self.role.name, f"has ended ({_ending(code)}); started again in {pause:.0f} s")


def supervise(
    roles: Sequence[Role], output: Print, stopping: Event, all_ready: Callable[[], None]
) -> bool:
    """Run the children until `stopping` is set. Returns False if one could not be started.

    `all_ready` is called once, when all of them are ready. A child that has ended for good does
    not delay it.
    """
    supervised = [SupervisedRole(each, output) for each in roles]
    announced = False
    try:
        while not stopping.wait(_TURN_SECONDS):
            for role in supervised:
                role.check()
            if any(role.failed for role in supervised):
                return False
            if not announced and all(role.is_ready or role.ended for role in supervised):
                announced = True
                all_ready()
        return True
    finally:
        for role in reversed(supervised):
            role.stop()


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
