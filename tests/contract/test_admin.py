"""Everything that confluent-kafka's admin client can ask for."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ElectionType,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from tests.brokers import BrokerProcess
from tests.clients import (
    DEADLINE_S,
    KEPT,
    admin,
    assigned,
    committed,
    create_topic,
    done,
    offsets,
    open_consumer,
    poll_until,
    producer,
    read,
    send,
    transactional,
    wait_until,
)


def test_a_topic_is_created_listed_described_and_deleted(kafka: BrokerProcess, topic: str) -> None:
    client = admin(kafka)
    create_topic(kafka, topic, partitions=3)
    assert len(client.list_topics(timeout=DEADLINE_S).topics[topic].partitions) == 3
    (described,) = done_in_order(client.describe_topics(TopicCollection([topic])))
    assert described.name == topic
    assert not described.is_internal
    assert [p.id for p in described.partitions] == [0, 1, 2]
    assert all(p.leader is not None and len(p.isr) == 1 for p in described.partitions)
    done(client.delete_topics([topic]))
    wait_until(
        lambda: topic not in client.list_topics(timeout=DEADLINE_S).topics, "the topic's end"
    )


def test_a_topic_created_again_under_the_same_name_is_empty_and_has_another_id(
    kafka: BrokerProcess, topic: str
) -> None:
    client = admin(kafka)
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"old"] * 3)
    (old,) = done_in_order(client.describe_topics(TopicCollection([topic])))
    done(client.delete_topics([topic]))
    wait_until(
        lambda: topic not in client.list_topics(timeout=DEADLINE_S).topics, "the topic's end"
    )
    create_topic(kafka, topic)
    (new,) = done_in_order(client.describe_topics(TopicCollection([topic])))
    assert str(new.topic_id) != str(old.topic_id)
    assert read(kafka, topic) == []
    assert send(producer(kafka), topic, [b"new"]) == [0]


def test_bad_topics_are_refused_with_the_reason(kafka: BrokerProcess, topic: str) -> None:
    client = admin(kafka)
    create_topic(kafka, topic)

    def code(new: NewTopic) -> int:
        return refusal(lambda: done(client.create_topics([new])))

    assert code(NewTopic(topic, 1, 1)) == KafkaError.TOPIC_ALREADY_EXISTS
    assert code(NewTopic("bad name", 1, 1)) == KafkaError.TOPIC_EXCEPTION
    assert code(NewTopic("x" * 250, 1, 1)) == KafkaError.TOPIC_EXCEPTION
    assert code(NewTopic(f"{topic}-p", 0, 1)) == KafkaError.INVALID_PARTITIONS
    assert code(NewTopic(f"{topic}-r", 1, 2)) == KafkaError.INVALID_REPLICATION_FACTOR
    bad_config = NewTopic(f"{topic}-c", 1, 1, config={"retention.ms": "soon"})
    assert code(bad_config) == KafkaError.INVALID_CONFIG
    missing = refusal(lambda: done(client.delete_topics([f"{topic}-not-there"])))
    assert missing == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_validating_a_topic_creates_nothing(kafka: BrokerProcess, topic: str) -> None:
    client = admin(kafka)
    done(client.create_topics([NewTopic(topic, 1, 1)], validate_only=True))
    assert topic not in client.list_topics(timeout=DEADLINE_S).topics


def test_partitions_can_be_added_but_not_removed(kafka: BrokerProcess, topic: str) -> None:
    client = admin(kafka)
    create_topic(kafka, topic, partitions=2)
    send(producer(kafka), topic, [b"v"], partition=1)
    done(client.create_partitions([NewPartitions(topic, 4)]))
    wait_until(
        lambda: len(client.list_topics(topic, timeout=DEADLINE_S).topics[topic].partitions) == 4,
        "four partitions",
    )
    assert len(read(kafka, topic, 1)) == 1
    wait_until(lambda: can_send(kafka, topic, 3), "the new partition being served")
    fewer = refusal(lambda: done(client.create_partitions([NewPartitions(topic, 3)])))
    assert fewer == KafkaError.INVALID_PARTITIONS


def test_topic_configs_are_described_changed_and_reset(kafka: BrokerProcess, topic: str) -> None:
    client = admin(kafka)
    create_topic(kafka, topic, config={"retention.ms": "111"})
    resource = ConfigResource(ResourceType.TOPIC, topic)

    def configs() -> dict[str, ConfigEntry]:
        (found,) = done(client.describe_configs([resource])).values()
        return dict(found)

    assert configs()["retention.ms"].value == "111"
    assert not configs()["retention.ms"].is_default
    assert configs()["cleanup.policy"].value == "delete"
    assert configs()["cleanup.policy"].is_default
    assert configs()["max.message.bytes"].value == "1048588"

    def change(name: str, value: str | None, operation: AlterConfigOpType) -> None:
        entry = ConfigEntry(name, value, incremental_operation=operation)
        changed = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        done(client.incremental_alter_configs([changed]))

    change("retention.ms", "222", AlterConfigOpType.SET)
    wait_until(lambda: configs()["retention.ms"].value == "222", "the new value")
    change("cleanup.policy", "compact", AlterConfigOpType.APPEND)
    wait_until(
        lambda: set((configs()["cleanup.policy"].value or "").split(",")) == {"delete", "compact"},
        "both policies",
    )
    change("cleanup.policy", "delete", AlterConfigOpType.SUBTRACT)
    wait_until(lambda: configs()["cleanup.policy"].value == "compact", "one policy")
    change("retention.ms", None, AlterConfigOpType.DELETE)
    wait_until(lambda: configs()["retention.ms"].is_default, "the default again")
    for name, value in (("retention.ms", "soon"), ("no.such.setting", "1")):
        code = refusal(partial(change, name, value, AlterConfigOpType.SET))
        assert code == KafkaError.INVALID_CONFIG


def test_a_changed_message_limit_is_in_force(kafka: BrokerProcess, topic: str) -> None:
    client = admin(kafka)
    create_topic(kafka, topic)
    entry = ConfigEntry("max.message.bytes", "1000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    done(client.incremental_alter_configs([resource]))

    def refused() -> bool:
        try:
            send(producer(kafka), topic, [bytes(2_000)])
        except KafkaException as error:
            return bool(error.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE)
        return False

    wait_until(refused, "the new limit")


def test_broker_configs_can_be_described(kafka: BrokerProcess) -> None:
    client = admin(kafka)
    (broker,) = client.list_topics(timeout=DEADLINE_S).brokers
    resource = ConfigResource(ResourceType.BROKER, str(broker))
    (found,) = done(client.describe_configs([resource])).values()
    assert found


def test_records_below_an_offset_are_deleted(kafka: BrokerProcess, topic: str) -> None:
    client = admin(kafka)
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"%d" % i for i in range(10)])
    asked = TopicPartition(topic, 0, 4)
    (deleted,) = done(client.delete_records([asked])).values()
    assert deleted.low_watermark == 4
    assert offsets(read(kafka, topic)) == list(range(4, 10))
    beyond = TopicPartition(topic, 0, 11)
    code = refusal(lambda: done(client.delete_records([beyond])))
    assert code == KafkaError.OFFSET_OUT_OF_RANGE
    everything = TopicPartition(topic, 0, -1)  # -1: up to the high watermark
    (deleted,) = done(client.delete_records([everything])).values()
    assert deleted.low_watermark == 10
    assert read(kafka, topic) == []
    assert send(producer(kafka), topic, [b"next"]) == [10]


def test_offsets_are_listed_by_kind_time_and_isolation(kafka: BrokerProcess, topic: str) -> None:
    client = admin(kafka)
    create_topic(kafka, topic, config=KEPT)
    plain = producer(kafka)
    base = 1_700_000_000_000
    for delta in (0, 200, 100):
        send(plain, topic, [b"v"], timestamp=base + delta)
    writer = transactional(kafka, topic)
    writer.begin_transaction()
    send(writer, topic, [b"open"], timestamp=base)

    def listed(spec: OffsetSpec, isolation: IsolationLevel) -> int:
        asked = {TopicPartition(topic, 0): spec}
        (found,) = done(client.list_offsets(asked, isolation_level=isolation)).values()
        return int(found.offset)

    uncommitted, stable = IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED
    assert listed(OffsetSpec.earliest(), uncommitted) == 0
    assert listed(OffsetSpec.latest(), uncommitted) == 4
    assert listed(OffsetSpec.latest(), stable) == 3
    assert listed(OffsetSpec.max_timestamp(), uncommitted) == 1
    assert listed(OffsetSpec.for_timestamp(base + 1), uncommitted) == 1
    writer.abort_transaction(DEADLINE_S)


def test_groups_are_listed_described_and_deleted(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    client = admin(kafka)
    create_topic(kafka, topic)
    with open_consumer(kafka, group, {"client.id": "someone"}) as member:
        member.subscribe([topic])
        poll_until([member], lambda: assigned(member) == {0}, "the assignment")
        found = done({group: client.list_consumer_groups()})[group]
        (listed,) = [g for g in found.valid if g.group_id == group]
        assert listed.state == ConsumerGroupState.STABLE
        assert not listed.is_simple_consumer_group
        described = done(client.describe_consumer_groups([group]))[group]
        assert described.state == ConsumerGroupState.STABLE
        assert described.partition_assignor == "range"
        (someone,) = described.members
        assert someone.client_id == "someone"
        assert [(p.topic, p.partition) for p in someone.assignment.topic_partitions] == [(topic, 0)]
        busy = refusal(lambda: done(client.delete_consumer_groups([group])))
        assert busy == KafkaError.NON_EMPTY_GROUP
        member.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    done(client.delete_consumer_groups([group]))
    remaining = done({group: client.list_consumer_groups()})[group]
    assert group not in {g.group_id for g in remaining.valid}
    assert committed(kafka, group, topic) is None
    missing = refusal(lambda: done(client.delete_consumer_groups([f"{group}-not-there"])))
    assert missing == KafkaError.GROUP_ID_NOT_FOUND


def test_offsets_of_a_group_are_listed_and_altered(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    client = admin(kafka)
    create_topic(kafka, topic, partitions=2)
    with open_consumer(kafka, group) as member:
        member.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
    changed = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 1, 8)])
    done(client.alter_consumer_group_offsets([changed]))
    asked = ConsumerGroupTopicPartitions(group)
    (found,) = done(client.list_consumer_group_offsets([asked])).values()
    assert {(p.partition, p.offset) for p in found.topic_partitions} == {(0, 5), (1, 8)}


def test_offsets_of_a_group_with_members_cannot_be_altered(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    client = admin(kafka)
    create_topic(kafka, topic)
    with open_consumer(kafka, group) as member:
        member.subscribe([topic])
        poll_until([member], lambda: assigned(member) == {0}, "the assignment")
        changed = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 8)])
        (answer,) = done(client.alter_consumer_group_offsets([changed])).values()
        assert answer.topic_partitions[0].error.code() == KafkaError.UNKNOWN_MEMBER_ID
    assert committed(kafka, group, topic) is None


def test_deleting_a_topic_deletes_its_committed_offsets(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    client = admin(kafka)
    create_topic(kafka, topic)
    with open_consumer(kafka, group) as member:
        member.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
    done(client.delete_topics([topic]))
    wait_until(
        lambda: topic not in client.list_topics(timeout=DEADLINE_S).topics, "the topic's end"
    )
    create_topic(kafka, topic)
    wait_until(lambda: committed(kafka, group, topic) is None, "no offset for the new topic")


def test_the_cluster_is_described(kafka: BrokerProcess) -> None:
    client = admin(kafka)
    found = client.describe_cluster().result(DEADLINE_S)
    assert [(n.host, n.port) for n in found.nodes] == [("127.0.0.1", kafka.port)]
    assert found.controller is not None
    assert found.cluster_id == client.list_topics(timeout=DEADLINE_S).cluster_id
    assert found.cluster_id


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.describe_user_scram_credentials(["nobody"])["nobody"],
        lambda client: client.elect_leaders(
            ElectionType.PREFERRED, [TopicPartition("no-such-topic", 0)]
        ),
    ],
    ids=["scram", "elect-leaders"],
)
def test_impossible_requests_are_refused_at_once(
    kafka: BrokerProcess, ask: Callable[[AdminClient], Any]
) -> None:
    client = admin(kafka)
    try:
        answers = list(ask(client).result(DEADLINE_S).values())
    except KafkaException as refused:
        answers = [refused.args[0]]
    assert all(error is not None for error in answers)
    assert KafkaError._TIMED_OUT not in [error.code() for error in answers]


def can_send(kafka: BrokerProcess, topic: str, partition: int) -> bool:
    try:
        return bool(send(producer(kafka), topic, [b"v"], partition) == [0])
    except KafkaException:
        return False


def done_in_order(futures: dict[Any, Any]) -> list[Any]:
    return list(done(futures).values())


def refusal(call: Callable[[], Any]) -> int:
    """The code of the error that the call must end with."""
    with pytest.raises(KafkaException) as refused:
        call()
    return int(refused.value.args[0].code())
