"""Flows, over both brokers: topics, registry, commands, receipts, status. The gate is played here
by records that it would write."""

import threading
import time
from dataclasses import replace

import pytest
from tests.clients import DEADLINE_S

import holdfast
from holdfast.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidArgumentError,
    NotFoundError,
    TimedOutError,
)
from holdfast.flows.commands import DeadLetter, Hold, Release, Skip, Void, decode_command
from holdfast.flows.journal import CommandReference, JournalRecord, Outcome, encode_journal
from holdfast.flows.keys import partition_of
from holdfast.flows.names import REGISTRY_TOPIC
from holdfast.flows.registry import Limits
from holdfast.flows.status import (
    Entry,
    KeyState,
    Position,
    encode_active,
    encode_entry,
    encode_position,
)


def entry(key: bytes, state: KeyState = KeyState.HELD, **more: object) -> Entry:
    fields: dict[str, object] = {"command_id": "c", "actor": "ana", "since": 1, "cut": 5}
    fields |= {"held_from": 0, "drained_through": 4, "events": 2, **more}
    return Entry(key=key, state=state, **fields)  # type: ignore[arg-type]


def put(
    client: holdfast.Client, topic: str, partition: int, record: tuple[bytes, bytes | None]
) -> None:
    key, value = record
    client.send(topic, value, key=key, partition=partition).result()


def test_creating_a_flow_makes_its_topics_and_registers_it(
    client: holdfast.Client, flow_name: str
) -> None:
    limits = Limits(key_events=10)
    client.flow(flow_name).create(
        partitions=3, overflow="dead-letter", limits=limits, schema="id BIGINT"
    )
    partitions = {
        t.name: t.partitions for t in client.topics.list() if t.name.startswith(f"{flow_name}.")
    }
    assert partitions == {
        f"{flow_name}.{part}": 1 if part == "control" else 3
        for part in ("events", "control", "journal", "status", "held", "processed", "dlq")
    }
    for part in ("control", "journal", "held", "processed", "dlq"):
        assert client.topics.config(f"{flow_name}.{part}")["retention.ms"].value == "-1"
    for part in ("held", "processed", "dlq"):
        config = client.topics.config(f"{flow_name}.{part}")
        events = client.topics.config(f"{flow_name}.events")
        assert int(config["max.message.bytes"].value) > int(events["max.message.bytes"].value)
        assert config["message.timestamp.after.max.ms"].value == str(2**63 - 1)
    assert client.topics.config(f"{flow_name}.status")["cleanup.policy"].value == "compact"
    assert client.topics.config(REGISTRY_TOPIC)["cleanup.policy"].value == "compact"
    described = client.flow(flow_name).describe()
    assert (described.partitions, described.overflow) == (3, "dead-letter")
    assert (described.limits, described.schema) == (limits, "id BIGINT")
    assert flow_name in [flow.name for flow in client.flows()]


def test_changing_one_limit_keeps_the_others(client: holdfast.Client, flow_name: str) -> None:
    limits = Limits(key_events=5, key_bytes=6, flow_events=7, flow_bytes=8)
    flow = client.flow(flow_name).create(partitions=1, limits=limits)
    changed = replace(limits, flow_events=70)
    assert flow.change(limits={"flow_events": 70}).limits == changed
    assert flow.change(overflow="dead-letter").limits == changed
    with pytest.raises(InvalidArgumentError, match="no limit 'events'"):
        flow.change(limits={"events": 5})
    assert client.flow(flow_name).describe().limits == changed


def test_a_flow_is_created_once(client: holdfast.Client, flow_name: str) -> None:
    client.flow(flow_name).create(partitions=1)
    with pytest.raises(AlreadyExistsError):
        client.flow(flow_name).create(partitions=1)


def test_a_creation_that_was_interrupted_can_be_repeated(
    client: holdfast.Client, flow_name: str
) -> None:
    client.topics.create(f"{flow_name}.events", partitions=2)
    client.topics.create(f"{flow_name}.control", partitions=1)
    client.flow(flow_name).create(partitions=2)
    assert client.topics.config(f"{flow_name}.control")["retention.ms"].value == "-1"


def test_topics_that_do_not_fit_are_refused(client: holdfast.Client, flow_name: str) -> None:
    client.topics.create(f"{flow_name}.events", partitions=2)
    with pytest.raises(ConflictError, match="2 partitions"):
        client.flow(flow_name).create(partitions=3)
    assert flow_name not in [flow.name for flow in client.flows()]


def test_command_to_an_unknown_flow_is_refused_and_creates_no_topic(
    client: holdfast.Client, flow_name: str
) -> None:
    with pytest.raises(NotFoundError, match=f"no flow '{flow_name}'"):
        client.flow(flow_name).hold("a")
    assert f"{flow_name}.control" not in [t.name for t in client.topics.list()]


def test_commands_are_on_the_control_log_in_order(client: holdfast.Client, flow_name: str) -> None:
    flow = client.flow(flow_name).create(partitions=3)
    receipts = [
        flow.hold("a", reason="disputed", expires_in=60, actor="ana", command_id="one"),
        flow.release("a", pace=10),
        flow.hold(b"\x00\xff"),
        flow.dead_letter("b", reason="junk"),
        flow.void(3, reason="was rubbish"),
        flow.skip(2, 5, 9, reason="was rubbish too"),
    ]
    assert [receipt.offset for receipt in receipts] == [0, 1, 2, 3, 4, 5]
    with client.consumer(flow.names.control) as consumer:
        records = list(consumer.records(until="end"))
    commands = [decode_command(record.key, record.value) for record in records]
    assert commands == [receipt.command for receipt in receipts]
    hold, release, other, letter, void, skip = commands
    assert isinstance(hold, Hold)
    assert (hold.id, hold.actor, hold.key) == ("one", "ana", b"a")
    assert hold.expires_at == hold.at + 60_000
    assert isinstance(release, Release)
    assert release.pace == 10
    assert isinstance(other, Hold)
    assert records[2].key == b"\x00\xff"
    assert isinstance(letter, DeadLetter)
    assert isinstance(void, Void)
    assert (void.offset, records[4].key) == (3, None)
    assert isinstance(skip, Skip)
    assert (skip.partition, skip.first, skip.last, records[5].key) == (2, 5, 9, None)


@pytest.mark.parametrize(
    "wrong",
    [{"expires_in": 0}, {"expires_in": -5}, {"reason": "x" * 2_000}, {"command_id": "a b"}],
)
def test_invalid_command_is_not_sent(
    client: holdfast.Client, flow_name: str, wrong: dict[str, object]
) -> None:
    flow = client.flow(flow_name).create(partitions=1)
    with pytest.raises(InvalidArgumentError):
        flow.hold("a", **wrong)  # type: ignore[arg-type]
    assert client.topics.ranges(flow.names.control)[0].end == 0


def test_receipt_waits_for_the_journal_and_has_the_cut(
    client: holdfast.Client, flow_name: str
) -> None:
    flow = client.flow(flow_name).create(partitions=3)
    home = partition_of(b"customer-7", 3)
    receipt = flow.hold("customer-7")

    def gate() -> None:
        time.sleep(0.3)
        journal = flow.names.journal
        other = CommandReference("another", "hold", 9)
        mine = CommandReference(receipt.command_id, "hold", receipt.offset)
        put(client, journal, home, (b"customer-7", b"not a journal record"))
        for command, outcome, cut in ((other, Outcome.UPDATED, 1), (mine, Outcome.HELD, 42)):
            record = JournalRecord(
                outcome=outcome, cut=cut, step=1, at=1_000, key=b"customer-7", command=command
            )
            key, value = encode_journal(record)
            put(client, journal, home, (key or b"", value))

    thread = threading.Thread(target=gate)
    thread.start()
    effect = receipt.wait(DEADLINE_S)
    thread.join()
    assert (effect.outcome, effect.partition, effect.cut) == (Outcome.HELD, home, 42)
    assert receipt.wait(DEADLINE_S) == effect


def test_receipt_times_out_if_no_pipeline_applies_the_command(
    client: holdfast.Client, flow_name: str
) -> None:
    receipt = client.flow(flow_name).create(partitions=1).hold("a")
    with pytest.raises(TimedOutError, match="on the control log at offset 0"):
        receipt.wait(0.5)


def test_status_and_held_are_read_from_all_partitions(
    client: holdfast.Client, flow_name: str
) -> None:
    flow = client.flow(flow_name).create(partitions=3)
    status = flow.names.status
    position = Position(offset=1, control=2, step=3, owner="me")
    for partition in range(3):
        put(client, status, partition, encode_position(position))
    put(client, status, 0, encode_entry(entry(b"a", reason="first")))
    put(client, status, 0, encode_entry(entry(b"a", KeyState.DRAINING, reason="second")))
    put(client, status, 1, encode_entry(entry(b"a")))
    put(client, status, 1, encode_entry(entry(b"b", KeyState.DRAINING)))
    put(client, status, 2, encode_entry(entry(b"c")))
    put(client, status, 2, encode_active(b"c"))
    assert [(s.key, s.state) for s in flow.held()] == [
        (b"a", KeyState.HELD),
        (b"b", KeyState.DRAINING),
    ]
    both = flow.status("a")
    assert [partition for partition, _ in both.entries] == [0, 1]
    assert both.entries[0][1].reason == "second"
    assert both.events == 4
    assert flow.status("c").state == KeyState.ACTIVE
    assert flow.status("never seen").state == KeyState.ACTIVE
