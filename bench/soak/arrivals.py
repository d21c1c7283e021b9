"""The events that come out, and their latency."""

import threading
import time

import numpy as np
from confluent_kafka import KafkaException

from bench.load.events import Load
from bench.load.paced import live_consumer

_MOST = 10_000
_TURN_S = 0.1


class Arrivals(threading.Thread):
    """Reads a topic from its end on, read_committed, until it is told to stop.

    Keys that are held now and then are counted, but their times are not: those are the holders'.
    """

    def __init__(self, bootstrap: str, topic: str, load: Load, partitions: int) -> None:
        super().__init__(name=f"arrivals {topic}", daemon=True)
        self.count = 0
        self.ready = threading.Event()
        self.stopping = threading.Event()
        self.error: Exception | None = None
        self._place = bootstrap, topic, partitions
        self._load = load
        self._lock = threading.Lock()
        self._seconds: list[np.ndarray] = []

    def run(self) -> None:
        try:
            self._read()
        except Exception as error:
            self.error = error

    def take_seconds(self) -> np.ndarray:
        """From sending to receiving, of every event that came since the last call."""
        if self.error is not None:
            raise self.error
        with self._lock:
            taken, self._seconds = self._seconds, []
        return np.concatenate(taken) if taken else np.empty(0)

    def _read(self) -> None:
        with live_consumer(*self._place) as consumer:
            consumer.poll(0)
            self.ready.set()
            while not self.stopping.is_set():
                messages = consumer.consume(_MOST, _TURN_S)
                now = time.monotonic_ns()
                if not messages:
                    continue
                for message in messages:
                    if message.error() is not None:
                        raise KafkaException(message.error())
                heads = b"".join((message.value() or b"")[:16] for message in messages)
                self._note(np.frombuffer(heads, ">i8").reshape(-1, 2), now)

    def _note(self, events: np.ndarray, now: int) -> None:
        numbers, sent_at = events[:, 0], events[:, 1]
        seconds = (now - sent_at[self._load.passes(numbers)]) / 1e9
        with self._lock:
            self._seconds.append(seconds)
            self.count += len(numbers)


def latency_figures(seconds: np.ndarray) -> dict[str, float]:
    if len(seconds) == 0:
        return {}
    p50, p99 = np.percentile(seconds, [50, 99]) * 1000
    return {"latency.p50_ms": float(p50), "latency.p99_ms": float(p99)}
