"""aiokafka, asyncio's client."""

import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from tests.brokers import BrokerProcess
from tests.clients import committed, create_topic


async def test_client_produces_consumes_and_commits(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, partitions=2)
    producer = AIOKafkaProducer(
        bootstrap_servers=kafka.bootstrap, enable_idempotence=True, compression_type="lz4"
    )
    async with producer:
        sent = [
            await producer.send(topic, b"v%d" % i, key=b"k", partition=i % 2) for i in range(100)
        ]
        assert [(await f).offset for f in sent] == [i // 2 for i in range(100)]
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=kafka.bootstrap, group_id=group, auto_offset_reset="earliest",
        enable_auto_commit=False,
    )  # fmt: skip
    async with consumer:
        found = [await asyncio.wait_for(consumer.getone(), 20) for _ in range(100)]
        assert sorted((r.partition, r.offset, r.value) for r in found) == sorted(
            (i % 2, i // 2, b"v%d" % i) for i in range(100)
        )
        await consumer.commit()
        consumer.seek(TopicPartition(topic, 0), 48)
        again = [await asyncio.wait_for(consumer.getone(), 20) for _ in range(2)]
        assert [r.offset for r in again] == [48, 49]
    assert await asyncio.to_thread(committed, kafka, group, topic, 1) == 50


async def test_two_of_its_members_share_a_topic(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, partitions=4)

    def member() -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            topic, bootstrap_servers=kafka.bootstrap, group_id=group, heartbeat_interval_ms=300
        )

    async with member() as one, member() as two, asyncio.timeout(30):
        while [len(m.assignment()) for m in (one, two)] != [2, 2]:
            await asyncio.sleep(0.1)


async def test_transactions_of_this_client_are_atomic(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    producer = AIOKafkaProducer(bootstrap_servers=kafka.bootstrap, transactional_id=topic)
    async with producer:
        for value, commit in ((b"kept", True), (b"gone", False), (b"kept too", True)):
            await producer.begin_transaction()
            await producer.send_and_wait(topic, value)
            offset = 7 if commit else 9
            await producer.send_offsets_to_transaction({TopicPartition(topic, 0): offset}, group)
            await (producer.commit_transaction() if commit else producer.abort_transaction())
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=kafka.bootstrap, auto_offset_reset="earliest",
        isolation_level="read_committed",
    )  # fmt: skip
    async with consumer:
        found = [await asyncio.wait_for(consumer.getone(), 20) for _ in range(2)]
    assert [r.value for r in found] == [b"kept", b"kept too"]
    assert await asyncio.to_thread(committed, kafka, group, topic) == 7
