"""The gate stops before it acts on a state that it cannot trust, and reports why."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from kafka.protocol.consumer import LeaveGroupRequest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import (
    Ended,
    World,
    eventually,
    gate_of,
)
from tests.wire import Wire

from holdfast.client.leaving import close_member
from holdfast.errors import GateStoppedError, NotFoundError, TransientError
from holdfast.flows.journal import Outcome
from holdfast.flows.status import Position, encode_offset_metadata
from holdfast.kafka.fetch import Ranges
from holdfast.pipeline.gate import owner
from holdfast.pipeline.gate.driver_path import take_rows
from holdfast.pipeline.gate.flow_gate import FlowGate, GateClosedError
from holdfast.pipeline.gate.owner import INSTANCE_ID
from holdfast.pipeline.parts.ticket import REPLACED


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka, partitions=1)


def raw_consumer(world: World, **config: object) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": world.kafka.bootstrap,
            "group.id": world.names.group,
            "enable.auto.commit": False,
            **config,
        }
    )


def test_group_offsets_that_expired_are_taken_from_status(world: World) -> None:
    world.flow.hold("k")
    world.send(b"k", b"1")
    with gate_of(world) as gate:
        Feeder(world.connection, gate).batch()
        position = gate.positions()[0]
    admin = AdminClient({"bootstrap.servers": world.kafka.bootstrap})
    leave_group(world)
    futures = admin.delete_consumer_groups([world.names.group])
    futures[world.names.group].result(DEADLINE_S)
    with gate_of(world) as gate:
        assert gate.positions()[0].offset == position.offset
        assert gate._exclusive.states[0].events == 1
        assert not Feeder(world.connection, gate).batch()
    world.check_each_event_once()


def leave_group(world: World) -> None:
    """A static member's place is kept for half an hour: give it up in its name."""
    member = LeaveGroupRequest.MemberIdentity(
        version=4, member_id="", group_instance_id=INSTANCE_ID
    )
    with Wire(world.kafka) as wire:
        wire.ask(LeaveGroupRequest(version=4, group_id=world.names.group, members=[member]))


def test_an_offset_that_someone_else_committed_stops_the_gate(world: World) -> None:
    world.send(b"k", b"1")
    with gate_of(world) as gate:
        Feeder(world.connection, gate).batch()
        metadata = gate._exclusive.owner.group_metadata()
    meddle(world, metadata, Position(offset=0, control=0, step=1, owner="me"))
    with pytest.raises(GateStoppedError, match="Another program has changed"):
        with gate_of(world):
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("stranger", [True, False], ids=["another-owner", "another-step"])
def test_foreign_commit_is_seen_before_the_next_step(world: World, stranger: bool) -> None:
    world.send(b"k", b"1")
    with gate_of(world) as gate:
        before = gate.positions()[0]
        forged = replace(before, offset=1, step=before.step + 1)
        forged = replace(forged, owner="a stranger") if stranger else forged
        meddle(world, gate._exclusive.owner.group_metadata(), forged)
        if stranger:
            with pytest.raises(Ended) as ended:
                gate.run_exclusively(lambda flow: flow.begin_step())
            assert ended.value.code == REPLACED
        else:  # no state of that step can be found, so nothing is done
            Thread(target=_carry_out_nothing, args=(gate,), daemon=True).start()
            eventually(lambda: "not at step" in str(gate.trouble), "a gate that says why")
        assert gate.counts.taken == 0
    assert world.processed() == []


def test_membership_is_looked_up_once_until_it_is_renewed(world: World) -> None:
    """The lookup stops all threads of the process, so a step must not make one."""
    world.send(b"k", b"1")
    with gate_of(world) as gate:
        membership = gate._exclusive.owner
        first = membership.group_metadata()
        assert membership.group_metadata() is first
        membership.renew()
        assert membership.group_metadata() != first
        Feeder(world.connection, gate).batch()
    assert world.processed() == [b"1"]


def _carry_out_nothing(gate: FlowGate) -> None:
    with suppress(GateClosedError):
        gate.run_exclusively(lambda flow: None)


def meddle(world: World, group_metadata: bytes, position: Position) -> None:
    """Commit a position in the group's name."""
    meddler = Producer({"bootstrap.servers": world.kafka.bootstrap, "transactional.id": "meddler"})
    meddler.init_transactions(30)
    meddler.begin_transaction()
    metadata = encode_offset_metadata(position)
    place = TopicPartition(world.names.events, 0, position.offset, metadata)
    meddler.send_offsets_to_transaction([place], group_metadata, 30)
    meddler.commit_transaction(30)


def test_lost_status_stops_the_gate(world: World) -> None:
    with gate_of(world):
        pass
    leave_group(world)
    admin = AdminClient({"bootstrap.servers": world.kafka.bootstrap})
    admin.delete_consumer_groups([world.names.group])[world.names.group].result(DEADLINE_S)
    recreate(world, world.names.status, {"cleanup.policy": "compact"})
    with pytest.raises(GateStoppedError, match="Restore the status"):
        with gate_of(world):
            pass


def recreate(world: World, topic: str, config: dict[str, str] | None = None) -> None:
    admin = AdminClient({"bootstrap.servers": world.kafka.bootstrap})
    admin.delete_topics([topic])[topic].result(DEADLINE_S)

    def created() -> bool:
        new = NewTopic(topic, world.partitions, 1, config=config or {})
        return admin.create_topics([new])[topic].exception(30) is None

    def served() -> bool:
        try:
            return bool(world.ends(topic))
        except (NotFoundError, TransientError):  # its leader is named before it leads
            return False

    eventually(created, f"{topic} created again")
    eventually(served, f"{topic} served")


@pytest.mark.parametrize("topic", ["events", "dlq"])
def test_a_topic_created_again_stops_the_gate_before_its_next_step(
    world: World, topic: str
) -> None:
    """Offsets mean other events there: none is taken, though the new log is as long as the old."""
    name = getattr(world.names, topic)
    world.send(b"k", b"1", b"2")
    with gate_of(world) as gate:
        feeder = Feeder(world.connection, gate)
        ranges = feeder.plan()
        rows = feeder.rows(ranges)
        recreate(world, name)
        if topic == "events":
            world.send(b"k", b"other", b"events")
        taking = Thread(target=_take, args=(gate, ranges, rows), daemon=True)
        taking.start()
        eventually(lambda: _says(gate, "created again", "no topic"), "a gate that says why")
        assert gate.counts.taken == 0
    taking.join(DEADLINE_S)
    assert world.processed() == []
    if topic == "events":  # nor does a new start forget which topic it was
        with pytest.raises(GateStoppedError, match="created again"), gate_of(world):
            pass


def _says(gate: FlowGate, *words: str) -> bool:
    return any(word in str(gate.trouble) for word in words)


@pytest.mark.parametrize("topic", ["events", "processed"])
def test_a_changed_partition_count_stops_the_gate_before_its_next_step(
    world: World, topic: str
) -> None:
    name = getattr(world.names, topic)
    with gate_of(world) as gate:
        admin = AdminClient({"bootstrap.servers": world.kafka.bootstrap})
        admin.create_partitions([NewPartitions(name, 2)])[name].result(DEADLINE_S)
        eventually(lambda: world.client.topics.describe(name).partitions == 2, "two partitions")
        world.send(b"k", b"1", partition=0)
        rows = Feeder(world.connection, gate).rows({0: (0, 1)})
        taking = Thread(target=_take, args=(gate, {0: (0, 1)}, rows), daemon=True)
        taking.start()
        eventually(lambda: "partitions" in str(gate.trouble), "a gate that says why")
        assert gate.counts.taken == 0
    taking.join(DEADLINE_S)
    assert world.processed() == []


def test_an_idle_flow_says_that_its_topics_have_changed(world: World) -> None:
    with gate_of(world) as gate:
        recreate(world, world.names.dlq)
        gate.check_topics()
        assert "created again" in str(gate.trouble)


def test_another_consumer_in_the_group_stops_the_gate(kafka: BrokerProcess) -> None:
    world = World(kafka, partitions=2)
    with gate_of(world) as gate:
        stranger = raw_consumer(world, **{"session.timeout.ms": 6_000})
        stranger.subscribe([world.names.events])
        eventually(lambda: stranger.poll(0.1) is None and _is_stopped(gate), "the gate's word")
        with pytest.raises(GateStoppedError, match="another consumer uses the group"):
            gate._exclusive.begin_step()
        stranger.close()


def _is_stopped(gate: FlowGate) -> bool:
    try:
        gate._exclusive.owner.check()
    except GateStoppedError:
        return True
    return False


def test_events_deleted_before_they_were_taken_stop_the_gate_until_the_loss_is_accepted(
    world: World,
) -> None:
    with gate_of(world):
        pass
    world.send(b"k", b"1", b"2", b"3")
    admin = AdminClient({"bootstrap.servers": world.kafka.bootstrap})
    place = TopicPartition(world.names.events, 0, 2)
    admin.delete_records([place])[place].result(DEADLINE_S)
    with pytest.raises(GateStoppedError, match="accept the loss"):
        with gate_of(world):
            pass
    with gate_of(world, accept_loss=True) as gate:
        Feeder(world.connection, gate).batch()
    assert world.processed() == [b"3"]
    assert Outcome.LOSS_ACCEPTED in {r.outcome for r in world.journal()}


def test_a_range_that_would_skip_events_stops_the_gate(world: World) -> None:
    world.send(b"k", b"1", b"2")
    with gate_of(world) as gate:
        rows = Feeder(world.connection, gate).rows({0: (1, 2)})
        Thread(target=_take, args=(gate, {0: (1, 2)}, rows), daemon=True).start()
        eventually(lambda: "would be skipped" in str(gate.trouble), "a gate that says why")
    assert world.processed() == []


def _take(gate: FlowGate, ranges: Ranges, rows: pa.Table) -> None:
    with suppress(GateClosedError):
        take_rows(gate, ranges, rows, gate.settings, gate.epochs())


def test_old_owner_is_fenced_before_it_is_closed(
    kafka: BrokerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A static member that is assigned partitions while it closes can hang in librdkafka."""
    world = World(kafka, partitions=1)
    seen: list[tuple[bool, str]] = []

    def close(consumer: Consumer, config: Mapping[str, Any]) -> None:
        member = flow_owner._joined()
        joined = member.consumer is not consumer and member._assignment.is_set()
        try:
            consumer.commit(offsets=[TopicPartition(world.names.events, 0, 0)], asynchronous=False)
            refusal = "none"
        except KafkaException as error:
            refusal = error.args[0].name()
        seen.append((joined, refusal))
        close_member(consumer, config)

    with gate_of(world) as gate:
        flow_owner = gate._exclusive.owner
        with monkeypatch.context() as patch:
            patch.setattr(owner, "close_member", close)
            flow_owner.renew()
    assert seen == [(True, "FENCED_INSTANCE_ID")]
