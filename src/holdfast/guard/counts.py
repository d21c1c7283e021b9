"""What a worker counts: steps and events of each partition, and the calls of the handler.

Plain numbers, each written by one thread, so that they cost next to nothing. The reports and
Prometheus read them.
"""

from bisect import bisect_left
from dataclasses import dataclass
from time import monotonic

from holdfast.gate import Changes, PartitionState
from holdfast.guard.schedule import Job
from holdfast.guard.writer import StepOutput

BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""Upper bounds in seconds of the time that a handler takes."""


@dataclass(slots=True)
class PartitionCounts:
    """Of one partition since this worker owns it. Written by the partition's thread."""

    taken: int = 0
    handled: int = 0
    held: int = 0
    dead: int = 0
    steps: int = 0
    step_seconds: float = 0.0
    """The duration of the steps that called handlers or took events."""
    waiting_keys: int = 0
    failing_keys: int = 0
    """Keys whose first event has failed."""
    lag: int = 0
    """Events that the worker has yet to take. Written by the thread that polls."""

    def load(self, state: PartitionState) -> None:
        """The partition was taken over."""
        self.waiting_keys = len(state.entries)
        self.failing_keys = sum(entry.attempts > 0 for entry in state.entries.values())

    def more_failing(self, state: PartitionState, changes: Changes) -> int:
        """How many more keys fail once the changes are applied. A million parked keys must not be
        counted at each step."""
        more = 0
        for key, entry in changes.entries.items():
            before = state.entries.get(key)
            more += entry is not None and entry.attempts > 0
            more -= before is not None and before.attempts > 0
        return more

    def add(self, output: StepOutput, state: PartitionState, more_failing: int) -> None:
        """A step was committed, and applied to the state."""
        self.steps += 1
        self.taken += output.taken
        self.handled += output.handled
        self.held += len(output.held)
        self.dead += len(output.letters)
        self.waiting_keys = len(state.entries)
        self.failing_keys += more_failing


class HandlerCounts:
    """Of all calls of the handler in this process. `take` is called with the pool's lock."""

    def __init__(self) -> None:
        self.succeeded = 0
        self.failed = 0
        self.seconds = 0.0
        self.buckets = [0] * (len(BUCKETS) + 1)
        """Calls by the time they took; the last are those above every bound."""

    def take(self, job: Job) -> None:
        """A call has ended."""
        seconds = monotonic() - (job.begun or 0.0)
        self.seconds += seconds
        self.buckets[bisect_left(BUCKETS, seconds)] += 1
        if job.failure is None:
            self.succeeded += 1
        else:
            self.failed += 1
