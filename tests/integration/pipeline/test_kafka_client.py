"""Reading and writing in whole record batches, against what other clients see."""

import random
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.protocol.producer import EndTxnRequest
from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.clients import DEADLINE_S, raw_headers, read, values
from tests.conftest import unique_name
from tests.integration.pipeline.world import eventually
from tests.wire import Wire

from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.settings import ClientSettings
from holdfast.errors import (
    EventsLostError,
    HoldfastError,
    RecordTooLargeError,
    StaleStateError,
    TransientError,
    UnreachableError,
)
from holdfast.flows.keys import partition_of
from holdfast.kafka import fetch
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.errors import MembershipLostError, ReplacedError
from holdfast.kafka.fetch import read_range, read_ranges
from holdfast.kafka.group_member import Membership
from holdfast.kafka.packing import Rows, header_column
from holdfast.kafka.partitioning import partitions_of
from holdfast.kafka.producer import TransactionalProducer
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.record import Record, unpack_headers

NOW = 1_700_000_000_000
BATCH_BYTES = 20_000
KEEP = {"retention.ms": "-1"}


def settings_of(kafka: BrokerProcess, seconds: float = DEADLINE_S) -> ClientSettings:
    return ClientSettings(bootstrap=kafka.bootstrap, request_timeout=seconds)


def create(kafka: BrokerProcess, name: str, partitions: int = 1, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    made = admin.create_topics([NewTopic(name, partitions, 1, config={**KEEP, **config})])
    made[name].result(DEADLINE_S)
    offsets = Offsets(Connection(settings_of(kafka)))
    places = [Partition(name, p) for p in range(partitions)]

    def led() -> bool:
        """Apache Kafka names a leader a moment before it leads."""
        try:
            return bool(offsets.ends(places))
        except TransientError:
            return False

    eventually(led, f"leaders of {name}")


def producer(kafka: BrokerProcess, **config: Any) -> Producer:
    given = {name.replace("_", "."): value for name, value in config.items()}
    return Producer({"bootstrap.servers": kafka.bootstrap, "linger.ms": 20, **given})


def committed(kafka: BrokerProcess, topic: str, partition: int = 0) -> list[Message]:
    """The records that a consumer of committed records sees."""
    place, connection = Partition(topic, partition), Connection(settings_of(kafka))
    start = Offsets(connection).starts([place])[place]
    end = Offsets(connection, committed_only=False).ends([place])[place]
    reader = LogReader(connection, isolation="read_committed", timeout=DEADLINE_S)
    try:
        return [m for messages in reader.read(place, start, end) for m in messages]
    finally:
        reader.close()


def as_record(message: Message) -> Record:
    return Record(
        message.offset() or 0,
        message.timestamp()[1],
        message.key(),
        message.value(),
        tuple((name.encode(), value) for name, value in raw_headers(message)),
    )


def records_in(rows: pa.RecordBatch | pa.Table) -> list[Record]:
    return [
        Record(
            row["offset"], row["timestamp"], row["key"], row["value"],
            () if row["headers"] is None else unpack_headers(row["headers"]),
        )
        for row in rows.to_pylist()
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mixed:
    """A topic with all that a log may have, and what a consumer sees of each partition."""

    topic: str
    seen: dict[int, list[Record]]
    ends: dict[int, int]
    seed: int


@pytest.fixture(scope="module")
def mixed(kafka: BrokerProcess) -> Mixed:
    seed = random.randrange(2**32)
    chance, topic = random.Random(seed), unique_name("mixed")
    create(kafka, topic, 2)

    def write(writer: Producer, count: int) -> None:
        for i in range(count):
            size = chance.choice([0, 10, 100, 6_000])
            headers: list[tuple[str, str | bytes | None]] = [
                (f"h{n}", chance.choice([None, b"", b"v"])) for n in range(i % 4)
            ]
            writer.produce(
                topic,
                chance.choice([None, b"x" * size, chance.randbytes(size)]),
                chance.choice([None, b"", b"key", b"\x00\xff"]),
                partition=i % 2,
                timestamp=NOW + chance.randrange(-1_000, 1_000),
                headers=headers,
            )
        assert writer.flush(DEADLINE_S) == 0

    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        write(producer(kafka, compression_type=codec), 30)
    writers = [producer(kafka, transactional_id=f"{topic}-{i}", acks="all") for i in range(2)]
    for writer in writers:
        writer.init_transactions(DEADLINE_S)
    for commits in ((True, False), (False, True), (False, False)):  # ends in markers
        for writer in writers:
            writer.begin_transaction()
        for _ in range(3):
            for writer in writers:
                write(writer, 4)
        for writer, commit in zip(writers, commits, strict=True):
            (writer.commit_transaction if commit else writer.abort_transaction)(DEADLINE_S)
    connection = Connection(settings_of(kafka))
    places = [Partition(topic, p) for p in range(2)]

    def decided() -> dict[Partition, int] | None:
        """The ends, once all before them is decided: markers are written after the answer."""
        ends = Offsets(connection).ends(places)
        return ends if ends == Offsets(connection, committed_only=False).ends(places) else None

    latest = eventually(decided, "all markers")
    seen = {p: [as_record(m) for m in committed(kafka, topic, p)] for p in range(2)}
    assert len(seen[0]) == len(seen[1]) == 75 + 12
    return Mixed(topic, seen, {p.number: end for p, end in latest.items()}, seed)


@pytest.fixture
def cluster(kafka: BrokerProcess) -> Iterator[ClusterClient]:
    made = ClusterClient(settings_of(kafka))
    yield made
    made.forget()


@pytest.mark.parametrize("chunk", [1, 3_000, fetch._CHUNK_BYTES])
def test_a_range_is_read_as_a_consumer_of_committed_records_sees_it(
    mixed: Mixed, cluster: ClusterClient, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a batch is larger than an answer should be: then it comes alone."""
    monkeypatch.setattr(fetch, "_CHUNK_BYTES", chunk)
    chance = random.Random(mixed.seed)
    ranges = [(0, mixed.ends[0]), (mixed.ends[0] - 1, mixed.ends[0])]
    for _ in range(3):
        start = chance.randrange(mixed.ends[0])
        ranges.append((start, chance.randrange(start, mixed.ends[0]) + 1))
    for start, end in ranges:
        portions = list(read_range(cluster, mixed.topic, 0, start, end))
        assert all(rows.num_rows for rows in portions)
        found = [record for rows in portions for record in records_in(rows)]
        expected = [record for record in mixed.seen[0] if start <= record.offset < end]
        assert found == expected, (start, end, mixed.seed)


def test_ranges_of_several_partitions_are_read_at_once(
    mixed: Mixed, cluster: ClusterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for chunk in (1, 10**7):
        monkeypatch.setattr(fetch, "_CHUNK_BYTES", chunk)
        read = read_ranges(cluster, mixed.topic, {1: (0, mixed.ends[1]), 0: (40, 90)})
        assert read is not None
        assert read.unreadable == {}
        table = read.rows
        partitions = np.array(table["partition"])
        rows = records_in(table.drop_columns("partition"))
        for p, expected in ((1, mixed.seen[1]), (0, mixed.seen[0])):
            wanted = [r for r in expected if p == 1 or 40 <= r.offset < 90]
            assert [r for r, q in zip(rows, partitions, strict=True) if q == p] == wanted


def test_empty_range_is_readable_though_records_follow_it(
    mixed: Mixed, cluster: ClusterClient
) -> None:
    read = read_ranges(cluster, mixed.topic, {0: (0, 0), 1: (5, 5)})
    assert read is not None
    assert (read.rows.num_rows, read.unreadable) == (0, {})
    assert list(read_range(cluster, mixed.topic, 0, 0, 0)) == []


def test_unread_response_is_not_given_to_another_reader(
    mixed: Mixed, cluster: ClusterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "_CHUNK_BYTES", 1)
    left = read_range(cluster, mixed.topic, 0, 0, mixed.ends[0])
    next(left)
    for reads in (
        lambda: list(read_range(cluster, mixed.topic, 0, 0, 5)),
        lambda: read_ranges(cluster, mixed.topic, {0: (0, 5)}),
    ):
        with pytest.raises(AssertionError, match="left a reply"):
            reads()
    cluster.forget()
    portions = read_range(cluster, mixed.topic, 0, 0, 5)
    assert [record for rows in portions for record in records_in(rows)] == mixed.seen[0][:5]


def test_unread_events_below_the_log_start_are_reported_lost(
    kafka: BrokerProcess, cluster: ClusterClient, topic: str
) -> None:
    create(kafka, topic)
    writer = producer(kafka)
    for i in range(10):
        writer.produce(topic, b"%d" % i)
    assert writer.flush(DEADLINE_S) == 0
    place, admin = TopicPartition(topic, 0, 4), AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.delete_records([place])[place].result(DEADLINE_S)
    for reads in (
        lambda: list(read_range(cluster, topic, 0, 3, 10)),
        lambda: read_ranges(cluster, topic, {0: (3, 10)}),
    ):
        with pytest.raises(EventsLostError, match="offset 3"):
            reads()
    (rows,) = read_range(cluster, topic, 0, 4, 10)
    assert rows.column("value").to_pylist() == [b"%d" % i for i in range(4, 10)]


def test_range_beyond_the_log_is_an_error_after_retries(
    mixed: Mixed, cluster: ClusterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "_MOST_EMPTY", 2)
    with pytest.raises(TransientError, match="gives nothing"):
        list(read_range(cluster, mixed.topic, 0, mixed.ends[0] - 2, mixed.ends[0] + 1))


def bulk(kafka: BrokerProcess, name: str, seconds: float = DEADLINE_S) -> TransactionalProducer:
    made = TransactionalProducer(settings_of(kafka, seconds), name, BATCH_BYTES)
    eventually(lambda: renewed(made), "a coordinator")
    return made


def renewed(transactions: TransactionalProducer) -> bool:
    try:
        transactions.renew()
    except TransientError:
        return False
    return True


def plain(*values: bytes, key: bytes | None = b"k") -> list[Record]:
    return [Record(-1, NOW + i, key, value, ()) for i, value in enumerate(values)]


@dataclass(slots=True)
class Member:
    """A group whose one member this is, and the topic that it has committed offsets of."""

    consumer: Consumer
    topic: str
    group: str

    @property
    def metadata(self) -> bytes:
        return self.consumer.consumer_group_metadata()  # type: ignore[no-any-return]

    def at(self, offset: int, metadata: str = "m") -> list[TopicPartition]:
        return [TopicPartition(self.topic, 0, offset, metadata)]

    def found(self) -> tuple[int, str | None]:
        (place,) = self.consumer.committed([TopicPartition(self.topic, 0)], timeout=DEADLINE_S)
        return place.offset, place.metadata


def join(kafka: BrokerProcess, topic: str, group: str) -> Member:
    consumer = Consumer(
        {"bootstrap.servers": kafka.bootstrap, "group.id": group, "group.instance.id": "gate",
         "isolation.level": "read_committed", "enable.auto.commit": False, "log_level": 0}
    )  # fmt: skip
    consumer.subscribe([topic])
    eventually(lambda: consumer.poll(0.05) or consumer.assignment(), "an assignment")
    return Member(consumer, topic, group)


@pytest.fixture(scope="module")
def member(kafka: BrokerProcess) -> Iterator[Member]:
    topic = unique_name("source")
    create(kafka, topic)
    made = join(kafka, topic, unique_name("group"))
    yield made
    made.consumer.close()


def test_committed_records_appear_once_and_aborted_ones_never(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    create(kafka, topic, 3)
    chance = random.Random(5)
    transactions = bulk(kafka, topic)
    sent: list[list[tuple[Any, ...]]] = [[], [], []]
    for turn, commits in enumerate((True, False, True, True)):
        keys = [chance.randbytes(chance.randrange(12)) for _ in range(300)]
        values = [None if i % 9 == 4 else chance.randbytes(i) for i in range(300)]
        times = np.array([NOW + chance.randrange(-500, 500) for _ in keys])
        rows = Rows(
            times, pa.array(keys, pa.binary()), pa.array(values, pa.binary()),
            pa.nulls(300, pa.binary()), header_column(b"s", b"%d:" % turn, pa.array(range(300))),
        )  # fmt: skip
        transactions.begin()
        targets = partitions_of(rows.keys, 3)
        for p in range(3):
            transactions.send_rows(topic, p, rows.take(np.flatnonzero(targets == p)))
        if not commits:
            transactions.renew()
            continue
        transactions.commit(member.at(turn), member.metadata)
        for i, (key, value) in enumerate(zip(keys, values, strict=True)):
            record = (int(times[i]), key, value, ((b"s", b"%d:%d" % (turn, i)),))
            sent[partition_of(key, 3)].append(record)
    transactions.close()
    for p in range(3):
        assert [as_record(m)[1:] for m in committed(kafka, topic, p)] == sent[p]


def test_an_older_client_of_the_same_id_is_refused(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    create(kafka, topic)
    older, newer = bulk(kafka, topic), bulk(kafka, f"{topic}-other")
    older.begin()
    older.send_records(topic, 0, plain(b"open"))
    newer.transactional_id = older.transactional_id
    newer.renew()
    with pytest.raises(StaleStateError):
        older.commit(member.at(70), member.metadata)
    newer.begin()
    newer.send_records(topic, 0, plain(b"good"))
    newer.commit(member.at(71), member.metadata)
    older.begin()
    with pytest.raises(StaleStateError):
        older.send_records(topic, 0, plain(b"late"))
    assert [m.value() for m in committed(kafka, topic)] == [b"good"]
    assert member.found() == (71, "m")
    older.renew()
    older.begin()
    older.send_records(topic, 0, plain(b"again"))
    older.commit(member.at(72), member.metadata)
    assert [m.value() for m in committed(kafka, topic)] == [b"good", b"again"]
    for each in (older, newer):
        each.close()


def as_bytes(member: Membership) -> bytes:
    named = b"\1" if member.instance is None else b"\0" + member.instance.encode() + b"\0"
    texts = member.group.encode() + b"\0" + member.member.encode() + b"\0"
    return b"CGMDv2:" + struct.pack("=i", member.generation) + texts + named


def test_only_the_member_of_this_generation_commits(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create(kafka, topic)
    first = join(kafka, topic, group)
    transactions = bulk(kafka, topic)
    now = Membership.read(first.metadata)
    stale = Membership(group, now.generation - 1, now.member, now.instance)
    unnamed = Membership(group, now.generation, "somebody", None)
    second = join(kafka, topic, group)
    refusals: list[tuple[bytes, type[Exception] | tuple[type[Exception], ...]]] = [
        (as_bytes(stale), (StaleStateError, ReplacedError)),
        (as_bytes(unnamed), MembershipLostError),
        (first.metadata, ReplacedError),
    ]
    for metadata, error in refusals:
        transactions.begin()
        transactions.send_records(topic, 0, plain(b"must not be"))
        with pytest.raises(error):
            transactions.commit(first.at(9, "must not be"), metadata)
        transactions.renew()
    transactions.begin()
    transactions.send_records(topic, 0, plain(b"good"))
    text = '{"control": 7, "owner": "größe"}'
    transactions.commit(second.at(5, text), second.metadata)
    transactions.close()
    assert [m.value() for m in committed(kafka, topic)] == [b"good"]
    assert second.found() == (5, text)
    for each in (first, second):
        each.consumer.close()


def test_an_old_generation_and_a_replaced_member_are_different_errors(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    create(kafka, topic)
    now = Membership.read(member.metadata)
    stale = Membership(now.group, now.generation - 1, now.member, now.instance)
    transactions = bulk(kafka, topic)
    transactions.begin()
    transactions.send_records(topic, 0, plain(b"must not be"))
    with pytest.raises(StaleStateError):
        transactions.commit(member.at(99), as_bytes(stale))
    transactions.renew()
    transactions.close()
    assert committed(kafka, topic) == []
    assert member.found()[0] != 99


def test_records_that_are_refused_for_their_size_are_named_with_their_topic(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    small: dict[str, Any] = {"max.message.bytes": "3000"}
    create(kafka, topic, **small)
    large = Record(-1, NOW, b"k", b"x" * 5_000, ())
    records = [*plain(*(b"%d" % i for i in range(7))), large, *plain(b"after", b"end")]
    transactions = bulk(kafka, topic)
    transactions.batch_bytes = 2_000
    transactions.begin()
    transactions.send_records(topic, 0, records)
    with pytest.raises(RecordTooLargeError):
        transactions.commit(member.at(50), member.metadata)
    assert transactions.refused() == {(topic, b"k", large.value)}
    transactions.renew()
    transactions.begin()
    transactions.send_records(topic, 0, [r for r in records if r is not large])
    transactions.commit(member.at(51), member.metadata)
    assert transactions.refused() == set()
    transactions.close()
    values = [m.value() for m in committed(kafka, topic)]
    assert values == [*(b"%d" % i for i in range(7)), b"after", b"end"]


def test_a_transaction_may_have_offsets_alone(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    transactions = bulk(kafka, topic)
    for turn, text in ((80, "x"), (81, "")):
        transactions.begin()
        transactions.commit(member.at(turn, text), member.metadata)
        assert member.found() == (turn, text)
    transactions.close()


def test_late_end_of_the_last_transaction_does_not_end_this_one(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    """A commit without a reply is sent again. Its first copy may arrive at any time after that."""
    create(kafka, topic)
    transactions = bulk(kafka, topic)

    def seen() -> list[bytes | None]:
        return values(read(kafka, topic))

    for turn in range(3):
        transactions.begin()
        last = transactions._producer
        transactions.send_records(topic, 0, plain(b"first"))
        transactions.commit(member.at(2 * turn), member.metadata)
        eventually(lambda: seen()[-1:] == [b"first"], "the first transaction")
        transactions.begin()
        transactions.send_records(topic, 0, plain(b"second"))
        late = EndTxnRequest(
            version=5, transactional_id=transactions.transactional_id, producer_id=last[0],
            producer_epoch=last[1], committed=True,
        )  # fmt: skip
        with Wire(kafka) as wire:
            assert wire.ask(late).error_code == ErrorCode.PRODUCER_FENCED
        assert seen()[-1:] == [b"first"]
        transactions.commit(member.at(2 * turn + 1), member.metadata)
        eventually(lambda: seen()[-1:] == [b"second"], "the second transaction")
    transactions.close()
    assert seen() == [b"first", b"second"] * 3


def test_batch_numbers_continue_after_the_last(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    """After two thousand million records: a broker takes any number as the first one of an id. In
    version 2 of transactions, the numbers begin again with each transaction."""
    create(kafka, topic)
    transactions = bulk(kafka, topic)
    transactions.renew()
    transactions._version = 1
    transactions._sequences[topic, 0] = 2**31 - 8
    for turn in range(3):  # before, across and behind
        transactions.begin()
        transactions.send_records(topic, 0, plain(*(b"%d" % i for i in range(3))))
        transactions.send_records(topic, 0, plain(b"3"))
        transactions.commit(member.at(turn), member.metadata)
    assert transactions._sequences[topic, 0] == 4
    transactions.close()
    assert [m.value() for m in committed(kafka, topic)] == [b"0", b"1", b"2", b"3"] * 3


def test_missing_topic_is_named_as_the_cause(kafka: BrokerProcess, topic: str) -> None:
    create(kafka, topic)
    transactions = bulk(kafka, topic)
    transactions.begin()
    missing = f"{topic}-missing"

    def write() -> None:
        transactions.enlist([(topic, 0), (missing, 0)])
        transactions.send_records(missing, 0, plain(b"lost"))

    with pytest.raises(HoldfastError, match=missing):
        write()
    transactions.close()


def cut(cluster: ClusterClient) -> None:
    for connection in cluster._connections.values():
        connection._socket.shutdown(socket.SHUT_RDWR)


def test_connection_cut_during_a_send_is_a_transient_error(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    create(kafka, topic)
    transactions = bulk(kafka, topic)
    transactions.begin()
    transactions.send_records(topic, 0, plain(b"lost"))
    for _ in range(3):
        transactions.send_records(topic, 0, plain(b"lost, too"))
    assert [len(waiting) for waiting in transactions._in_flight.values()] == [3]
    cut(transactions._connections.leaders)
    with pytest.raises(UnreachableError):
        transactions.commit(member.at(60), member.metadata)
    transactions.renew()
    transactions.begin()
    transactions.send_records(topic, 0, plain(b"good"))
    transactions.commit(member.at(61), member.metadata)
    transactions.close()
    assert [m.value() for m in committed(kafka, topic)] == [b"good"]
    assert member.found()[0] == 61


def test_connections_that_are_cut_while_idle_are_opened_again_within_a_transaction(
    kafka: BrokerProcess, topic: str, member: Member
) -> None:
    create(kafka, topic)
    transactions = bulk(kafka, topic)
    transactions.begin()
    transactions.send_records(topic, 0, plain(b"before"))
    assert not any(transactions._in_flight.values())
    for cluster in (transactions._connections.leaders, transactions._connections.coordinators):
        cut(cluster)
    transactions.send_records(topic, 0, plain(b"after"))
    transactions.commit(member.at(62), member.metadata)
    transactions.close()
    assert [m.value() for m in committed(kafka, topic)] == [b"before", b"after"]
    assert member.found()[0] == 62


def test_a_broker_that_is_killed_amid_a_transaction_leaves_nothing_of_it(tmp_path: Path) -> None:
    topic = "t"
    with EmbeddedBroker(tmp_path) as kafka:
        create(kafka, topic)
        member, cluster = join(kafka, topic, "g"), ClusterClient(settings_of(kafka))
        transactions = bulk(kafka, "id", seconds=15)
        transactions.begin()
        transactions.send_records(topic, 0, plain(b"before"))
        transactions.commit(member.at(1), member.metadata)
        metadata = member.metadata
        assert [r.num_rows for r in read_range(cluster, topic, 0, 0, 1)] == [1]
        transactions.begin()
        transactions.send_records(topic, 0, plain(*(b"lost" for _ in range(50))))
        kafka.kill()
        with pytest.raises(TransientError):
            transactions.commit(member.at(2), metadata)
        with pytest.raises(TransientError):
            transactions.renew()
        kafka.start()
        eventually(lambda: renewed(transactions), "a renewed client")
        transactions.begin()
        transactions.send_records(topic, 0, plain(b"after"))
        transactions.commit(member.at(3), metadata)
        transactions.close()
        assert [m.value() for m in committed(kafka, topic)] == [b"before", b"after"]
        # The reader's connections were closed while they idled.
        assert [r.num_rows for r in read_range(cluster, topic, 0, 0, 2)] == [1]
        cluster.forget()
        assert member.found() == (3, "m")
        member.consumer.close()
