"""The handler's calls: in threads, or as tasks of asyncio, at most `at_once` at a time.

One pool serves all partitions of a worker, whose steps take turns.
"""

import asyncio
import logging
import sys
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Lock, Thread, get_ident
from threading import Event as Flag
from time import monotonic
from types import FrameType
from typing import Any

from holdfast.guard.event import Event, Hold, Skip
from holdfast.guard.policy import Failure, Fate
from holdfast.guard.schedule import Job, Schedule

log = logging.getLogger(__name__)

_SLOW_SECONDS = 0.000_2
"""Handlers that take less on average are called by few threads: more would only compete for the
interpreter's lock."""
_LOOK_SECONDS = 0.01
"""How often a step looks if it needs more threads: one handler that blocks stops nobody else."""
_TRACE_LINES = 12


def failure_of(error: BaseException) -> Failure:
    """The failure of a handler that has raised."""
    if isinstance(error, Hold | Skip):
        fate = Fate.HOLD if isinstance(error, Hold) else Fate.DEAD
        return Failure(type(error).__name__, str(error), fate=fate)
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    trace = "".join(traceback.format_exception(error)[-_TRACE_LINES:])
    return Failure(f"{module}{kind.__qualname__}", str(error), trace)


class Pool(ABC):
    """Runs schedules. `run` may be called by several threads at a time."""

    def __init__(self, at_once: int, timeout: float | None) -> None:
        self.at_once = at_once
        self.timeout = timeout
        self.on_result: Callable[[Job], None] = lambda job: None
        """Called with the lock when a job has ended."""
        self._lock = Lock()
        self._ended = Condition(self._lock)
        """A job has ended that somebody waits for."""
        self._schedules: deque[tuple[int, Schedule, Callable[[], bool]]] = deque()
        """Each with the thread that runs it, and with what stops it."""
        self._alone: int | None = None
        """The thread whose schedules alone may start jobs."""
        self._running = 0
        self.tries = 0
        """Calls of the handler so far."""

    @property
    def running(self) -> int:
        """Calls of the handler that run now."""
        return self._running

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Only schedules of this thread run, once what runs now has ended (or is stuck)."""
        me = get_ident()
        with self._lock:
            self._ended.wait_for(lambda: self._alone is None)
            self._alone = me
            self._ended.wait_for(lambda: not self._running, timeout=self.timeout)
        try:
            yield
        finally:
            with self._lock:
                self._alone = None
                self._ended.notify_all()

    def run(self, schedule: Schedule, seconds: float, stop: Callable[[], bool]) -> None:
        """Return when the schedule is over, or closed: after `seconds`, or because of `stop`. Then
        jobs may still run, and their result comes later."""
        with self._lock:
            deadline = monotonic() + seconds
            entry = (get_ident(), schedule, stop)
            self._schedules.append(entry)
            try:
                tries = -1
                while not schedule.is_over:
                    if stop() or monotonic() >= deadline:
                        schedule.close()
                        break
                    if schedule.is_ready and (tries in (-1, self.tries) or self._is_slow()):
                        self._start_more()
                    tries = self.tries
                    self._ended.wait(min(_LOOK_SECONDS, max(0.0, deadline - monotonic())))
            finally:
                schedule.close()
                self._schedules.remove(entry)

    def stack_of(self, job: Job) -> str:
        """Where the job's handler is now; empty if that cannot be known."""
        frame = sys._current_frames().get(job.thread or 0)
        return "".join(traceback.format_stack(frame)[-_TRACE_LINES:]) if frame else ""

    @abstractmethod
    def close(self) -> None:
        """Start nothing more. Handlers that run are left alone."""

    @abstractmethod
    def _start_more(self) -> None:
        """There are jobs that nobody takes. Called with the lock."""

    @abstractmethod
    def _is_slow(self) -> bool:
        """Returns True if more calls at a time would help."""

    def _next(self) -> Job | None:
        """The next job, of each schedule in turn. With the lock."""
        for _ in range(len(self._schedules)):
            thread, schedule, stop = self._schedules[0]
            self._schedules.rotate(-1)
            if schedule.is_ready and self._alone in (None, thread):
                if stop():  # thousands of quick handlers may end before its thread looks
                    schedule.close()
                    self._ended.notify_all()
                    continue
                self._running += 1
                self.tries += 1
                return schedule.start(monotonic())
        return None

    def _finish(self, job: Job, failure: Failure | None) -> None:
        """With the lock."""
        assert job.schedule is not None
        self._running -= 1
        job.schedule.finish(job, failure)
        self.on_result(job)
        if job.schedule.is_over or not self._running:
            self._ended.notify_all()


class ThreadPool(Pool):
    """For handlers that are plain functions."""

    def __init__(
        self, handler: Callable[[Event], Any], at_once: int, timeout: float | None
    ) -> None:
        super().__init__(at_once, timeout)
        self._handler = handler
        self._work = Condition(self._lock)
        self._threads = 0
        self._idle = 0
        self._mean = 0.0
        self._closed = False
        self._jobs: dict[int, Job] = {}

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._work.notify_all()

    def _is_slow(self) -> bool:
        return self._mean > _SLOW_SECONDS

    def _start_more(self) -> None:
        if self._idle:
            self._work.notify()
        elif self._threads - self._stuck() < self.at_once:
            self._threads += 1
            Thread(target=self._serve, name="handler", daemon=True).start()

    def _stuck(self) -> int:
        """Calls past their time: others may be made in their place."""
        if self.timeout is None:
            return 0
        late = monotonic() - self.timeout
        return sum(job.begun is not None and job.begun < late for job in self._jobs.values())

    def _serve(self) -> None:
        me = get_ident()
        self._lock.acquire()
        while not self._closed:
            job = self._next()
            if job is None:
                self._idle += 1
                self._work.wait()
                self._idle -= 1
                continue
            job.thread = me
            self._jobs[me] = job
            if self._mean > _SLOW_SECONDS and any(s.is_ready for _, s, _ in self._schedules):
                self._start_more()
            self._lock.release()
            failure = self._call(job.event)
            self._lock.acquire()
            del self._jobs[me]
            self._mean += 0.1 * (monotonic() - (job.begun or 0.0) - self._mean)
            self._finish(job, failure)
        self._lock.release()

    def _call(self, event: Event) -> Failure | None:
        try:
            self._handler(event)
        except BaseException as error:  # whatever it raises, the worker must go on
            return failure_of(error)
        return None


class TaskPool(Pool):
    """For handlers that are coroutine functions. They run in one loop, on a thread of its own."""

    def __init__(
        self, handler: Callable[[Event], Awaitable[Any]], at_once: int, timeout: float | None
    ) -> None:
        super().__init__(at_once, timeout)
        self._handler = handler
        self._loop = asyncio.new_event_loop()
        self._tasks: dict[Job, asyncio.Task[None]] = {}
        ready = Flag()
        self._loop.call_soon(ready.set)
        self._thread = Thread(target=self._loop.run_forever, name="handlers", daemon=True)
        self._thread.start()
        ready.wait()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def stack_of(self, job: Job) -> str:
        task = self._tasks.get(job)
        if task is None:
            return ""
        if asyncio.current_task(self._loop) is task:  # it blocks the loop
            job.thread = self._thread.ident
            return super().stack_of(job)
        frames: list[tuple[FrameType, int]] = []
        awaited: Any = task.get_coro()
        while (frame := getattr(awaited, "cr_frame", None)) is not None:
            frames.append((frame, frame.f_lineno))
            awaited = getattr(awaited, "cr_await", None)
        return "".join(traceback.StackSummary.extract(frames).format()[-_TRACE_LINES:])

    def _is_slow(self) -> bool:
        return True

    def _start_more(self) -> None:
        self._loop.call_soon_threadsafe(self._fill)

    def _fill(self) -> None:
        while len(self._tasks) < self.at_once:
            with self._lock:
                job = self._next()
            if job is None:
                return
            self._tasks[job] = self._loop.create_task(self._call(job))

    async def _call(self, job: Job) -> None:
        failure = None
        try:
            async with asyncio.timeout(self.timeout):
                await self._handler(job.event)
        except TimeoutError as error:
            failure = failure_of(error)
            if not failure.message:
                failure = Failure("TimeoutError", f"It took more than {self.timeout:g} s.")
        except BaseException as error:
            failure = failure_of(error)
        with self._lock:
            self._finish(job, failure)
        self._tasks.pop(job, None)
        self._fill()
