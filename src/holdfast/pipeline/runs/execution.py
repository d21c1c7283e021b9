"""A running run: its progress, and requests to stop it."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from time import monotonic
from typing import Any

from holdfast.clock import now_ms
from holdfast.flows.runs import Run, RunProgress, RunState
from holdfast.pipeline.runs.run_log import RunLog

PUBLISH_SECONDS = 1.0
"""Seconds between two progress records of a run."""
_RATE_OVER_SECONDS = 10.0
_TURN_SECONDS = 0.2


class RunCancelled(Exception):
    """The run was cancelled by a user."""


class RunInterrupted(Exception):
    """The pipeline is stopping. The run continues when a pipeline starts again."""


class Execution:
    """Reports a run's progress, and raises if the run must stop. For the run's own thread."""

    def __init__(self, run: Run, log: RunLog, stopping: Event) -> None:
        self.run = run
        self._log = log
        self._stopping = stopping
        now = now_ms()
        self.progress = run.progress or RunProgress(
            id=run.id, state=RunState.RUNNING, started_at=now, updated_at=now
        )
        self._rate = RecentRate()
        self._published_at = 0.0

    def begin(self, plan: Mapping[str, Any], total: int | None) -> None:
        """Store the plan: after a crash the run continues with it."""
        self.progress = replace(self.progress, plan=plan, total=total)
        self._publish(confirmed=True)

    def reach(self, done: int, total: int | None = None, note: str = "") -> None:
        """Report progress. Raises if the run must stop."""
        self._rate.add(monotonic(), done)
        total = self.progress.total if total is None else total
        self.progress = replace(
            self.progress, done=done, total=total, rate=self._rate.value, note=note
        )
        if monotonic() - self._published_at >= PUBLISH_SECONDS:
            self._publish()
        self.check()

    def check(self) -> None:
        """Raise if the run must stop."""
        if self._stopping.is_set():
            raise RunInterrupted
        run = self._log.get(self.run.id)
        if run is not None and run.cancel is not None:
            raise RunCancelled

    def wait(self, seconds: float, note: str = "") -> None:
        """Wait, with a note about the reason. Raises if the run must stop meanwhile."""
        if note and note != self.progress.note:
            self.progress = replace(self.progress, note=note)
            self._publish()
        deadline = monotonic() + seconds
        while (left := deadline - monotonic()) > 0:
            self._stopping.wait(min(left, _TURN_SECONDS))
            self.check()

    def wait_for(self, condition: Callable[[], bool], note: str) -> None:
        """Wait until the condition is True."""
        while not condition():
            self.wait(_TURN_SECONDS, note)

    def end(self, state: RunState, result: Mapping[str, Any], note: str = "") -> None:
        self.progress = replace(
            self.progress, state=state, result=result, note=note, ended_at=now_ms(), rate=0.0
        )
        self._publish(confirmed=True)

    def _publish(self, *, confirmed: bool = False) -> None:
        self.progress = replace(self.progress, updated_at=now_ms())
        self._log.publish(self.progress, confirmed=confirmed)
        self._published_at = monotonic()


@dataclass(slots=True)
class RecentRate:
    """Items per second over the last seconds."""

    _samples: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, at: float, done: int) -> None:
        self._samples.append((at, done))
        while len(self._samples) > 2 and self._samples[1][0] <= at - _RATE_OVER_SECONDS:
            self._samples.popleft()

    @property
    def value(self) -> float:
        if len(self._samples) < 2:
            return 0.0
        (began, first), (ended, last) = self._samples[0], self._samples[-1]
        return round((last - first) / max(0.001, ended - began), 1)
