"""The events of one step on their way through the handler: side by side, one of a key at a time.

Events start in the order in which they were added. So at any moment the events that have not
started are the last ones, and those that wait behind an earlier event of their key. No I/O and no
lock: the pool that runs the events has one.
"""

from collections import deque
from collections.abc import Callable

from holdfast.guard.event import Event
from holdfast.guard.policy import Failure


class Job:
    """One event for the handler."""

    __slots__ = ("begun", "event", "failure", "finished", "key", "schedule", "source", "thread")

    def __init__(self, key: bytes | None, source: int, event: Event) -> None:
        self.key = key
        self.source = source
        self.event = event
        self.schedule: Schedule | None = None
        self.begun: float | None = None
        """When it was given to the handler, by the monotonic clock in seconds."""
        self.thread: int | None = None
        self.finished = False
        self.failure: Failure | None = None
        """Why it has failed, once it is finished; None: it has succeeded."""

    @property
    def succeeded(self) -> bool:
        return self.finished and self.failure is None

    @property
    def running(self) -> bool:
        return self.begun is not None and not self.finished


class Schedule:
    """The jobs of one step."""

    __slots__ = ("_behind", "_closed", "_on_late", "_ready", "jobs", "running")

    def __init__(self, on_late: Callable[[], None] = lambda: None) -> None:
        """`on_late`: called when a job ends after the schedule was closed."""
        self._on_late = on_late
        self.jobs: list[Job] = []
        self.running = 0
        self._ready: deque[Job] = deque()
        self._behind: dict[bytes, deque[Job]] = {}
        """For each key with a job that is ready or runs: its later jobs."""
        self._closed = False

    def add(self, job: Job) -> None:
        """A job after all others of its key."""
        job.schedule = self
        self.jobs.append(job)
        behind = None if job.key is None else self._behind.get(job.key)
        if behind is not None:
            behind.append(job)
            return
        if job.key is not None:
            self._behind[job.key] = deque()
        self._ready.append(job)

    @property
    def is_ready(self) -> bool:
        """Returns True if a job may start."""
        return bool(self._ready) and not self._closed

    @property
    def is_over(self) -> bool:
        """Returns True if no job runs, and none will start."""
        return not self.running and not self.is_ready

    def start(self, now: float) -> Job:
        """The next job, which starts now."""
        job = self._ready.popleft()
        job.begun = now
        self.running += 1
        return job

    def finish(self, job: Job, failure: Failure | None) -> None:
        """A job has ended. If it has failed, the later jobs of its key do not start."""
        job.finished, job.failure = True, failure
        self.running -= 1
        if self._closed:
            self._on_late()
        if job.key is None:
            return
        behind = self._behind[job.key]
        if failure is None and behind:
            self._ready.appendleft(behind.popleft())
        elif failure is None:
            del self._behind[job.key]

    def close(self) -> None:
        """No job starts any more. Running ones go on."""
        self._closed = True
