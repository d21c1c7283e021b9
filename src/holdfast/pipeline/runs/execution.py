"""One run on its way: how far it is, and whether it shall end."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from time import monotonic, time
from typing import Any

from holdfast.flows.runs import Run, RunProgress, RunState
from holdfast.pipeline.runs.run_log import RunLog

PUBLISH_S = 1.0
"""Between two records of how far a run is."""
_RATE_OVER_S = 10.0
_TURN_S = 0.2


class RunCancelled(Exception):
    """Somebody has asked for the run to end."""


class RunInterrupted(Exception):
    """The pipeline ends. The run goes on when one runs again."""


class Execution:
    """What a run's work tells of itself, and asks. For the one thread that does the work."""

    def __init__(self, run: Run, log: RunLog, stopping: Event) -> None:
        self.run = run
        self._log = log
        self._stopping = stopping
        now = _now()
        self._progress = run.progress or RunProgress(
            id=run.id, state=RunState.RUNNING, started_at=now, updated_at=now
        )
        self._rate = RecentRate()
        self._published_at = 0.0

    @property
    def progress(self) -> RunProgress:
        return self._progress

    def begin(self, plan: Mapping[str, Any], total: int | None) -> None:
        """Fix what is to be done: after a crash the run goes on with this."""
        self._progress = replace(self._progress, plan=plan, total=total)
        self._publish(confirmed=True)

    def reach(self, done: int, total: int | None = None, note: str = "") -> None:
        """So much is done by now. Raises if the run shall end."""
        self._rate.add(monotonic(), done)
        total = self._progress.total if total is None else total
        self._progress = replace(
            self._progress, done=done, total=total, rate=self._rate.value, note=note
        )
        if monotonic() - self._published_at >= PUBLISH_S:
            self._publish()
        self.check()

    def check(self) -> None:
        """Raise if the run shall end."""
        if self._stopping.is_set():
            raise RunInterrupted
        run = self._log.get(self.run.id)
        if run is not None and run.cancel is not None:
            raise RunCancelled

    def wait(self, seconds: float, note: str = "") -> None:
        """Wait, and say what for. Raises if the run shall end meanwhile."""
        if note and note != self._progress.note:
            self._progress = replace(self._progress, note=note)
            self._publish()
        deadline = monotonic() + seconds
        while (left := deadline - monotonic()) > 0:
            self._stopping.wait(min(left, _TURN_S))
            self.check()

    def wait_for(self, condition: Callable[[], bool], note: str) -> None:
        """Wait until it holds."""
        while not condition():
            self.wait(_TURN_S, note)

    def end(self, state: RunState, result: Mapping[str, Any], note: str = "") -> None:
        self._progress = replace(
            self._progress, state=state, result=result, note=note, ended_at=_now(), rate=0.0
        )
        self._publish(confirmed=True)

    def _publish(self, *, confirmed: bool = False) -> None:
        self._progress = replace(self._progress, updated_at=_now())
        self._log.publish(self._progress, confirmed=confirmed)
        self._published_at = monotonic()


@dataclass(slots=True)
class RecentRate:
    """How many a second, over the last seconds."""

    _seen: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, at: float, done: int) -> None:
        self._seen.append((at, done))
        while len(self._seen) > 2 and self._seen[1][0] <= at - _RATE_OVER_S:
            self._seen.popleft()

    @property
    def value(self) -> float:
        if len(self._seen) < 2:
            return 0.0
        (began, first), (ended, last) = self._seen[0], self._seen[-1]
        return round((last - first) / max(0.001, ended - began), 1)


def _now() -> int:
    return round(time() * 1000)
