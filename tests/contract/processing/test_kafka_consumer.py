"""Our backend on real brokers: what it hands out, keeps back, drops and commits."""

import time

import pytest
from arroyo.backends.kafka import KafkaPayload
from arroyo.backends.kafka.consumer import InvalidState
from arroyo.errors import ConsumerError, EndOfPartition, OffsetOutOfRange
from arroyo.types import BrokerValue, Partition, Topic
from confluent_kafka import TopicPartition
from tests.brokers import BrokerProcess
from tests.clients import admin, create_topic, done, producer, send, wait_until
from tests.contract.processing.running import (
    COOPERATIVE,
    configuration,
    fill,
    open_arroyo_consumer,
    open_consumer,
    take,
)

from holdfast.processing import KafkaConsumer
from holdfast.processing.fetcher import FULL_MESSAGES, MAX_BATCH


def offsets(messages: list[BrokerValue[KafkaPayload]]) -> list[int]:
    return [message.offset for message in messages]


def delete_below(broker: BrokerProcess, topic: str, offset: int) -> None:
    client = admin(broker)
    done(client.delete_records([TopicPartition(topic, 0, offset)]))


def test_messages_equal_those_of_sentry_arroyos_consumer(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    client = producer(kafka)
    send(client, topic, [b"plain"])
    send(client, topic, [b"all"], key=b"k", headers=[("h", b"1"), ("h", b"2")], timestamp=1234567)
    send(client, topic, [None, b""], key=b"k")
    with (
        open_consumer(kafka, topic, group) as ours,
        open_arroyo_consumer(kafka, topic, f"{group}-arroyo") as theirs,
    ):
        mine, others = take(ours, 4), take(theirs, 4)
    assert mine == others
    assert [repr(m) for m in mine] == [repr(m) for m in others]
    assert [m.committable for m in mine] == [m.committable for m in others]
    assert [m.replace(1) for m in mine] == [m.replace(1) for m in others]
    assert {m.partition for m in mine} == {Partition(Topic(topic), 0)}


def test_pause_withholds_the_buffer_and_resume_hands_it_out(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, 2)
    fill(kafka, topic, 2, 500)
    with open_consumer(kafka, topic, group) as consumer:
        first = take(consumer, 10)
        paused, other = first[-1].partition, Partition(Topic(topic), 1 - first[-1].partition.index)
        consumer.pause([paused])
        position = consumer.tell()[paused]
        rest_of_other = 500 - sum(m.partition == other for m in first)
        assert {m.partition for m in take(consumer, rest_of_other)} == {other}
        assert consumer.poll(0.3) is None
        assert consumer.tell()[paused] == position
        consumer.resume([paused])
        rest = take(consumer, 500 - position)
        assert offsets(rest) == [*range(position, 500)]
        assert consumer.poll(0.2) is None


def test_tell_is_the_next_message_handed_out(kafka: BrokerProcess, topic: str, group: str) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 50)
    partition = Partition(Topic(topic), 0)
    with open_consumer(kafka, topic, group) as consumer:
        for offset in range(50):
            assert offsets(take(consumer, 1)) == [offset]
            assert consumer.tell() == {partition: offset + 1}


def test_seek_drops_the_buffer_and_continues_from_there(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 300)
    partition = Partition(Topic(topic), 0)
    with open_consumer(kafka, topic, group) as consumer:
        take(consumer, 20)
        for target in (250, 5, 5, 100):
            consumer.seek({partition: target})
            assert consumer.tell() == {partition: target}
            assert offsets(take(consumer, 30)) == [*range(target, target + 30)]
        consumer.pause([partition])
        consumer.seek({partition: 7})
        assert consumer.poll(0.1) is None
        consumer.resume([partition])
        assert offsets(take(consumer, 3)) == [7, 8, 9]


def test_partition_is_paused_while_any_owner_pauses_it(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 10)
    partition = Partition(Topic(topic), 0)
    with open_consumer(kafka, topic, group) as consumer:
        take(consumer, 1)
        consumer.pause([partition], owner="a")
        consumer.pause([partition])
        consumer.resume([partition])
        assert consumer.paused() == [partition]
        assert consumer.paused("a") == [partition]
        assert consumer.poll(0.1) is None
        consumer.resume([partition], owner="a")
        assert consumer.paused() == []
        assert offsets(take(consumer, 1)) == [1]


def test_full_buffers_stop_the_fetching_and_lose_nothing(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    messages = FULL_MESSAGES + 4 * MAX_BATCH
    create_topic(kafka, topic)
    fill(kafka, topic, 1, messages)
    partition = Partition(Topic(topic), 0)
    with open_consumer(kafka, topic, group) as consumer:
        first = take(consumer, 1)
        consumer.pause([partition])
        buffer = consumer._fetcher._buffers[partition]
        wait_until(lambda: consumer.poll(0.02) or buffer.stopped, "the buffer is full")
        for _ in range(10):
            assert consumer.poll(0.01) is None
        assert len(buffer.messages) < FULL_MESSAGES + MAX_BATCH
        consumer.resume([partition])
        assert offsets(first + take(consumer, messages - 1)) == [*range(messages)]


def test_a_paused_partition_does_not_hold_up_the_others(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    messages = FULL_MESSAGES + 2 * MAX_BATCH
    create_topic(kafka, topic, 2)
    fill(kafka, topic, 2, messages)
    paused, other = (Partition(Topic(topic), index) for index in range(2))
    with open_consumer(kafka, topic, group) as consumer:
        wait_until(lambda: (consumer.poll(0.1), consumer.tell())[1], "the assignment")
        consumer.seek({paused: 0, other: 0})
        consumer.pause([paused])
        assert offsets(take(consumer, messages)) == [*range(messages)]
        consumer.resume([paused])
        assert offsets(take(consumer, messages)) == [*range(messages)]


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_start_without_a_committed_offset(
    kafka: BrokerProcess, topic: str, group: str, reset: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 5)
    with open_consumer(kafka, topic, group, auto_offset_reset=reset) as consumer:
        wait_until(lambda: (consumer.poll(0.1), consumer.tell())[1], "the assignment")
        send(producer(kafka), topic, [b"new"])
        if reset == "latest":
            assert offsets(take(consumer, 1)) == [5]
        else:
            wait_until(lambda: consumer.poll(0.1) is None and consumer.tell(), "all read")
        assert consumer.tell() == {Partition(Topic(topic), 0): 6}


def test_start_without_a_committed_offset_can_be_an_error(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    consumer = KafkaConsumer(configuration(kafka, group, auto_offset_reset="error"))
    consumer.subscribe([Topic(topic)])
    try:
        with pytest.raises(ConsumerError, match="no committed offset"):
            take(consumer, 1)
        with pytest.raises(InvalidState):
            consumer.tell()
    finally:
        consumer.close()


def test_offset_out_of_range_is_an_error_and_not_a_jump(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 50)
    with open_consumer(kafka, topic, group) as consumer:
        take(consumer, 1)
        delete_below(kafka, topic, 40)
        consumer.seek({Partition(Topic(topic), 0): 5})
        with pytest.raises(OffsetOutOfRange):
            take(consumer, 1)


def test_offset_out_of_range_jumps_where_that_is_asked_for(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 50)
    with open_consumer(kafka, topic, group, strict=False) as consumer:
        take(consumer, 1)
        delete_below(kafka, topic, 40)
        consumer.seek({Partition(Topic(topic), 0): 5})
        assert offsets(take(consumer, 10)) == [*range(40, 50)]


def test_end_of_partition_comes_after_its_messages(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 20)
    with open_consumer(kafka, topic, group, enable_partition_eof=True) as consumer:
        assert offsets(take(consumer, 20)) == [*range(20)]
        with pytest.raises(EndOfPartition) as end:
            take(consumer, 1)
        assert (end.value.partition, end.value.offset) == (Partition(Topic(topic), 0), 20)


def test_committed_offsets_are_where_the_next_member_starts(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 20)
    partition = Partition(Topic(topic), 0)
    with open_consumer(kafka, topic, group) as consumer:
        take(consumer, 10)
        consumer.stage_offsets({partition: 7})
        assert consumer.commit_offsets() == {partition: 7}
        assert consumer.commit_offsets() == {}
    with open_consumer(kafka, topic, group) as consumer:
        assert offsets(take(consumer, 13)) == [*range(7, 20)]


def test_automatic_commits_take_only_staged_offsets(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 20)
    with open_consumer(kafka, topic, group, auto_commit=True) as consumer:
        take(consumer, 10)
        consumer.stage_offsets({Partition(Topic(topic), 0): 4})
        assert consumer.commit_offsets() is None
    with open_consumer(kafka, topic, group, auto_commit=True) as consumer:
        assert offsets(take(consumer, 3)) == [4, 5, 6]


def test_only_assigned_partitions_can_be_paused_sought_and_committed(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    fill(kafka, topic, 1, 3)
    stranger = Partition(Topic(topic), 9)
    with open_consumer(kafka, topic, group) as consumer:
        take(consumer, 1)
        for call in (consumer.pause, consumer.resume):
            with pytest.raises(ConsumerError, match="unassigned"):
                call([stranger])
        with pytest.raises(ConsumerError, match="unassigned"):
            consumer.seek({stranger: 0})
        with pytest.raises(ConsumerError, match="negative"):
            consumer.seek({Partition(Topic(topic), 0): -1})
        consumer.stage_offsets({stranger: 1})
        with pytest.raises(ConsumerError, match="unassigned"):
            consumer.commit_offsets()


def test_closed_consumer_refuses_everything(kafka: BrokerProcess, topic: str, group: str) -> None:
    create_topic(kafka, topic)
    with open_consumer(kafka, topic, group) as consumer:
        consumer.poll(0.1)
        consumer.close()
        assert consumer.closed
        for call in (lambda: consumer.poll(0), consumer.tell, consumer.paused):
            with pytest.raises(InvalidState):
                call()


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_rebalance_moves_partitions_and_ends_their_pauses(
    kafka: BrokerProcess, topic: str, group: str, assignor: str
) -> None:
    create_topic(kafka, topic, 2)
    fill(kafka, topic, 2, 100)
    settings = {"partition_assignment_strategy": assignor}
    with open_consumer(kafka, topic, group, **settings) as first:
        wait_until(lambda: (first.poll(0.1), len(first.tell()) == 2)[1], "both assigned")
        first.seek(dict.fromkeys(first.tell(), 0))
        take(first, 10)
        first.pause([*first.tell()])
        before = dict(first.tell())
        with open_consumer(kafka, topic, group, **settings) as second:
            wait_until(
                lambda: (
                    (first.poll(0.05), second.poll(0.05), len(second.tell()) == 1)[2]
                    and len(first.tell()) == 1
                ),
                "one each",
            )
            ((kept, position),) = first.tell().items()
            if assignor == "range":
                assert first.paused() == [], "an eager rebalance revokes everything"
            else:
                assert first.paused() == [kept]
                assert position == before[kept], "a kept partition goes on where it was"


def test_cooperative_assignment_leaves_kept_partitions_alone(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, 4)
    fill(kafka, topic, 4, 200)
    seen: dict[int, list[int]] = {index: [] for index in range(4)}

    def drain(consumer: KafkaConsumer) -> None:
        message = consumer.poll(0.02)
        if message is not None:
            seen[message.partition.index].append(message.offset)

    settings = {name.replace(".", "_"): value for name, value in COOPERATIVE.items()}
    with open_consumer(kafka, topic, group, **settings) as first:

        def assigned() -> bool:
            drain(first)
            return len(first.tell()) == 4

        wait_until(assigned, "all assigned")
        with open_consumer(kafka, topic, group, **settings) as second:

            def shared() -> bool:
                drain(first)
                second.poll(0.0)
                return len(second.tell()) == 2

            wait_until(shared, "two moved")
            kept = {partition.index for partition in first.tell()}

            def all_read() -> bool:
                drain(first)
                return all(len(seen[p]) >= 200 for p in kept)

            wait_until(all_read, "all read")
    assert all(seen[p] == [*range(200)] for p in kept)


@pytest.mark.apache
def test_the_brokers_own_rebalance_protocol(
    apache_kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(apache_kafka, topic, 2)
    fill(apache_kafka, topic, 2, 100)
    config = configuration(apache_kafka, group, group_protocol="consumer")
    for refused in ("heartbeat.interval.ms", "partition.assignment.strategy", "session.timeout.ms"):
        config.pop(refused, None)
    consumer = KafkaConsumer(config)
    consumer.subscribe([Topic(topic)])
    try:
        taken = take(consumer, 200)
    finally:
        consumer.close()
    for index in range(2):
        mine = [m.offset for m in taken if m.partition.index == index]
        assert mine == [*range(100)]


def test_statistics_and_errors_reach_the_callbacks(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    told: list[str] = []
    config = configuration(kafka, group, statistics_interval_ms=50)
    config["stats_cb"] = told.append
    consumer = KafkaConsumer(config)
    consumer.subscribe([Topic(topic)])
    try:
        end = time.monotonic() + 10
        while not told and time.monotonic() < end:
            consumer.poll(0.05)
    finally:
        consumer.close()
    assert told
    assert told[0].startswith("{")
