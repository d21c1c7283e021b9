"""The embedded broker against Apache Kafka: in one run, alternating, medians.

    python -m bench.broker            # all of it, about fifteen minutes
    python -m bench.broker --quick    # fewer rounds and messages: to see that it works

The last line printed is one line of JSON with the ratios, ours over Kafka's: throughput above 1 is
faster, everything else below 1 is smaller. `start_1000_s` is in seconds.
"""

import argparse
import contextlib
import json
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.brokers import BrokerProcess, EmbeddedBroker

from bench.peers.kafka import ProductionKafka

PARTITIONS = 6
VALUE = b"x" * 200


class Bench:
    """Rounds over the three brokers: Apache Kafka, ours without sync, ours with it."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder = folder
        self.rounds = 3 if quick else 7
        self.messages = 200_000 if quick else 1_000_000
        self.singles = 500 if quick else 3_000
        self.loaded = 500_000 if quick else 5_000_000
        self._topics = 0

    def new_topic(self, bootstrap: str, partitions: int = PARTITIONS) -> str:
        self._topics += 1
        name = f"bench-{self._topics}"
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result(30)
        return name

    def alternating(
        self, measure: Callable[[str], float], brokers: dict[str, str], what: str
    ) -> dict[str, float]:
        figures: dict[str, list[float]] = {name: [] for name in brokers}
        for bootstrap in brokers.values():  # a round that does not count, to warm both up
            measure(bootstrap)
        for number in range(self.rounds):
            order = list(brokers.items())
            for name, bootstrap in order if number % 2 == 0 else reversed(order):
                figures[name].append(measure(bootstrap))
            print(
                f"  {what} {number + 1}/{self.rounds}: "
                + "  ".join(f"{name} {values[-1]:,.6g}" for name, values in figures.items()),
                flush=True,
            )
        return {name: statistics.median(values) for name, values in figures.items()}

    def produce(self, bootstrap: str, count: int | None = None) -> float:
        """Messages a second, from the first call to the last acknowledgement."""
        topic = self.new_topic(bootstrap)
        return self._produce(bootstrap, topic, count or self.messages)

    def _produce(self, bootstrap: str, topic: str, count: int) -> float:
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "queue.buffering.max.messages": 500_000,
                "queue.buffering.max.kbytes": 1_048_576,
            }
        )
        producer.list_topics(topic, 10)
        send, poll = producer.produce, producer.poll
        started = time.perf_counter()
        for number in range(count):
            while True:
                try:
                    send(topic, VALUE, partition=number % PARTITIONS)
                    break
                except BufferError:
                    poll(0.01)
            if number % 10_000 == 0:
                poll(0)
        left = producer.flush(120)
        seconds = time.perf_counter() - started
        if left:
            raise RuntimeError(f"{left} messages were not acknowledged")
        return count / seconds

    def consume(self, bootstrap: str, topic: str, count: int) -> float:
        """Messages a second, from assignment to the last message."""
        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"bench-{time.monotonic_ns()}",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                # librdkafka pauses for a second whenever its queue is full: with that, its own
                # pauses would be measured, and not the broker.
                "fetch.queue.backoff.ms": 5,
            }
        )
        consumer.list_topics(topic, 10)
        consumer.assign([TopicPartition(topic, p, 0) for p in range(PARTITIONS)])
        seen = 0
        started = time.perf_counter()
        while seen < count:
            batch = consumer.consume(10_000, 10)
            if not batch:
                raise RuntimeError(f"only {seen} of {count} messages came")
            seen += len(batch)
        seconds = time.perf_counter() - started
        consumer.close()
        return seen / seconds

    def latency(self, bootstrap: str) -> float:
        """Median milliseconds of one message sent and acknowledged, one after the other."""
        topic = self.new_topic(bootstrap, 1)
        producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0})
        producer.list_topics(topic, 10)
        times = []
        for number in range(self.singles + 100):
            started = time.perf_counter()
            producer.produce(topic, VALUE)
            producer.flush(10)
            if number >= 100:
                times.append(time.perf_counter() - started)
        return statistics.median(times) * 1000


def resident_mb(pid: int) -> float:
    return psutil.Process(pid).memory_info().rss / 1e6


def first_metadata(bootstrap: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}).list_topics(timeout=0.25)
            return
        except Exception:
            if time.monotonic() > deadline:
                raise


def start_seconds(broker: BrokerProcess) -> float:
    """From starting the process to its first metadata reply, over a directory that exists."""
    broker.stop()
    started = time.perf_counter()
    broker.launch()
    while not _port_is_open(broker.bootstrap):  # librdkafka's retries would blur a start of 0.2 s
        time.sleep(0.002)
    first_metadata(broker.bootstrap)
    return time.perf_counter() - started


def _port_is_open(bootstrap: str) -> bool:
    host, port = bootstrap.rsplit(":", 1)
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@contextlib.contextmanager
def brokers(folder: Path) -> Iterator[dict[str, BrokerProcess]]:
    with contextlib.ExitStack() as stack:
        yield {
            "kafka": stack.enter_context(ProductionKafka(folder / "kafka")),
            "os": stack.enter_context(EmbeddedBroker(folder / "os", {"flush": "os"})),
            "sync": stack.enter_context(EmbeddedBroker(folder / "sync")),
        }


def throughput(bench: Bench, running: dict[str, BrokerProcess]) -> dict[str, float]:
    addresses = {name: broker.bootstrap for name, broker in running.items()}
    produced = bench.alternating(bench.produce, addresses, "produce, messages/s")
    latency = bench.alternating(bench.latency, addresses, "latency, ms")
    topics = {}
    for name in ("kafka", "os"):
        topics[addresses[name]] = bench.new_topic(addresses[name])
        bench._produce(addresses[name], topics[addresses[name]], bench.messages)
    consumed = bench.alternating(
        lambda address: bench.consume(address, topics[address], bench.messages),
        {name: addresses[name] for name in ("kafka", "os")},
        "consume, messages/s",
    )
    return {
        "produce_os": produced["os"] / produced["kafka"],
        "produce_sync": produced["sync"] / produced["kafka"],
        "consume": consumed["os"] / consumed["kafka"],
        "latency_os": latency["os"] / latency["kafka"],
        "latency_sync": latency["sync"] / latency["kafka"],
    }


def memory(bench: Bench, folder: Path) -> dict[str, float]:
    """Resident memory of fresh brokers: idle, after a tenth of the load, after all of it."""
    figures: dict[str, list[float]] = {}
    for name, make in (
        ("kafka", lambda: ProductionKafka(folder / "memory-kafka")),
        ("ours", lambda: EmbeddedBroker(folder / "memory-ours")),
    ):
        with make() as broker:
            first_metadata(broker.bootstrap)
            time.sleep(2)
            idle = resident_mb(broker.pid)
            topic = bench.new_topic(broker.bootstrap)
            bench._produce(broker.bootstrap, topic, bench.loaded // 10)
            tenth = resident_mb(broker.pid)
            bench._produce(broker.bootstrap, topic, bench.loaded - bench.loaded // 10)
            bench.consume(broker.bootstrap, topic, bench.loaded)
            loaded = resident_mb(broker.pid)
            figures[name] = [idle, tenth, loaded]
            print(f"  memory, MB: {name} idle {idle:.0f}, tenth {tenth:.0f}, loaded {loaded:.0f}")
    ours, kafka = figures["ours"], figures["kafka"]
    return {
        "rss_idle": ours[0] / kafka[0],
        "rss_loaded": ours[2] / kafka[2],
        "rss_growth": ours[2] / ours[1],
    }


def starts(bench: Bench, running: dict[str, BrokerProcess]) -> dict[str, float]:
    figures = {name: [] for name in ("kafka", "sync")}  # type: dict[str, list[float]]
    for _ in range(min(bench.rounds, 5)):
        for name in figures:
            figures[name].append(start_seconds(running[name]))
        print("  start, s: " + "  ".join(f"{n} {v[-1]:.3f}" for n, v in figures.items()))
    return {"start": statistics.median(figures["sync"]) / statistics.median(figures["kafka"])}


def start_with_1000_partitions(bench: Bench, folder: Path) -> dict[str, float]:
    with EmbeddedBroker(folder / "thousand") as broker:
        topic = bench.new_topic(broker.bootstrap, 1000)
        producer = Producer({"bootstrap.servers": broker.bootstrap, "acks": "all"})
        for partition in range(1000):
            producer.produce(topic, VALUE, partition=partition)
        producer.flush(60)
        seconds = statistics.median(start_seconds(broker) for _ in range(min(bench.rounds, 5)))
    print(f"  start with 1,000 partitions: {seconds:.3f} s")
    return {"start_1000_s": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds and messages")
    parser.add_argument("--only", choices=["throughput", "memory", "start"], help="one part")
    options = parser.parse_args()
    ratios: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        bench = Bench(folder, options.quick)
        if options.only != "memory":
            with brokers(folder) as running:
                if options.only != "start":
                    ratios |= throughput(bench, running)
                if options.only != "throughput":
                    ratios |= starts(bench, running)
        if options.only in (None, "start"):
            ratios |= start_with_1000_partitions(bench, folder)
        if options.only in (None, "memory"):
            ratios |= memory(bench, folder)
    print(json.dumps({name: round(value, 3) for name, value in ratios.items()}))


if __name__ == "__main__":
    main()
