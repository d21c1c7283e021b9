"""The loop on real brokers."""

import threading
import time
from collections.abc import Mapping

import arroyo.processing
import pytest
from arroyo.backends.kafka import KafkaPayload, KafkaProducer
from arroyo.dlq import DlqLimit, DlqPolicy, InvalidMessage, KafkaDlqProducer
from arroyo.processing.strategies import CommitOffsets, ProcessingStrategy, RunTask
from arroyo.types import BrokerValue, Commit, Message, Partition, Topic
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, committed, create_topic, read, wait_until
from tests.contract.processing.running import (
    COOPERATIVE,
    RecorderFactory,
    Running,
    configuration,
    fill,
)

from holdfast.processing import DlqLimitExceededError, KafkaConsumer

COOPERATIVE_SETTINGS = {name.replace(".", "_"): value for name, value in COOPERATIVE.items()}


def consumer(kafka: BrokerProcess, group: str, **settings: object) -> KafkaConsumer:
    return KafkaConsumer(configuration(kafka, group, **settings))


def test_everything_is_processed_once_in_order_and_committed(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, 3)
    fill(kafka, topic, 3, 2000)
    factory = RecorderFactory()
    with Running(consumer(kafka, group), topic, factory):
        wait_until(lambda: len(factory.accepted) >= 6000, "all processed")
    assert all(factory.offsets(p) == [*range(2000)] for p in range(3))
    assert [committed(kafka, group, topic, p) for p in range(3)] == [2000] * 3


def test_back_pressure_beyond_the_poll_interval_does_not_cost_the_membership(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, 2)
    fill(kafka, topic, 2, 6000)
    factory = RecorderFactory(room=10)
    mine = consumer(kafka, group, session_timeout_ms=6000, max_poll_interval_ms=6000)
    with Running(mine, topic, factory):
        assert factory.refused.wait(DEADLINE_S)
        time.sleep(8)  # longer than the interval: that is what this is about
        assert len(factory.accepted) == 10
        factory.room = 1_000_000
        wait_until(lambda: len(factory.accepted) >= 12_000, "all processed")
    assert len(factory.assignments) == 1, "never thrown out"
    assert all(factory.offsets(p) == [*range(6000)] for p in range(2))


def test_slow_work_on_the_buffer_does_not_cost_the_membership(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    """The buffer holds more than the poll interval's worth of work."""

    class Slow(RecorderFactory):
        def create_with_partitions(
            self, commit: Commit, partitions: Mapping[Partition, int]
        ) -> ProcessingStrategy[KafkaPayload]:
            super().create_with_partitions(commit, partitions)
            return RunTask(self.work, CommitOffsets(commit))

        def work(self, message: Message[KafkaPayload]) -> None:
            time.sleep(0.02)
            assert isinstance(message.value, BrokerValue)
            self.accepted.append(message.value)

    create_topic(kafka, topic)
    fill(kafka, topic, 1, 450)
    factory = Slow()
    mine = consumer(kafka, group, session_timeout_ms=6000, max_poll_interval_ms=6000)
    with Running(mine, topic, factory):
        wait_until(lambda: len(factory.accepted) >= 450, "all processed", timeout=DEADLINE_S)
    assert len(factory.assignments) == 1
    assert factory.offsets(0) == [*range(450)]


def test_external_pauses_and_resumes_from_another_thread_lose_nothing(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, 3)
    fill(kafka, topic, 3, 3000)
    factory = RecorderFactory(room=100)
    mine = consumer(kafka, group)
    stop = threading.Event()

    def meddle() -> None:
        while not stop.is_set():
            partitions = [*mine.tell()]
            mine.pause(partitions[:2])
            time.sleep(0.002)
            mine.resume(partitions)
            time.sleep(0.01)
            factory.room = 400

    meddler = threading.Thread(target=meddle)
    with Running(mine, topic, factory):
        assert factory.refused.wait(DEADLINE_S)
        meddler.start()
        try:
            wait_until(lambda: len(factory.accepted) >= 9000, "all processed")
        finally:
            stop.set()
            meddler.join()
    assert all(factory.offsets(p) == [*range(3000)] for p in range(3))


def test_a_partition_that_others_pause_stays_paused_through_back_pressure(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, 2)
    fill(kafka, topic, 2, 1000)
    factory = RecorderFactory(room=5)
    mine = consumer(kafka, group)
    theirs = Partition(Topic(topic), 1)
    with Running(mine, topic, factory):
        wait_until(lambda: len(mine.paused()) == 2, "back pressure")
        mine.pause([theirs])
        before = len(factory.offsets(1))
        factory.room = 1_000_000
        wait_until(lambda: len(factory.offsets(0)) >= 1000, "the other one goes on")
        assert mine.paused() == [theirs]
        assert len(factory.offsets(1)) <= before + 1, "at most the message that was carried"
        mine.resume([theirs])
        wait_until(lambda: len(factory.offsets(1)) >= 1000, "all processed")
    assert factory.offsets(1) == [*range(1000)]


@pytest.mark.parametrize("settings", [{}, COOPERATIVE_SETTINGS], ids=["eager", "cooperative"])
def test_a_member_that_joins_under_back_pressure_costs_nothing(
    kafka: BrokerProcess, topic: str, group: str, settings: dict[str, str]
) -> None:
    """With work in flight that does not finish, so that partitions are sought back."""
    create_topic(kafka, topic, 4)
    fill(kafka, topic, 4, 500)
    first, second = RecorderFactory(room=40), RecorderFactory()
    first.finishes = False
    with Running(consumer(kafka, group, **settings), topic, first, join_timeout=0.1):
        assert first.refused.wait(DEADLINE_S)
        with Running(consumer(kafka, group, **settings), topic, second):
            wait_until(lambda: second.assignments, "the second member has its share")
            wait_until(lambda: len(first.assignments) >= 2, "the first one has its rest")
            first.accepted.clear()
            first.finishes = True
            first.room = 1_000_000

            def complete() -> bool:
                return all(
                    {*first.offsets(p), *second.offsets(p)} == {*range(500)} for p in range(4)
                )

            wait_until(complete, "everything came, to one of them")
            for p in range(4):
                for member in (first, second):
                    offsets = member.offsets(p)
                    assert offsets == sorted(set(offsets)), "in order, once"
    assert [committed(kafka, group, topic, p) for p in range(4)] == [500] * 4


def test_shutdown_with_a_carried_message_leaves_it_to_the_next_member(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 100)
    first = RecorderFactory(room=30)
    with Running(consumer(kafka, group), topic, first):
        assert first.refused.wait(DEADLINE_S)
    second = RecorderFactory()
    with Running(consumer(kafka, group), topic, second):
        wait_until(lambda: len(second.accepted) >= 70, "the rest")
    assert first.offsets(0) + second.offsets(0) == [*range(100)]


def test_dead_letter_limit_stops_the_consumer_with_the_exact_count(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    dlq = create_topic(kafka, f"{topic}-dlq")
    fill(kafka, topic, 1, 100)

    def refuse(message: Message[KafkaPayload]) -> KafkaPayload:
        (partition, next_offset), *_ = message.committable.items()
        if next_offset > 50:
            raise InvalidMessage(partition, next_offset - 1, log_exception=False)
        return message.payload

    class Factory(RecorderFactory):
        def create_with_partitions(
            self, commit: Commit, partitions: Mapping[Partition, int]
        ) -> ProcessingStrategy[KafkaPayload]:
            return RunTask(refuse, CommitOffsets(commit))

    producer = KafkaProducer({"bootstrap.servers": kafka.bootstrap})
    policy = DlqPolicy(KafkaDlqProducer(producer, Topic(dlq)), DlqLimit(max_consecutive_count=7))
    running = Running(consumer(kafka, group), topic, Factory(), dlq_policy=policy)
    try:
        with pytest.raises(DlqLimitExceededError, match="offset 57"), running:
            wait_until(lambda: running.error, "the limit")
    finally:
        producer.close().result(DEADLINE_S)
    assert [m.value() for m in read(kafka, dlq)] == [b"%d" % n for n in range(50, 57)]
    assert (committed(kafka, group, topic) or 0) <= 57


def test_sentry_arroyos_consumer_works_under_our_loop(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, 2)
    fill(kafka, topic, 2, 500)
    factory = RecorderFactory()
    theirs = arroyo.backends.kafka.KafkaConsumer(configuration(kafka, group))
    with Running(theirs, topic, factory):
        wait_until(lambda: len(factory.accepted) >= 1000, "all processed")
    assert all(factory.offsets(p) == [*range(500)] for p in range(2))


def test_our_consumer_works_under_sentry_arroyos_loop(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, 2)
    fill(kafka, topic, 2, 500)
    factory = RecorderFactory()
    make = arroyo.processing.StreamProcessor
    with Running(consumer(kafka, group), topic, factory, make=make):
        wait_until(lambda: len(factory.accepted) >= 1000, "all processed")
    assert all(factory.offsets(p) == [*range(500)] for p in range(2))
