"""Processing: the loop and its consumer against sentry-arroyo's, on a real broker, in one run.

    python -m bench.processing [--messages N] [--rounds N] [--broker apache|embedded]

`throughput`: how many times sentry-arroyo's rate of messages through RunTask and CommitOffsets ours
is, from the first message to the last, medians of rounds in which the two take turns, with the
configuration that Arroyo's own builder makes. `throughput_tuned`: the same with what makes
sentry-arroyo fastest: explicit commits and librdkafka's full queue, so that neither side waits for
anything but the processor. The rates themselves are beside them, in messages a second.
`pause_ms`, `resume_ms`: from the strategy's first refusal until everything is paused, and from the
moment it has room until it gets the message that it refused. `paused_cpu`: share of one core while
paused.
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import arroyo.backends.kafka
import arroyo.processing
from arroyo.backends.abstract import Consumer
from arroyo.backends.kafka import KafkaPayload, build_kafka_consumer_configuration
from arroyo.processing.strategies import (
    CommitOffsets,
    MessageRejected,
    ProcessingStrategy,
    ProcessingStrategyFactory,
    RunTask,
)
from arroyo.types import Commit, Message, Partition, Topic
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker

import holdfast.processing

PARTITIONS = 4
MESSAGE = b"x" * 200
SETTLE_SECONDS = 2.0
"""librdkafka fills its queues first, pause or no pause."""
PAUSED_SECONDS = 3.0

Make = tuple[Callable[[Mapping[str, Any]], Consumer[KafkaPayload]], Callable[..., Any]]
SIDES: dict[str, Make] = {
    "sentry-arroyo": (arroyo.backends.kafka.KafkaConsumer, arroyo.processing.StreamProcessor),
    "holdfast": (holdfast.processing.KafkaConsumer, holdfast.processing.StreamProcessor),
}


class Count:
    """The work: counts messages, and says when the last one has come."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.seen = 0
        self.first = self.last = 0.0
        self.finished: Callable[[], None] = lambda: None

    def __call__(self, message: Message[KafkaPayload]) -> KafkaPayload:
        if self.seen == 0:
            self.first = time.perf_counter()
        self.seen += 1
        if self.seen == self.expected:
            self.last = time.perf_counter()
            self.finished()
        return message.payload


class Factory(ProcessingStrategyFactory[KafkaPayload]):
    def __init__(self, build: Callable[[Commit], ProcessingStrategy[Any]]) -> None:
        self.build = build

    def create_with_partitions(
        self, commit: Commit, partitions: Mapping[Partition, int]
    ) -> ProcessingStrategy[KafkaPayload]:
        return self.build(commit)


class Valve(ProcessingStrategy[KafkaPayload]):
    """Accepts a while, refuses until it is opened, and notes when what happened."""

    def __init__(self, accept: int) -> None:
        self.accept = accept
        self.open = False
        self.refused_at = self.opened_at = self.accepted_at = 0.0

    def poll(self) -> None:
        return

    def submit(self, message: Message[KafkaPayload]) -> None:
        if self.accept > 0:
            self.accept -= 1
        elif not self.open:
            self.refused_at = self.refused_at or time.perf_counter()
            raise MessageRejected
        elif not self.accepted_at:
            self.accepted_at = time.perf_counter()

    def close(self) -> None:
        return

    def terminate(self) -> None:
        return

    def join(self, timeout: float | None = None) -> None:
        return


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--broker", choices=["apache", "embedded"], default="apache")
    parser.add_argument("--only", choices=list(SIDES), help="for a profile of one of the two")
    options = parser.parse_args()
    kind = ApacheKafka if options.broker == "apache" else EmbeddedBroker
    sides = {name: side for name, side in SIDES.items() if options.only in (None, name)}
    with tempfile.TemporaryDirectory() as directory, kind(Path(directory)) as broker:
        topic = filled_topic(broker, options.messages)
        as_built = rates(broker, topic, options, sides, tuned=False)
        tuned = rates(broker, topic, options, sides, tuned=True)
        pauses = {name: pause_and_resume(broker, topic, side) for name, side in sides.items()}
    for name, figures in pauses.items():
        print(f"{name:14} " + ", ".join(f"{k} {v:.3f}" for k, v in figures.items()))
    print(
        json.dumps(
            {
                **summary("throughput", as_built),
                **summary("throughput_tuned", tuned),
                **{k: round(v, 4) for k, v in pauses.get("holdfast", {}).items()},
            }
        )
    )


def rates(
    broker: BrokerProcess,
    topic: Topic,
    options: argparse.Namespace,
    sides: Mapping[str, Make],
    tuned: bool,
) -> dict[str, float]:
    """The median rate of each side, in rounds in which they take turns."""
    # As it is built, librdkafka's queue holds sentry-arroyo up: fewer messages say enough.
    messages = options.messages if tuned else options.messages // 4
    measured: dict[str, list[float]] = {name: [] for name in sides}
    for round_number in range(options.rounds):
        for name, side in sides.items():
            rate = throughput(broker, topic, messages, side, tuned)
            measured[name].append(rate)
            kind = "tuned" if tuned else "as built"
            print(f"{kind}, round {round_number + 1}: {name:14} {rate:10,.0f} messages/s")
    return {name: statistics.median(values) for name, values in measured.items()}


def summary(name: str, medians: Mapping[str, float]) -> dict[str, float]:
    figures = {f"{name}_{side.replace('-', '_')}": round(rate) for side, rate in medians.items()}
    if len(medians) == len(SIDES):
        return {name: round(medians["holdfast"] / medians["sentry-arroyo"], 2), **figures}
    return figures


def filled_topic(broker: BrokerProcess, messages: int) -> Topic:
    name = f"processing-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(30)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 50})
    for number in range(messages):
        while True:
            try:
                producer.produce(name, MESSAGE, partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.05)
    producer.flush()
    return Topic(name)


def configuration(broker: BrokerProcess, tuned: bool) -> Mapping[str, Any]:
    """Arroyo's own, for both sides alike."""
    settings = {"enable_auto_commit": False, "queued_min_messages": 100_000} if tuned else {}
    return build_kafka_consumer_configuration(
        {},
        group_id=f"bench-{uuid.uuid4().hex[:8]}",
        auto_offset_reset="earliest",
        bootstrap_servers=[broker.bootstrap],
        **settings,
    )


def throughput(
    broker: BrokerProcess, topic: Topic, messages: int, side: Make, tuned: bool
) -> float:
    make_consumer, make_processor = side
    count = Count(messages)
    processor = make_processor(
        consumer=make_consumer(configuration(broker, tuned)),
        topic=topic,
        processor_factory=Factory(lambda commit: RunTask(count, CommitOffsets(commit))),
    )
    count.finished = processor.signal_shutdown
    processor.run()
    return messages / (count.last - count.first)


def pause_and_resume(broker: BrokerProcess, topic: Topic, side: Make) -> dict[str, float]:
    make_consumer, make_processor = side
    consumer = make_consumer(configuration(broker, tuned=True))
    valve = Valve(accept=1000)
    processor = make_processor(
        consumer=consumer, topic=topic, processor_factory=Factory(lambda _: valve)
    )
    running = threading.Thread(target=processor.run)
    running.start()
    while len(consumer.paused()) < PARTITIONS:
        time.sleep(0.0005)
    paused_at = time.perf_counter()
    time.sleep(SETTLE_SECONDS)
    start, start_cpu = time.perf_counter(), time.process_time()
    time.sleep(PAUSED_SECONDS)
    cpu = (time.process_time() - start_cpu) / (time.perf_counter() - start)
    valve.opened_at = time.perf_counter()
    valve.open = True
    while not valve.accepted_at:
        time.sleep(0.0005)
    processor.signal_shutdown()
    running.join()
    return {
        "pause_ms": (paused_at - valve.refused_at) * 1000,
        "resume_ms": (valve.accepted_at - valve.opened_at) * 1000,
        "paused_cpu": cpu,
    }


if __name__ == "__main__":
    main()
