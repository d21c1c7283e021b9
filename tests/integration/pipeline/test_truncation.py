"""A leader is elected that lacks events which were taken: the gate stops before it acts."""

from contextlib import suppress
from threading import Thread

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.brokers import BrokerProcess, KafkaCluster
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import World, eventually, gate_of

from holdfast.errors import GateStoppedError
from holdfast.flows.journal import Outcome
from holdfast.pipeline.gate.flow_gate import FlowGate, GateClosedError


def world_on(cluster: KafkaCluster) -> World:
    """A flow whose events are on two brokers, either of which may lead without the other."""
    world = World(cluster.node(1), partitions=1)
    events = world.names.events
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.delete_topics([events])[events].result(DEADLINE_S)
    config = {
        "min.insync.replicas": "1",
        "unclean.leader.election.enable": "true",
        "retention.ms": "-1",
    }

    def created() -> bool:
        new = NewTopic(events, 1, replica_assignment=[[3, 2]], config=config)
        return admin.create_topics([new])[events].exception(DEADLINE_S) is None

    eventually(created, "the topic of events")
    eventually(lambda: in_sync(cluster, events) == {2, 3}, "both replicas")
    return world


def in_sync(cluster: KafkaCluster, topic: str) -> set[int]:
    admin = AdminClient({"bootstrap.servers": cluster.node(1).bootstrap})
    partitions = admin.list_topics(topic, timeout=DEADLINE_S).topics[topic].partitions
    return set(partitions[0].isrs) if partitions else set()


def in_background(world: World, gate: FlowGate) -> Thread:
    def batch() -> None:
        with suppress(GateClosedError):
            while not Feeder(world.connection, gate).turn():
                pass

    thread = Thread(target=batch, daemon=True)
    thread.start()
    return thread


def test_a_log_that_was_cut_back_and_has_grown_again_stops_the_gate_until_the_loss_is_accepted(
    cluster: KafkaCluster,
) -> None:
    world = world_on(cluster)
    world.send(b"k", b"0")
    try:
        with gate_of(world) as gate:
            Feeder(world.connection, gate).batch()
            cluster.node(2).kill()
            eventually(lambda: in_sync(cluster, world.names.events) == {3}, "one replica")
            world.send(b"k", b"1", b"2")
            while gate.positions()[0].offset < 3:
                Feeder(world.connection, gate).turn()
            cluster.node(3).kill()
            cluster.node(2).start()
            eventually(lambda: in_sync(cluster, world.names.events) == {2}, "an unclean election")
            world.reconnect()
            world.send(b"k", b"a", b"b", b"c", b"d")  # at offsets 1 to 4
            thread = in_background(world, gate)
            eventually(lambda: "back to offset 1" in str(gate.trouble), "a gate that says why")
            assert gate.counts.taken == 3
        thread.join(DEADLINE_S)
        with pytest.raises(GateStoppedError, match="Events 1 to 2, which the gate has taken"):
            with gate_of(world):
                pass
        with gate_of(world, accept_loss=True) as gate:
            assert gate.positions()[0].offset == 3
            Feeder(world.connection, gate).batch()
        assert world.processed() == [b"0", b"1", b"2", b"c", b"d"]
        accepted = [each for each in world.journal() if each.outcome is Outcome.LOSS_ACCEPTED]
        assert [each.lost_until for each in accepted] == [3]
        assert "cut back to 1" in accepted[0].note
        with gate_of(world) as gate:  # accepted once, and no more to accept
            assert gate.positions()[0].offset == 5
    finally:
        cluster.start()


def test_log_that_was_cut_back_and_is_still_shorter_is_named_and_its_loss_can_be_accepted(
    cluster: KafkaCluster,
) -> None:
    world = world_on(cluster)
    world.send(b"k", b"0")
    try:
        with gate_of(world) as gate:
            Feeder(world.connection, gate).batch()
            cluster.node(2).kill()
            eventually(lambda: in_sync(cluster, world.names.events) == {3}, "one replica")
            world.send(b"k", b"1", b"2")
            while gate.positions()[0].offset < 3:
                Feeder(world.connection, gate).turn()
        cluster.node(3).kill()
        cluster.node(2).start()
        eventually(lambda: in_sync(cluster, world.names.events) == {2}, "an unclean election")
        world.reconnect()
        with pytest.raises(GateStoppedError, match="Events 1 to 2, which the gate has taken"):
            with gate_of(world):
                pass
        with gate_of(world, accept_loss=True) as gate:
            with pytest.raises(GateStoppedError, match="continues when new events have reached"):
                gate.check_logs()
        world.send(b"k", b"a", b"b", b"c", b"d")  # at offsets 1 to 4
        with gate_of(world) as gate:
            Feeder(world.connection, gate).batch()
        assert world.processed() == [b"0", b"1", b"2", b"c", b"d"]
    finally:
        cluster.start()


def test_a_new_leader_that_has_all_events_is_followed(cluster: KafkaCluster) -> None:
    world = world_on(cluster)
    world.send(b"k", b"0")
    try:
        with gate_of(world) as gate:
            Feeder(world.connection, gate).batch()
            before = gate.positions()[0]
            cluster.node(3).kill()
            world.send(b"k", b"1")
            while gate.positions()[0].offset < 2:
                Feeder(world.connection, gate).turn()
            assert gate.positions()[0].epoch > before.epoch
        assert world.processed() == [b"0", b"1"]
    finally:
        cluster.start()


def test_positions_and_committed_offsets_have_the_leader_epoch(kafka: BrokerProcess) -> None:
    world = World(kafka, partitions=1)
    world.send(b"k", b"0")
    with gate_of(world) as gate:
        for tasks in (False, True):
            world.send(b"k", b"1")
            Feeder(world.connection, gate, tasks=tasks).batch()
            epoch = gate.positions()[0].epoch
            consumer = Consumer(
                {"bootstrap.servers": kafka.bootstrap, "group.id": world.names.group}
            )
            places = [TopicPartition(world.names.events, 0)]
            (committed,) = consumer.committed(places, timeout=DEADLINE_S)
            consumer.close()
            assert committed.leader_epoch == epoch >= 0
    with gate_of(world) as gate:
        assert gate.positions()[0].epoch == epoch
