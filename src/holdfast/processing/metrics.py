"""The loop's metrics, under sentry-arroyo's names, collected and sent once a second."""

import time
from collections import defaultdict

from arroyo.utils.metric_defs import MetricName
from arroyo.utils.metrics import get_metrics

SEND_EVERY_SECONDS = 1.0


class LoopMetrics:
    """Durations and counts since the last time they were sent."""

    def __init__(self) -> None:
        self.backend = get_metrics()
        self._durations: defaultdict[MetricName, float] = defaultdict(float)
        self._counts: defaultdict[MetricName, int] = defaultdict(int)
        self._sent_at = time.monotonic()

    def took(self, name: MetricName, seconds: float) -> None:
        self._durations[name] += seconds

    def count(self, name: MetricName, by: int = 1) -> None:
        self._counts[name] += by

    @property
    def due(self) -> bool:
        return time.monotonic() - self._sent_at > SEND_EVERY_SECONDS

    def send(self) -> None:
        for timer, seconds in self._durations.items():
            self.backend.timing(timer, seconds)
        for counter, value in self._counts.items():
            self.backend.increment(counter, value)
        self._durations.clear()
        self._counts.clear()
        self._sent_at = time.monotonic()
