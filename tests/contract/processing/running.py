"""Processors on a real broker, each on a thread of its own."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import arroyo.backends.kafka
from arroyo.backends.abstract import Consumer
from arroyo.backends.kafka import KafkaPayload, build_kafka_consumer_configuration
from arroyo.processing.strategies import (
    MessageRejected,
    ProcessingStrategy,
    ProcessingStrategyFactory,
)
from arroyo.types import BrokerValue, Commit, Message, Partition, Topic
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, producer, send

from holdfast.processing import KafkaConsumer, StreamProcessor

COOPERATIVE = {"partition.assignment.strategy": "cooperative-sticky"}


def configuration(broker: BrokerProcess, group: str, **settings: Any) -> dict[str, Any]:
    """Arroyo's configuration; settings with underscores for dots."""
    built = build_kafka_consumer_configuration(
        {},
        group_id=group,
        auto_offset_reset=settings.pop("auto_offset_reset", "earliest"),
        bootstrap_servers=[broker.bootstrap],
        strict_offset_reset=settings.pop("strict", None),
        enable_auto_commit=settings.pop("auto_commit", False),
    )
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return {**built, "heartbeat.interval.ms": 300, "fetch.wait.max.ms": 50, **named}


def fill(broker: BrokerProcess, topic: str, partitions: int, messages: int) -> None:
    """Numbered messages in each partition: the value is the offset."""
    client = producer(broker, {"linger.ms": 5})
    for partition in range(partitions):
        send(client, topic, (b"%d" % n for n in range(messages)), partition)


@contextmanager
def open_consumer(
    broker: BrokerProcess, topic: str, group: str, **settings: Any
) -> Iterator[KafkaConsumer]:
    consumer = KafkaConsumer(configuration(broker, group, **settings))
    consumer.subscribe([Topic(topic)])
    try:
        yield consumer
    finally:
        consumer.close()


@contextmanager
def open_arroyo_consumer(
    broker: BrokerProcess, topic: str, group: str
) -> Iterator[Consumer[KafkaPayload]]:
    consumer = arroyo.backends.kafka.KafkaConsumer(configuration(broker, group))
    consumer.subscribe([Topic(topic)])
    try:
        yield consumer
    finally:
        consumer.close()


def take(consumer: Consumer[KafkaPayload], count: int) -> list[BrokerValue[KafkaPayload]]:
    """The next `count` messages."""
    taken: list[BrokerValue[KafkaPayload]] = []
    for _ in range(200 + count):
        if len(taken) == count:
            return taken
        message = consumer.poll(0.1)
        if message is not None:
            taken.append(message)
    raise AssertionError(f"{len(taken)} of {count} messages came")


class Recorder(ProcessingStrategy[KafkaPayload]):
    """Records what it accepts, has `room` for some of it, and commits what it has finished."""

    def __init__(self, factory: "RecorderFactory", commit: Commit) -> None:
        self.factory = factory
        self.commit = commit
        self.in_flight: deque[BrokerValue[KafkaPayload]] = deque()

    def poll(self) -> None:
        if self.factory.finishes:
            self.finish()

    def submit(self, message: Message[KafkaPayload]) -> None:
        value = message.value
        assert isinstance(value, BrokerValue)
        if self.factory.room <= 0:
            self.factory.refused.set()
            raise MessageRejected
        self.factory.room -= 1
        self.factory.accepted.append(value)
        self.in_flight.append(value)

    def finish(self) -> None:
        while self.in_flight:
            self.commit(self.in_flight.popleft().committable)

    def close(self) -> None:
        return

    def terminate(self) -> None:
        return

    def join(self, timeout: float | None = None) -> None:
        if self.factory.finishes:
            self.finish()
        self.commit({}, force=True)


class RecorderFactory(ProcessingStrategyFactory[KafkaPayload]):
    def __init__(self, room: int = 1_000_000) -> None:
        self.room = room
        self.finishes = True
        self.accepted: list[BrokerValue[KafkaPayload]] = []
        self.refused = threading.Event()
        self.assignments: list[Mapping[Partition, int]] = []

    def create_with_partitions(
        self, commit: Commit, partitions: Mapping[Partition, int]
    ) -> ProcessingStrategy[KafkaPayload]:
        self.assignments.append(dict(partitions))
        return Recorder(self, commit)

    def offsets(self, partition: int) -> list[int]:
        return [v.offset for v in self.accepted if v.partition.index == partition]


class Running:
    """A processor that runs on a thread. Leaving the context shuts it down; an error comes out."""

    def __init__(
        self,
        consumer: Consumer[KafkaPayload],
        topic: str,
        factory: ProcessingStrategyFactory[KafkaPayload],
        make: Callable[..., Any] = StreamProcessor,
        **options: Any,
    ) -> None:
        self.error: BaseException | None = None
        self.processor = make(consumer, Topic(topic), factory, **options)
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            self.processor.run()
        except BaseException as error:
            self.error = error

    def __enter__(self) -> "Running":
        self._thread.start()
        return self

    def stop(self) -> None:
        self.processor.signal_shutdown()
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive(), "the processor does not stop"
        if self.error is not None:
            raise self.error

    def __exit__(self, *_: object) -> None:
        self.stop()
