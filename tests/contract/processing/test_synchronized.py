"""A consumer that follows a commit log, on real brokers."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import arroyo.backends.kafka
import pytest
from arroyo.backends.abstract import Consumer
from arroyo.backends.kafka import KafkaPayload
from arroyo.backends.kafka.commit import CommitCodec
from arroyo.commit import Commit
from arroyo.types import Partition, Topic
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, create_topic, producer, wait_until
from tests.contract.processing.running import (
    RecorderFactory,
    Running,
    configuration,
    fill,
    take,
)

from holdfast.processing import KafkaConsumer, SynchronizedConsumer

GROUPS = {"slow", "fast"}


class CommitLog:
    """Writes commits as the followed groups do."""

    def __init__(self, broker: BrokerProcess, topic: str) -> None:
        self.topic = create_topic(broker, f"{topic}-commit-log")
        self._source = topic
        self._producer = producer(broker)
        self.committed: dict[tuple[str, int], int] = {}

    def commit(self, group: str, partition: int, offset: int) -> None:
        self.committed[group, partition] = offset
        payload = CommitCodec().encode(
            Commit(group, Partition(Topic(self._source), partition), offset, 1.0, None)
        )
        self._producer.produce(self.topic, payload.value, payload.key)
        assert self._producer.flush(DEADLINE_S) == 0

    def raw(self, key: bytes, value: bytes) -> None:
        self._producer.produce(self.topic, value, key)
        assert self._producer.flush(DEADLINE_S) == 0


def synchronized(
    broker: BrokerProcess,
    log: CommitLog,
    group: str,
    *,
    make: Callable[[dict[str, Any]], Consumer[KafkaPayload]] = KafkaConsumer,
    **settings: Any,
) -> SynchronizedConsumer[KafkaPayload]:
    """A member of `group`, whose follower has a group to itself: it must read the whole log."""
    return SynchronizedConsumer(
        make(configuration(broker, group, **settings)),
        KafkaConsumer(configuration(broker, f"{group}-follows-{uuid.uuid4()}")),
        Topic(log.topic),
        GROUPS,
    )


@contextmanager
def opened(
    consumer: SynchronizedConsumer[KafkaPayload], topic: str
) -> Iterator[SynchronizedConsumer[KafkaPayload]]:
    consumer.subscribe([Topic(topic)])
    try:
        yield consumer
    finally:
        consumer.close()


BACKENDS = pytest.mark.parametrize(
    "make", [KafkaConsumer, arroyo.backends.kafka.KafkaConsumer], ids=["holdfast", "sentry-arroyo"]
)


@BACKENDS
def test_never_passes_the_slowest_of_the_groups(
    kafka: BrokerProcess, topic: str, group: str, make: type
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 100)
    log = CommitLog(kafka, topic)
    with opened(synchronized(kafka, log, group, make=make), topic) as consumer:
        log.commit("fast", 0, 90)
        assert consumer.poll(1.0) is None, "the other group has committed nothing"
        log.commit("slow", 0, 10)
        assert [m.offset for m in take(consumer, 10)] == [*range(10)]
        assert consumer.poll(0.3) is None
        log.commit("stranger", 0, 99)
        log.raw(b"nonsense", b"nonsense")
        assert consumer.poll(0.3) is None
        log.commit("slow", 0, 95)
        assert [m.offset for m in take(consumer, 80)] == [*range(10, 90)]
        assert consumer.poll(0.3) is None
        log.commit("fast", 0, 100)
        assert [m.offset for m in take(consumer, 5)] == [*range(90, 95)]


@BACKENDS
def test_own_pauses_are_not_shown_and_callers_pauses_not_undone(
    kafka: BrokerProcess, topic: str, group: str, make: type
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 20)
    log = CommitLog(kafka, topic)
    partition = Partition(Topic(topic), 0)
    with opened(synchronized(kafka, log, group, make=make), topic) as consumer:
        wait_until(lambda: (consumer.poll(0.1), consumer.tell())[1], "the assignment")
        assert consumer.paused() == [], "it is kept back, which is nobody's business"
        consumer.pause([partition])
        assert consumer.paused() == [partition]
        for followed in GROUPS:
            log.commit(followed, 0, 10)
        assert consumer.poll(1.0) is None, "the caller's pause stands"
        consumer.resume([partition])
        assert [m.offset for m in take(consumer, 10)] == [*range(10)]
        assert consumer.paused() == []
        consumer.pause([partition])
        consumer.resume([partition])
        assert consumer.poll(0.3) is None, "a caller's resume does not end its own pause"


def test_follower_does_not_pass_a_group_that_goes_back(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 40)
    log = CommitLog(kafka, topic)
    with opened(synchronized(kafka, log, group), topic) as consumer:
        for followed in GROUPS:
            log.commit(followed, 0, 20)
        take(consumer, 15)
        log.commit("slow", 0, 5)
        wait_until(lambda: consumer._follower.limit(Partition(Topic(topic), 0)) == 5, "read")
        assert consumer.poll(0.3) is None
        log.commit("slow", 0, 18)
        assert [m.offset for m in take(consumer, 3)] == [15, 16, 17]


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_consumer_works_under_the_loop_through_rebalances(
    kafka: BrokerProcess, topic: str, group: str, assignor: str
) -> None:
    create_topic(kafka, topic, 4)
    fill(kafka, topic, 4, 300)
    log = CommitLog(kafka, topic)
    settings: dict[str, Any] = {"partition_assignment_strategy": assignor}
    first, second = RecorderFactory(), RecorderFactory()

    def watch(factory: RecorderFactory) -> None:
        for value in factory.accepted:
            limit = min(log.committed.get((g, value.partition.index), 0) for g in GROUPS)
            assert value.offset < limit, f"{value.partition}:{value.offset} passed {limit}"

    with ExitStack() as members:
        members.enter_context(Running(synchronized(kafka, log, group, **settings), topic, first))
        for offset in range(60, 301, 60):
            for followed in sorted(GROUPS):
                for partition in range(4):
                    log.commit(followed, partition, offset)
            if offset == 120:
                joining = Running(synchronized(kafka, log, group, **settings), topic, second)
                members.enter_context(joining)
                wait_until(lambda: second.assignments, "the second member has a share")
            watch(first)
            watch(second)

            def caught_up(upto: int = offset) -> bool:
                return all(
                    {*first.offsets(p), *second.offsets(p)} >= {*range(upto)} for p in range(4)
                )

            wait_until(caught_up, f"everything up to {offset}")
            watch(first)
            watch(second)
        assert second.accepted, "both members took part"


def test_failure_to_follow_ends_the_consumer(kafka: BrokerProcess, topic: str, group: str) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 5)
    log = CommitLog(kafka, topic)
    follower = KafkaConsumer(configuration(kafka, f"{group}-log", auto_offset_reset="error"))
    mine = KafkaConsumer(configuration(kafka, group))
    with opened(SynchronizedConsumer(mine, follower, Topic(log.topic), GROUPS), topic) as consumer:
        with pytest.raises(RuntimeError, match="can no longer be read"):
            wait_until(lambda: consumer.poll(0.1), "never")


def test_groups_must_be_named(kafka: BrokerProcess, topic: str, group: str) -> None:
    log_consumer = KafkaConsumer(configuration(kafka, group))
    mine = KafkaConsumer(configuration(kafka, group))
    try:
        with pytest.raises(ValueError, match="at least one group"):
            SynchronizedConsumer(mine, log_consumer, Topic(topic), set())
    finally:
        log_consumer.close()
        mine.close()
