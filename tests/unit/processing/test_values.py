"""Our partitions and values are interchangeable with Arroyo's."""

import pickle
from datetime import datetime

from arroyo.backends.kafka import KafkaPayload
from arroyo.types import BrokerValue, Message, Partition, Topic

from holdfast.processing.values import FastPartition, FetchedValue

TOPIC = Topic("t")


def test_partition_equals_and_hashes_like_a_plain_one() -> None:
    fast, plain = FastPartition(TOPIC, 3), Partition(Topic("t"), 3)
    assert fast == plain
    assert plain == fast
    assert hash(fast) == hash(plain)
    by_fast: dict[Partition, int] = {fast: 1}
    assert by_fast[plain] == 1
    assert {plain: 1}[fast] == 1
    assert fast != Partition(TOPIC, 4)
    assert fast != "t:3"
    assert fast in TOPIC
    assert repr(fast) == repr(plain)


def test_partitions_sort_together() -> None:
    mixed = [FastPartition(TOPIC, 2), Partition(TOPIC, 0), FastPartition(TOPIC, 1)]
    assert [p.index for p in sorted(mixed)] == [0, 1, 2]
    assert Partition(TOPIC, 0) < FastPartition(TOPIC, 1) <= Partition(TOPIC, 1)
    assert FastPartition(TOPIC, 1) > Partition(TOPIC, 0)
    assert FastPartition(TOPIC, 1) >= Partition(TOPIC, 1)


def values() -> tuple[FetchedValue[KafkaPayload], BrokerValue[KafkaPayload]]:
    payload = KafkaPayload(b"k", b"v", [("h", b"1")])
    partition = FastPartition(TOPIC, 0)
    fetched = FetchedValue(payload, partition, 7, 1_500, {partition: 8})
    return fetched, BrokerValue(
        payload, Partition(TOPIC, 0), 7, datetime(1970, 1, 1, 0, 0, 1, 500000)
    )


def test_a_value_equals_arroyos_in_every_attribute() -> None:
    fetched, plain = values()
    assert fetched == plain
    assert plain == fetched
    assert fetched.timestamp == plain.timestamp
    assert fetched.committable == plain.committable
    assert fetched.next_offset == plain.next_offset
    assert fetched.payload == plain.payload
    assert fetched.replace(1) == plain.replace(1)
    assert fetched.replace(1).committable == plain.committable
    assert repr(fetched) == repr(plain)
    assert Message(fetched) == Message(plain)
    assert fetched != "something else"


def test_a_value_is_pickled_as_arroyos() -> None:
    fetched, plain = values()
    for protocol in (2, 5):
        copy = pickle.loads(pickle.dumps(Message(fetched), protocol))
        assert copy == Message(plain)
        assert type(copy.value) is BrokerValue
        assert type(copy.value.partition) is Partition
