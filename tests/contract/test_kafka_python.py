"""kafka-python, a client written in Python from the protocol up."""

import time
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.structs import OffsetAndMetadata
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, committed, wait_until


def test_client_creates_produces_consumes_and_commits(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=1)])
    wait_until(lambda: topic in admin.list_topics(), "the new topic")
    admin.close()

    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap, acks="all", compression_type="gzip")
    sent = [
        producer.send(topic, key=b"k%d" % i, value=b"v%d" % i, headers=[("h", b"%d" % i)],
                      partition=i % 2)
        for i in range(100)
    ]  # fmt: skip
    assert [f.get(DEADLINE_S).offset for f in sent] == [i // 2 for i in range(100)]
    producer.close()

    consumer = KafkaConsumer(
        topic, bootstrap_servers=kafka.bootstrap, group_id=group, auto_offset_reset="earliest",
        enable_auto_commit=False,
    )  # fmt: skip
    know_topic(consumer, topic, 2)
    found = poll(consumer, 100)
    assert sorted((r.partition, r.offset, r.value) for r in found) == sorted(
        (i % 2, i // 2, b"v%d" % i) for i in range(100)
    )
    assert found[0].headers[0][0] == "h"
    consumer.commit()
    partition = TopicPartition(topic, 0)
    assert consumer.committed(partition) == 50
    assert consumer.end_offsets([partition]) == {partition: 50}
    consumer.close()
    assert committed(kafka, group, topic, 1) == 50


def test_two_of_its_members_share_a_topic(kafka: BrokerProcess, topic: str, group: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    admin.create_topics([NewTopic(topic, num_partitions=4, replication_factor=1)])
    wait_until(lambda: topic in admin.list_topics(), "the new topic")
    admin.close()
    members = [
        KafkaConsumer(topic, bootstrap_servers=kafka.bootstrap, group_id=group,
                      heartbeat_interval_ms=300, enable_auto_commit=False)
        for _ in range(2)
    ]  # fmt: skip
    for member in members:
        know_topic(member, topic, 4)

    def shared() -> bool:
        for member in members:
            member.poll(timeout_ms=50)
        return [len(member.assignment()) for member in members] == [2, 2]

    wait_until(shared, "two partitions each", timeout=DEADLINE_S)
    for member in members:
        member.close()


def test_transactions_of_this_client_are_atomic(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap, transactional_id=topic)
    producer.init_transactions()
    for value, commit in ((b"kept", True), (b"gone", False), (b"kept too", True)):
        producer.begin_transaction()
        producer.send(topic, value).get(DEADLINE_S)
        producer.send_offsets_to_transaction(
            {TopicPartition(topic, 0): OffsetAndMetadata(7 if commit else 9, "", -1)}, group
        )
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    producer.close()
    consumer = KafkaConsumer(
        topic, bootstrap_servers=kafka.bootstrap, auto_offset_reset="earliest", group_id=None,
        isolation_level="read_committed",
    )  # fmt: skip
    assert [r.value for r in poll(consumer, 2)] == [b"kept", b"kept too"]
    consumer.close()
    assert committed(kafka, group, topic) == 7


def know_topic(consumer: KafkaConsumer, topic: str, partitions: int) -> None:
    """Waits until the client knows the topic: one that leads its group without this metadata
    assigns nothing, joins again, and with kafka-python 3.0.12 may never read the second reply.
    """
    wait_until(
        lambda: len(consumer.partitions_for_topic(topic)) == partitions, f"partitions of {topic}"
    )


def poll(consumer: KafkaConsumer, count: int) -> list[Any]:
    found: list[Any] = []
    end = time.monotonic() + DEADLINE_S
    while len(found) < count:
        assert time.monotonic() < end, f"{len(found)} of {count} records"
        for records in consumer.poll(timeout_ms=200).values():
            found += records
    return found
