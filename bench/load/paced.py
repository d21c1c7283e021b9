"""A steady trickle of events, and how long each takes to come out."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from bench.load.events import Load, check_output, decode_event, encode_event, flush

PATIENCE_S = 30.0
_TICK_S = 0.001
"""Events that are due within it are sent at once, so that no thread wakes up for each."""


class Traffic:
    """Events at a steady pace from a thread of its own, each with the time at which it was sent."""

    def __init__(
        self, bootstrap: str, topic: str, load: Load, per_second: float, linger_ms: int = 0
    ) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "partitioner": "murmur2_random",
                "linger.ms": linger_ms,
            }
        )
        self._producer.list_topics(topic, 10)
        self._topic = topic
        self._load = load
        self._at_once = max(1, round(per_second * _TICK_S))
        self._pause = self._at_once / per_second
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="traffic")
        self.sent = 0

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        """Wait until all events of the load are acknowledged."""
        self._thread.join()
        flush(self._producer)

    def stop(self) -> None:
        """Send no more, and wait for what was sent."""
        self._ending.set()
        self.join()

    def _run(self) -> None:
        due = time.monotonic()
        while self.sent < self._load.count and not self._ending.is_set():
            for number in range(self.sent, min(self.sent + self._at_once, self._load.count)):
                self._send(number)
            self._producer.poll(0)
            due += self._pause
            time.sleep(max(0.0, due - time.monotonic()))

    def _send(self, number: int) -> None:
        """Waits where the broker does not keep up."""
        while not self._ending.is_set():
            try:
                self._producer.produce(self._topic, encode_event(number), self._load.key(number))
            except BufferError:
                self._producer.poll(0.05)
            else:
                self.sent += 1
                return


@contextmanager
def traffic(
    bootstrap: str, topic: str, load: Load, per_second: float, linger_ms: int = 0
) -> Iterator[Traffic]:
    """Traffic for as long as the block runs."""
    running = Traffic(bootstrap, topic, load, per_second, linger_ms)
    running.start()
    try:
        yield running
    finally:
        running.stop()


@contextmanager
def live_consumer(bootstrap: str, topic: str, partitions: int) -> Iterator[Consumer]:
    """A read_committed consumer of all partitions, at their ends."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench-live",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    try:
        ends = []
        for partition in range(partitions):
            place = TopicPartition(topic, partition)
            place.offset = consumer.get_watermark_offsets(place, 10)[1]
            ends.append(place)
        consumer.assign(ends)
        yield consumer
    finally:
        consumer.close()


def latencies(
    bootstrap: str, events: str, processed: str, load: Load, per_second: float, partitions: int
) -> dict[int, float]:
    """Seconds from sending to receiving, by number, of every event that is not held.

    `processed` must be empty before: at the end all of it is checked against the load.
    """
    expected = len(load.passing())
    times: dict[int, float] = {}
    with live_consumer(bootstrap, processed, partitions) as consumer:
        with traffic(bootstrap, events, load, per_second) as source:
            end = time.monotonic() + load.count / per_second + PATIENCE_S
            while len(times) < expected and time.monotonic() < end:
                message = consumer.poll(0.1)
                if message is None:
                    continue
                if message.error() is not None:
                    raise KafkaException(message.error())
                number, sent_at = decode_event(message.value())
                times[number] = (time.monotonic_ns() - sent_at) / 1e9
            source.join()
    check_output(bootstrap, processed, load, partitions)
    return times
