"""The embedded broker against Apache Kafka: in one run, alternating, medians.

    python -m bench.broker            # all of it, about fifteen minutes
    python -m bench.broker --quick    # fewer rounds and messages: to see that it works

The last line printed is one line of JSON with the ratios, ours over Kafka's: throughput above 1 is
faster, everything else below 1 is smaller. `start_1000_s` is in seconds.
"""

import argparse
import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from confluent_kafka import Producer
from tests.brokers import BrokerProcess, EmbeddedBroker

from bench.load.messages import consume, new_topic, produce
from bench.load.starts import first_metadata, start_seconds
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

    def produce(self, bootstrap: str) -> float:
        """Messages a second, from the first call to the last acknowledgement."""
        topic = new_topic(bootstrap, PARTITIONS)
        return produce(bootstrap, topic, PARTITIONS, VALUE, self.messages)

    def latency(self, bootstrap: str) -> float:
        """Median milliseconds of one message sent and acknowledged, one after the other."""
        topic = new_topic(bootstrap, 1)
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
        topic = topics[addresses[name]] = new_topic(addresses[name], PARTITIONS)
        produce(addresses[name], topic, PARTITIONS, VALUE, bench.messages)
    consumed = bench.alternating(
        lambda address: consume(address, topics[address], PARTITIONS, bench.messages),
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
            topic = new_topic(broker.bootstrap, PARTITIONS)
            produce(broker.bootstrap, topic, PARTITIONS, VALUE, bench.loaded // 10)
            tenth = resident_mb(broker.pid)
            rest = bench.loaded - bench.loaded // 10
            produce(broker.bootstrap, topic, PARTITIONS, VALUE, rest)
            consume(broker.bootstrap, topic, PARTITIONS, bench.loaded)
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
        topic = new_topic(broker.bootstrap, 1000)
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
