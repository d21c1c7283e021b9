"""Counters of the broker. `http` exposes them to Prometheus."""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

_WINDOW_SECONDS = 60.0


@dataclass(slots=True)
class RequestMetrics:
    count: int = 0
    seconds: float = 0.0


class LongestTurn:
    """The longest step of the event loop in the last one to two minutes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = clock()
        self._now = self._before = 0.0

    def note(self, seconds: float) -> None:
        if seconds > self._now or self._clock() - self._since >= _WINDOW_SECONDS:
            self.seconds  # noqa: B018 - drops times before the window
            self._now = max(self._now, seconds)

    @property
    def seconds(self) -> float:
        windows = (self._clock() - self._since) // _WINDOW_SECONDS
        if windows:
            self._before = self._now if windows == 1 else 0.0
            self._now = 0.0
            self._since += windows * _WINDOW_SECONDS
        return max(self._now, self._before)


@dataclass(slots=True)
class Metrics:
    """Counters since the start, and gauges where they are cheap to keep."""

    requests: defaultdict[int, RequestMetrics] = field(
        default_factory=lambda: defaultdict(RequestMetrics)
    )
    connections: int = 0
    refused_connections: int = 0
    failed_handshakes: int = 0
    logins: int = 0
    failed_logins: int = 0
    denied_requests: int = 0
    throttled_requests: int = 0
    throttled_seconds: float = 0.0
    idle_closed: int = 0
    bad_frames: int = 0
    handler_failures: int = 0
    appended_bytes: int = 0
    appended_batches: int = 0
    rejected_batches: int = 0
    fetched_bytes: int = 0
    corrupt_reads: int = 0
    storage_failures: int = 0
    flushes: int = 0
    flush_seconds: float = 0.0
    longest_turn: LongestTurn = field(default_factory=LongestTurn)
