"""How far a part is behind the end of its topic, in records and in seconds."""

from collections import deque
from collections.abc import Callable, Mapping
from time import monotonic

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.pipeline.metrics import Metrics

_SAMPLES = 3_600


class Waiting:
    """Remembers when the log reached which end, and so how long the first event that a part has
    not taken has been there. What was there before the first look counts from that look."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, Mapping[int, int]]] = deque(maxlen=_SAMPLES)

    def since(self, positions: Mapping[int, int], ends: Mapping[int, int]) -> float:
        """Seconds; 0 if nothing is left to take."""
        now = self._clock()
        self._seen.append((now, ends))
        while self._seen and _covers(positions, self._seen[0][1]):
            self._seen.popleft()
        return now - self._seen[0][0] if self._seen else 0.0


class Lag:
    """Measures one part of one flow."""

    def __init__(
        self, connection: Connection, topic: str, metrics: Metrics, flow: str, part: str
    ) -> None:
        self._offsets = Offsets(connection)
        self._topic = topic
        self._records = metrics.lag_records.labels(flow, part)
        self._seconds = metrics.lag_seconds.labels(flow, part)
        self._waiting = Waiting()

    def measure(self, positions: Mapping[int, int]) -> None:
        """`positions`: the first offset of each partition that the part has not taken."""
        partitions = [Partition(self._topic, number) for number in positions]
        ends = {p.number: end for p, end in self._offsets.ends(partitions).items()}
        self._records.set(sum(max(0, end - positions[p]) for p, end in ends.items()))
        self._seconds.set(self._waiting.since(positions, ends))


def _covers(positions: Mapping[int, int], ends: Mapping[int, int]) -> bool:
    return all(positions.get(p, 0) >= end for p, end in ends.items())
