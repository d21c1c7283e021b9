"""Handlers that run for too long. A thread cannot be ended from outside: its key waits for it, and
people see where it is."""

import logging
from time import monotonic

from holdfast.guard.pool import Pool
from holdfast.guard.schedule import Job

log = logging.getLogger(__name__)

STUCK_SECONDS = 60.0
"""A handler without a time-out is reported after this long."""


class StuckHandlers:
    """The handlers of one partition that were reported as stuck."""

    def __init__(self, pool: Pool) -> None:
        self.limit = pool.timeout or STUCK_SECONDS
        """Seconds after which a handler is stuck."""
        self._pool = pool
        self._reported: set[int] = set()

    @property
    def count(self) -> int:
        """How many of the reported ones still run."""
        return len(self._reported)

    def is_new(self, job: Job) -> bool:
        """Returns True if the handler is stuck, and was not reported yet."""
        late = job.running and monotonic() - (job.begun or 0.0) > self.limit
        return late and job.source not in self._reported

    def report(self, job: Job) -> str:
        """Log the handler with its stack. Returns the same for people."""
        self._reported.add(job.source)
        stack = self._pool.stack_of(job)
        text = f"The handler has been running for more than {self.limit:g} s.\n{stack}"
        log.warning("%r, event %s: %s", job.key, job.event.id, text)
        return text

    def forget(self, job: Job) -> None:
        """The handler has ended."""
        self._reported.discard(job.source)
