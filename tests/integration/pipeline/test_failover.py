"""Brokers of a cluster die: whoever is left is asked, and the flow goes on."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.brokers import KafkaCluster, KafkaNode
from tests.clients import DEADLINE_S
from tests.conftest import unique_name
from tests.integration.pipeline.test_kafka_client import records_in
from tests.integration.pipeline.world import World, eventually, running

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.client.settings import ClientSettings
from holdfast.errors import TransientError
from holdfast.kafka import fetch
from holdfast.kafka.cluster import GROUP, TRANSACTION, ClusterClient
from holdfast.kafka.connection import BrokerConnection
from holdfast.kafka.fetch import read_range, read_ranges
from holdfast.kafka.producer import TransactionalProducer
from holdfast.kafka.topic_ids import TopicIds
from holdfast.wire.records.record import Record

NOW = 1_700_000_000_000


@contextmanager
def without(cluster: KafkaCluster, node: KafkaNode, how: str = "killed") -> Iterator[None]:
    """A node that is dead, or stands still, and serves again afterwards."""
    if how == "killed":
        node.kill()
    else:
        os.kill(node.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        if how != "killed":
            os.kill(node.pid, signal.SIGCONT)
        cluster.start()


def settings_of(bootstrap: str) -> ClientSettings:
    return ClientSettings(bootstrap=bootstrap, request_timeout=30.0)


def create(cluster: KafkaCluster, replicas: list[list[int]]) -> str:
    """A topic whose partitions have these replicas; the first of each leads."""
    name, admin = unique_name("failover"), AdminClient({"bootstrap.servers": cluster.bootstrap})
    keep = {"retention.ms": "-1"}
    topic = NewTopic(name, len(replicas), replica_assignment=replicas, config=keep)
    admin.create_topics([topic])[name].result(DEADLINE_S)

    def led() -> bool:
        found = admin.list_topics(name, timeout=DEADLINE_S).topics[name].partitions
        return {p: m.leader for p, m in found.items()} == {
            p: nodes[0] for p, nodes in enumerate(replicas)
        }

    eventually(led, f"leaders of {name}")
    return name


def write(cluster: KafkaCluster, topic: str, *values: bytes) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all"})
    for value in values:  # a batch each
        producer.produce(topic, value, partition=0)
        assert producer.flush(DEADLINE_S) == 0


def values_of(settings: ClientSettings, topic: str, end: int) -> list[bytes | None]:
    read = read_ranges(ClusterClient(settings), topic, {0: (0, end)})
    assert read is not None
    assert read.unreadable == {}
    return [record.value for record in records_in(read.rows)]


@pytest.fixture(scope="module")
def membership(cluster: KafkaCluster) -> Iterator[bytes]:
    """Of a consumer in a group of its own, whose coordinator is the first node."""
    lookups = ClusterClient(settings_of(cluster.bootstrap))
    first = cluster.node(1).bootstrap
    name = named(lambda name: lookups.coordinator(GROUP, name)._name == first)
    topic = create(cluster, [[1]])
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": name})
    consumer.subscribe([topic])
    eventually(lambda: consumer.poll(0.1) is None and consumer.assignment(), "an assignment")
    yield bytes(consumer.consumer_group_metadata())
    consumer.close()


def named(fits: Callable[[str], bool]) -> str:
    """A name of a group or transactional id that some broker coordinates."""

    def found() -> str | None:
        try:
            return next((n for n in (unique_name("n") for _ in range(30)) if fits(n)), None)
        except TransientError:  # the topics of coordinators are made when they are first needed
            return None

    return str(eventually(found, "a name"))


def transaction(
    settings: ClientSettings, topic: str, value: bytes, name: str | None = None
) -> TransactionalProducer:
    """An open one with a record in it."""
    transactions = TransactionalProducer(settings, name or unique_name("id"), 1_000)
    transactions.begin().send_records(topic, 0, [Record(0, NOW, b"k", value, ())])
    return transactions


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_all_parts_continue_without_the_only_configured_broker(
    cluster: KafkaCluster, membership: bytes, how: str
) -> None:
    only = cluster.node(2)
    settings = settings_of(only.bootstrap)
    topic = create(cluster, [[3, 2, 1]])
    write(cluster, topic, b"a")
    ids = TopicIds(settings)
    before = ids.look_up([topic])
    with without(cluster, only, how):
        assert ids.look_up([topic]) == before  # a client that knew it
        fresh = TopicIds(settings)
        assert fresh.look_up([topic]) == before  # and one that is made now
        assert values_of(settings, topic, 1) == [b"a"]
        transaction(settings, topic, b"b").commit([], membership)
        lookups = ClusterClient(settings)
        found = retried(lambda: lookups.coordinator(TRANSACTION, "any"))
        assert found._name != only.bootstrap
        assert values_of(settings, topic, 3) == [b"a", b"b"]
    ids.close()
    fresh.close()


def retried(call: Callable[[], BrokerConnection]) -> BrokerConnection:
    def tried() -> BrokerConnection | None:
        try:
            return call()
        except TransientError:
            return None

    link: BrokerConnection = eventually(tried, "an answer")
    return link


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_reading_continues_when_the_leader_is_gone(
    cluster: KafkaCluster, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(fetch, "_CHUNK_BYTES", 1_000)
    topic = create(cluster, [[2, 3, 1]])
    values = [b"%d" % i * 300 for i in range(20)]
    write(cluster, topic, *values)
    rows = read_range(
        ClusterClient(settings_of(cluster.node(2).bootstrap)), topic, 0, 0, len(values)
    )
    found = [record.value for record in records_in(next(rows))]
    assert 0 < len(found) < len(values)
    with without(cluster, cluster.node(2), how):
        for portion in rows:
            found += [record.value for record in records_in(portion)]
    assert found == values


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_transaction_is_committed_when_its_coordinator_is_gone(
    cluster: KafkaCluster, membership: bytes, how: str
) -> None:
    settings, node = settings_of(cluster.bootstrap), cluster.node(3)
    lookups = ClusterClient(settings)
    name = named(lambda name: lookups.coordinator(TRANSACTION, name)._name == node.bootstrap)
    topic = create(cluster, [[1, 2, 3]])
    open_one = transaction(settings, topic, b"a", name)
    with without(cluster, node, how):
        open_one.commit([], membership)
        open_one.begin().send_records(topic, 0, [Record(0, NOW, b"k", b"b", ())])
        open_one.commit([], membership)
        assert values_of(settings, topic, 4) == [b"a", b"b"]
    open_one.close()


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_transaction_of_a_lost_leader_fails_and_the_next_succeeds(
    cluster: KafkaCluster, membership: bytes, how: str
) -> None:
    settings, attempts = settings_of(cluster.bootstrap), count()
    topic = create(cluster, [[2, 3, 1]])
    open_one = transaction(settings, topic, b"before")
    with without(cluster, cluster.node(2), how):

        def committed() -> bytes | None:
            value = b"%d" % next(attempts)
            try:
                open_one.begin().send_records(topic, 0, [Record(0, NOW, b"k", value, ())])
                open_one.commit([], membership)
            except TransientError:
                with suppress(TransientError):
                    open_one.renew()
                return None
            return value

        value = eventually(committed, "a commit")

        def seen() -> list[bytes | None]:
            return values_of(settings, topic, end_of(settings, topic))

        # Kafka acknowledges a commit before its markers are written: readers see it a moment later.
        eventually(lambda: seen()[-1:] == [value], "the committed record")
        values = seen()
    assert len(values) == len(set(values))
    open_one.close()


def end_of(settings: ClientSettings, topic: str) -> int:
    place = Partition(topic, 0)
    return Offsets(Connection(settings)).ends([place])[place]


def test_flow_continues_without_the_only_configured_broker(cluster: KafkaCluster) -> None:
    """The gate makes new clients when a step has failed: those begin with the brokers that are
    left."""
    node = cluster.node(2)
    world = World(node, partitions=3)
    with running(world):
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", b"1")
        world.send(b"o", b"2")
        eventually(lambda: world.processed() == [b"2"], "the first event")
        with without(cluster, node):
            for number in range(20):  # in every partition
                world.send(b"o%d" % number, b"3")
            world.flow.release("k").wait(DEADLINE_S)
            eventually(
                lambda: Counter(world.processed()) == Counter([b"1", b"2", *[b"3"] * 20]), "all"
            )
    world.check_each_event_once()
