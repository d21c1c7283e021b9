"""Workers: the run loop and its consumer, ours and sentry-arroyo's, at the same work."""

import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import arroyo.backends.kafka
import arroyo.processing
from arroyo.backends.abstract import Consumer
from arroyo.backends.kafka import KafkaPayload, build_kafka_consumer_configuration
from arroyo.processing.strategies import (
    CommitOffsets,
    ProcessingStrategy,
    ProcessingStrategyFactory,
    RunTask,
)
from arroyo.types import Commit, Message, Partition, Topic

import holdfast.processing

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


def configuration(bootstrap: str, tuned: bool) -> Mapping[str, Any]:
    """Arroyo's own, for both sides alike."""
    settings: dict[str, Any] = (
        {"enable_auto_commit": False, "queued_min_messages": 100_000} if tuned else {}
    )
    return build_kafka_consumer_configuration(
        {},
        group_id=f"bench-{uuid.uuid4().hex[:8]}",
        auto_offset_reset="earliest",
        bootstrap_servers=[bootstrap],
        **settings,
    )


def throughput(bootstrap: str, topic: Topic, messages: int, side: Make, tuned: bool) -> float:
    make_consumer, make_processor = side
    count = Count(messages)
    processor = make_processor(
        consumer=make_consumer(configuration(bootstrap, tuned)),
        topic=topic,
        processor_factory=Factory(lambda commit: RunTask(count, CommitOffsets(commit))),
    )
    count.finished = processor.signal_shutdown
    processor.run()
    return messages / (count.last - count.first)
