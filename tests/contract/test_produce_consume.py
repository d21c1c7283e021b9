"""Promises to producers and consumers, on both brokers."""

import time

import pytest
from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition
from tests.brokers import BrokerProcess
from tests.clients import (
    DEADLINE_S,
    KEPT,
    create_topic,
    next_record,
    offset_of,
    offsets,
    open_consumer,
    producer,
    read,
    send,
    to_end,
    values,
    wait_until,
)

FIVE = [b"a", b"b", b"c", b"d", b"e"]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def test_five_messages_get_offsets_0_to_4(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    assert send(producer(kafka), topic, FIVE) == [0, 1, 2, 3, 4]
    assert [(m.offset(), m.value()) for m in read(kafka, topic)] == list(enumerate(FIVE))


def test_seek_to_2_returns_2_3_4_and_stops(kafka: BrokerProcess, topic: str, group: str) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, FIVE)
    with open_consumer(kafka, group) as client:
        client.assign([TopicPartition(topic, 0, 0)])
        assert offsets(to_end(client, 1)) == [0, 1, 2, 3, 4]
        client.seek(TopicPartition(topic, 0, 2))
        assert offsets(to_end(client, 1)) == [2, 3, 4]
        assert nothing_comes(client)
        (position,) = client.position([TopicPartition(topic, 0)])
        assert position.offset == 5


def test_records_sent_one_batch_can_be_read_from_its_middle(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    one_batch = producer(kafka, {"linger.ms": 100})
    send(one_batch, topic, [b"%d" % i for i in range(100)])
    assert offsets(read(kafka, topic, start=63)) == list(range(63, 100))


def test_keys_values_and_headers_come_back_as_sent(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    records: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]] = [
        (None, None, []),
        (b"", b"", [("", b"")]),
        (b"key", None, [("same", b"1"), ("same", b"2"), ("none", None)]),
        (None, b"value", [("ünïcode", "wörld".encode())]),
        (b"\x00\xff", bytes(range(256)), [("x", bytes(1000))]),
    ]
    client = producer(kafka)
    for key, value, headers in records:
        send(client, topic, [value], key=key, headers=headers)
    found = read(kafka, topic)
    assert [(m.key(), m.value(), m.headers() or []) for m in found] == records


def test_timestamps_of_the_producer_are_kept(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic, config=KEPT)
    sent = [1_000, 1_700_000_000_000, 1_600_000_000_123]
    client = producer(kafka)
    for timestamp in sent:
        send(client, topic, [b"v"], timestamp=timestamp)
    # 1 is Kafka's code for "create time".
    assert [m.timestamp() for m in read(kafka, topic)] == [(1, t) for t in sent]


def test_a_topic_with_log_append_time_has_the_brokers_time(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic, config={"message.timestamp.type": "LogAppendTime"})
    before = int(time.time() * 1000)
    send(producer(kafka), topic, [b"v"], timestamp=1_000)
    after = int(time.time() * 1000)
    (message,) = read(kafka, topic)
    kind, timestamp = message.timestamp()
    assert kind == 2
    assert before <= timestamp <= after


def test_one_partition_takes_batches_of_all_codecs(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    expected: list[bytes] = []
    for codec in CODECS:
        batch = [f"{codec}-{i}-".encode() * 20 for i in range(200)]
        # A linger lets the batch be large enough that the codec is really used.
        client = producer(kafka, {"compression.type": codec, "linger.ms": 50})
        assert send(client, topic, batch) == list(range(len(expected), len(expected) + 200))
        expected += batch
    found = read(kafka, topic)
    assert values(found) == expected
    assert offsets(found) == list(range(len(expected)))
    assert offsets(read(kafka, topic, start=350)) == list(range(350, 1000))


def test_large_messages_pass_where_the_topic_allows_them(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic, config={"max.message.bytes": "12000000"})
    client = producer(kafka, {"message.max.bytes": 12_000_000})
    large = bytes(range(256)) * 40_000  # 10 MB
    assert send(client, topic, [large, b"small", large]) == [0, 1, 2]
    found = read(kafka, topic, config={"fetch.message.max.bytes": 100_000})
    assert values(found) == [large, b"small", large]


def test_a_message_above_the_topics_limit_is_refused_and_leaves_no_trace(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic, config={"max.message.bytes": "10000"})
    client = producer(kafka, {"enable.idempotence": True})
    send(client, topic, [b"before"])
    with pytest.raises(KafkaException) as refused:
        send(client, topic, [bytes(20_000)])
    assert refused.value.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE
    assert values(read(kafka, topic)) == [b"before"]
    assert send(producer(kafka), topic, [b"after"]) == [1]


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_level_of_acknowledgement_stores_the_records(
    kafka: BrokerProcess, topic: str, acks: str
) -> None:
    create_topic(kafka, topic)
    client = producer(kafka, {"acks": acks})
    for value in FIVE:
        client.produce(topic, value, partition=0)
    assert client.flush(DEADLINE_S) == 0
    wait_until(lambda: values(read(kafka, topic)) == FIVE, f"five records sent with acks={acks}")


def test_partitions_are_independent_and_keep_order(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, partitions=6)
    client = producer(kafka)
    for i in range(600):
        client.produce(topic, b"%d" % i, partition=i % 6)
    assert client.flush(DEADLINE_S) == 0
    with open_consumer(kafka, group) as reader:
        reader.assign([TopicPartition(topic, p, 0) for p in range(6)])
        found = to_end(reader, 6)
    for p in range(6):
        mine = [m for m in found if m.partition() == p]
        assert offsets(mine) == list(range(100))
        assert values(mine) == [b"%d" % i for i in range(p, 600, 6)]


def test_offsets_for_times_finds_the_first_record_at_or_after(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, config=KEPT)
    client = producer(kafka)
    base = 1_700_000_000_000
    for i in range(10):
        send(client, topic, [b"v"], timestamp=base + 100 * i)
    with open_consumer(kafka, group) as reader:

        def find(timestamp: int) -> int:
            asked = [TopicPartition(topic, 0, timestamp)]
            return reader.offsets_for_times(asked, timeout=DEADLINE_S)[0].offset

        assert find(0) == 0
        assert find(base) == 0
        assert find(base + 1) == 1
        assert find(base + 250) == 3
        assert find(base + 900) == 9
        assert find(base + 901) == OFFSET_END


def test_watermarks_are_the_first_and_the_next_offset(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with open_consumer(kafka, group) as reader:
        partition = TopicPartition(topic, 0)
        assert reader.get_watermark_offsets(partition, timeout=DEADLINE_S) == (0, 0)
        send(producer(kafka), topic, FIVE)
        assert reader.get_watermark_offsets(partition, timeout=DEADLINE_S) == (0, 5)


def test_an_offset_outside_the_log_is_reported_and_resets_as_configured(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, FIVE)
    with pytest.raises(KafkaException) as error:
        read(kafka, topic, start=99, config={"auto.offset.reset": "error"})
    assert error.value.args[0].code() == KafkaError._AUTO_OFFSET_RESET
    assert values(read(kafka, topic, start=99)) == FIVE


def test_producing_to_a_new_name_creates_the_topic(kafka: BrokerProcess, topic: str) -> None:
    client = producer(kafka)
    offsets_seen: list[int] = []
    client.produce(topic, b"v", on_delivery=lambda e, m: offsets_seen.append(offset_of(m)))
    assert client.flush(DEADLINE_S) == 0
    assert offsets_seen == [0]
    assert values(read(kafka, topic)) == [b"v"]


def test_consuming_an_unknown_topic_reports_it_and_does_not_create_it(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    with open_consumer(kafka, group) as reader:
        reader.subscribe([topic])
        message = wait_until(lambda: reader.poll(0.2), "a report of the unknown topic")
        error = message.error()
        assert error is not None
        assert error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
        assert topic not in reader.list_topics(timeout=DEADLINE_S).topics


def test_a_consumer_waiting_at_the_end_gets_new_records(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with open_consumer(kafka, group, {"fetch.wait.max.ms": 5_000}) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        assert to_end(reader, 1) == []
        for i in range(10):
            send(producer(kafka), topic, [b"%d" % i])
            assert next_record(reader).value() == b"%d" % i


def test_a_keyless_record_is_refused_by_a_compacted_topic(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic, config={"cleanup.policy": "compact"})
    with pytest.raises(KafkaException) as refused:
        send(producer(kafka), topic, [b"v"])
    assert refused.value.args[0].code() == KafkaError.INVALID_RECORD
    assert send(producer(kafka), topic, [b"v"], key=b"k") == [0]


def test_compaction_keeps_the_last_value_of_each_key_at_its_offset(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(
        kafka,
        topic,
        config={
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.01",
            "segment.ms": "200",
            "delete.retention.ms": "0",
        },
    )
    client = producer(kafka)
    send(client, topic, [b"old"] * 5, key=b"changes")
    send(client, topic, [b"gone"], key=b"deleted")
    send(client, topic, [b"only"], key=b"stays")
    send(client, topic, [b"new"], key=b"changes")
    send(client, topic, [None], key=b"deleted")

    def compacted() -> bool:
        # A new record closes the segment before it, which makes it one that can be compacted.
        send(client, topic, [b"tick"], key=b"tick")
        time.sleep(0.2)
        return b"old" not in values(read(kafka, topic))

    wait_until(compacted, "compaction of the closed segments", timeout=DEADLINE_S)
    kept = {m.key(): (m.offset(), m.value()) for m in read(kafka, topic)}
    assert kept[b"stays"] == (6, b"only")
    assert kept[b"changes"] == (7, b"new")
    assert kept.get(b"deleted", (0, None))[1] is None


def test_records_past_the_retention_time_go_and_offsets_continue(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic, config={"retention.ms": "1000", "segment.ms": "300"})
    client = producer(kafka)
    long_ago = int(time.time() * 1000) - 3_600_000
    send(client, topic, FIVE, timestamp=long_ago)
    wait_until(lambda: read(kafka, topic) == [], "removal of the old records", timeout=DEADLINE_S)
    assert send(client, topic, [b"f"]) == [5]


def test_records_past_the_retention_size_go_and_offsets_continue(
    kafka: BrokerProcess, topic: str
) -> None:
    smallest = "1048576"  # Apache Kafka takes no smaller segments
    create_topic(kafka, topic, config={"retention.bytes": smallest, "segment.bytes": smallest})
    client = producer(kafka)
    assert send(client, topic, [bytes(100_000)] * 40) == list(range(40))

    def first_offset() -> int:
        return offset_of(read(kafka, topic)[0])

    wait_until(lambda: first_offset() >= 15, "removal of the oldest segments", timeout=DEADLINE_S)
    assert first_offset() < 35, "more than a segment is kept"
    assert send(client, topic, [b"next"]) == [40]


def test_a_time_too_far_in_the_future_is_refused(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic, config={"message.timestamp.after.max.ms": "60000"})
    in_an_hour = int(time.time() * 1000) + 3_600_000
    with pytest.raises(KafkaException) as refused:
        send(producer(kafka), topic, [b"v"], timestamp=in_an_hour)
    assert refused.value.args[0].code() == KafkaError.INVALID_TIMESTAMP
    assert read(kafka, topic) == []


def nothing_comes(client: Consumer) -> bool:
    """Nothing but a repeated end within a moment."""
    message = client.poll(0.5)
    return message is None or message.error() is not None
