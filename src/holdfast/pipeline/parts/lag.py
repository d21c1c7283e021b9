"""How far a part is behind the end of its topic, in records and in seconds."""

from collections import deque
from collections.abc import Callable, Mapping
from time import monotonic

from holdfast.pipeline.parts.metrics import Metrics

_SAMPLES = 3_600


class Waiting:
    """Measures how long the first untaken event of a part has been in the log, from samples of the
    log's end. Events that were there before the first sample count from that sample."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, Mapping[int, int]]] = deque(maxlen=_SAMPLES)

    def since(self, positions: Mapping[int, int], ends: Mapping[int, int]) -> float:
        """Seconds; 0 if there is no untaken event."""
        now = self._clock()
        self._samples.append((now, ends))
        while self._samples and _covers(positions, self._samples[0][1]):
            self._samples.popleft()
        return now - self._samples[0][0] if self._samples else 0.0


class Lag:
    """Measures the lag of one part of one flow."""

    def __init__(self, metrics: Metrics, flow: str, part: str) -> None:
        self._records = metrics.lag_records.labels(flow, part)
        self._seconds = metrics.lag_seconds.labels(flow, part)
        self._waiting = Waiting()

    def measure(self, positions: Mapping[int, int], ends: Mapping[int, int]) -> bool:
        """`positions`: the first offset of each partition that the part has not taken. `ends`: the
        known end of each log. Returns True if there is something to take."""
        records = sum(max(0, end - positions.get(p, 0)) for p, end in ends.items())
        self._records.set(records)
        self._seconds.set(self._waiting.since(positions, ends))
        return records > 0


def _covers(positions: Mapping[int, int], ends: Mapping[int, int]) -> bool:
    return all(positions.get(p, 0) >= end for p, end in ends.items())
