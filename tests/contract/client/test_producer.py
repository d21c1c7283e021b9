"""The producer, over both brokers."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S

import holdfast
from holdfast.errors import (
    ConflictError,
    DeliveryError,
    InvalidArgumentError,
    NotFoundError,
    RecordTooLargeError,
)
from holdfast.flows.keys import partition_of


@dataclass
class Order:
    id: int
    paid: bool


def read(client: holdfast.Client, topic: str) -> list[holdfast.Record]:
    with client.consumer(topic) as consumer:
        return list(consumer.records(until="end"))


def test_delivery_has_topic_partition_offset_and_timestamp(
    client: holdfast.Client, topic: str
) -> None:
    client.topics.create(topic, partitions=3)
    moment = datetime.now(UTC).replace(microsecond=123_000) - timedelta(hours=1)
    sent = client.send(topic, b"v", key="k", timestamp=moment).result()
    assert (sent.topic, sent.partition, sent.offset) == (topic, partition_of(b"k", 3), 0)
    assert sent.timestamp == moment


def test_values_keys_headers_and_time_arrive_as_sent(client: holdfast.Client, topic: str) -> None:
    client.topics.create(topic)
    moment = round(time.time() * 1000) - 60_000
    headers = [("a", "1"), ("b", None), ("a", b"\xff")]
    client.send(topic, {"id": 7}, key="k", headers=headers, timestamp=moment)
    client.send(topic, Order(7, True), key=b"\x00")
    client.send(topic, "text")
    client.send(topic, b"\xff\x00")
    client.send(topic, None, key="gone")
    client.close()
    one, two, three, four, five = read(client, topic)
    assert one.json() == {"id": 7}
    assert one.key == b"k"
    assert one.headers == [("a", b"1"), ("b", None), ("a", b"\xff")]
    assert one.header("a") == b"\xff"
    assert one.timestamp_ms == moment
    assert two.json() == {"id": 7, "paid": True}
    assert two.key == b"\x00"
    assert three.text() == "text"
    assert (four.value, four.key) == (b"\xff\x00", None)
    assert (five.value, five.key) == (None, b"gone")


def test_offsets_rise_by_one_and_a_key_stays_in_one_partition(
    client: holdfast.Client, topic: str
) -> None:
    client.topics.create(topic, partitions=4)
    deliveries = [
        (f"k{i % 17}", client.send(topic, str(i), key=f"k{i % 17}")) for i in range(2_000)
    ]
    seen: dict[int, list[int]] = {}
    for key, delivery in deliveries:
        sent = delivery.result()
        assert sent.partition == partition_of(key.encode(), 4)
        seen.setdefault(sent.partition, []).append(sent.offset)
    for offsets in seen.values():
        assert offsets == list(range(len(offsets)))


def test_a_full_queue_makes_send_wait_instead_of_failing(
    client: holdfast.Client, topic: str
) -> None:
    client.topics.create(topic)
    with client.producer(kafka={"queue.buffering.max.messages": 50}) as producer:
        for i in range(2_000):
            producer.send(topic, str(i))
    assert len(read(client, topic)) == 2_000


def test_a_record_that_is_too_large_fails_its_delivery(client: holdfast.Client, topic: str) -> None:
    client.topics.create(topic, config={"max.message.bytes": "2000"})
    delivery = client.send(topic, b"x" * 5_000)
    with pytest.raises(RecordTooLargeError):
        delivery.result()
    client.close()  # the failure was seen, so it is not raised again


def test_failed_delivery_that_was_not_awaited_fails_the_flush(
    client: holdfast.Client, topic: str
) -> None:
    client.topics.create(topic, config={"max.message.bytes": "2000"})
    producer = client.producer()
    producer.send(topic, b"fits").result()  # the limit is per batch: it must not share one
    producer.send(topic, b"x" * 5_000)
    with pytest.raises(DeliveryError, match="1 records that were sent did not arrive") as caught:
        producer.flush()
    assert not caught.value.transient
    producer.flush()
    assert [r.value for r in read(client, topic)] == [b"fits"]


def test_unknown_partition_is_not_found(client: holdfast.Client, topic: str) -> None:
    client.topics.create(topic)
    with pytest.raises(NotFoundError):
        client.send(topic, b"x", partition=7).result(DEADLINE_S)


def test_value_that_cannot_be_encoded_is_refused_at_once(
    client: holdfast.Client, topic: str
) -> None:
    with pytest.raises(InvalidArgumentError):
        client.send(topic, object())


def test_a_transaction_appears_wholly_or_not_at_all(client: holdfast.Client, topic: str) -> None:
    client.topics.create(topic)
    with client.producer(transactional_id=topic) as producer:
        with producer.transaction():
            producer.send(topic, "one")
            producer.send(topic, "two")
        try:
            with producer.transaction():
                producer.send(topic, "lost").result()
                raise KeyError
        except KeyError:
            pass
        with producer.transaction():
            producer.send(topic, "three")
    assert [r.text() for r in read(client, topic)] == ["one", "two", "three"]


def test_a_newer_producer_of_the_same_id_fences_the_older(
    client: holdfast.Client, topic: str
) -> None:
    client.topics.create(topic)
    old = client.producer(transactional_id=topic)
    with old.transaction():
        old.send(topic, "before")
    new = client.producer(transactional_id=topic)

    def late() -> None:
        with old.transaction():
            old.send(topic, "late")

    with pytest.raises(holdfast.TerminalError):
        late()
    with new.transaction():
        new.send(topic, "after")
    assert [r.text() for r in read(client, topic)] == ["before", "after"]


def test_a_producer_without_transactions_says_so(client: holdfast.Client) -> None:
    with pytest.raises(ConflictError, match="transactional_id"), client.producer().transaction():
        pass


def test_offsets_and_output_are_committed_together(
    kafka: BrokerProcess, client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    client.topics.create(f"{topic}.out")
    for i in range(6):
        client.send(topic, str(i))
    client.close()
    with client.producer(transactional_id=topic) as producer:
        with client.consumer(topic, group=group, auto_commit=False) as consumer:
            for record in consumer.records(limit=3):
                with producer.transaction() as transaction:
                    producer.send(f"{topic}.out", record.value)
                    transaction.send_offsets(consumer)
            failed = False
            for record in consumer.records(until="end"):
                try:
                    with producer.transaction() as transaction:
                        producer.send(f"{topic}.out", record.value)
                        transaction.send_offsets(consumer)
                        if not failed and record.text() == "4":
                            failed = True
                            raise KeyError
                except KeyError:
                    consumer.rewind()
        with client.consumer(topic, group=f"{group}-auto") as consumer:
            records = consumer.records(limit=1)
            next(records)
            with pytest.raises(ConflictError, match="auto_commit=False"):
                with producer.transaction() as transaction:
                    transaction.send_offsets(consumer)
    assert [r.text() for r in read(client, f"{topic}.out")] == list("012345")
    assert client.groups.describe(group).lag[0].committed == 6
