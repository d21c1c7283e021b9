"""Journal, status, registry and offset metadata: round trips, and what is refused."""

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.holds import StandingHold
from holdfast.flows.journal import (
    CommandReference,
    JournalRecord,
    Outcome,
    decode_journal,
    encode_journal,
)
from holdfast.flows.names import FlowNames
from holdfast.flows.registry import FlowDefinition, Limits, decode_flow, encode_flow
from holdfast.flows.status import (
    POSITION_KEY,
    Active,
    Entry,
    KeyState,
    Position,
    decode_offset_metadata,
    decode_status,
    encode_active,
    encode_entry,
    encode_offset_metadata,
    encode_position,
)
from holdfast.flows.topics import EVENTS_MAX_BYTES, flow_topics, table_topic

offsets = st.integers(-1, 2**60)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
filled = texts.filter(bool)
holds = st.builds(StandingHold, filled, offsets, filled, texts, st.none() | offsets, texts)
journals = st.builds(
    JournalRecord,
    outcome=st.sampled_from(Outcome),
    cut=offsets,
    step=offsets,
    at=offsets,
    key=st.none() | st.binary(max_size=30),
    command=st.none() | st.builds(CommandReference, texts, texts, st.integers(0, 2**60)),
    first=st.none() | offsets,
    superseded_by=st.none() | offsets,
    drained_through=st.none() | offsets,
    name=texts,
    ended=st.lists(texts, max_size=3).map(tuple),
    others=st.lists(holds, max_size=3).map(tuple),
    note=texts,
)
entries = st.builds(
    Entry,
    key=st.binary(max_size=30),
    state=st.sampled_from([KeyState.HELD, KeyState.DRAINING]),
    command_id=filled,
    actor=filled,
    reason=texts,
    since=offsets,
    cut=offsets,
    expires_at=st.none() | offsets,
    pace=st.none() | st.floats(0.001, 1e6),
    held_from=offsets,
    drained_through=offsets,
    dead_through=offsets,
    events=offsets,
    bytes=offsets,
    counted_through=offsets,
    name=texts,
    others=st.lists(holds, max_size=3).map(tuple),
)
positions = st.builds(
    Position,
    offset=offsets,
    control=offsets,
    step=offsets,
    owner=filled,
    last_held=offsets,
    trim=offsets,
)
FLOW = FlowDefinition(name="orders", partitions=6, created_at=1_000)


@given(journals)
def test_every_journal_record_survives_the_log(record: JournalRecord) -> None:
    assert decode_journal(*encode_journal(record)) == record


def test_an_unknown_outcome_is_refused() -> None:
    record = JournalRecord(outcome=Outcome.HELD, cut=1, step=2, at=3)
    key, value = encode_journal(record)
    with pytest.raises(InvalidRecordError, match="unknown outcome: 'gone'"):
        decode_journal(key, value.replace(b'"held"', b'"gone"'))


@given(entries)
def test_every_entry_survives_the_status_topic(entry: Entry) -> None:
    assert decode_status(*encode_entry(entry)) == entry


@given(entries)
def test_every_entry_survives_the_way_to_another_process(entry: Entry) -> None:
    assert pickle.loads(pickle.dumps(entry)) == entry


@given(positions)
def test_every_position_survives_the_status_topic(position: Position) -> None:
    assert decode_status(*encode_position(position)) == position


@given(positions, st.integers(0, 2**31 - 1))
def test_a_position_keeps_its_leader_epoch_and_is_read_without_one_as_before(
    position: Position, epoch: int
) -> None:
    known = replace(position, epoch=epoch)
    assert decode_status(*encode_position(known)) == known
    key, value = encode_position(replace(position, epoch=-1))
    assert b"epoch" not in value
    assert decode_status(key, value) == replace(position, epoch=-1)


@given(positions)
def test_committed_offset_carries_offset_control_step_and_owner(position: Position) -> None:
    read = decode_offset_metadata(position.offset, encode_offset_metadata(position))
    assert read == replace(position, last_held=-1, trim=0)


@given(st.binary(max_size=10))
def test_no_key_of_a_user_can_be_taken_for_the_position(key: bytes) -> None:
    record_key, value = encode_active(key)
    assert record_key != POSITION_KEY
    assert decode_status(record_key, value) == Active(key)


@pytest.mark.parametrize("key", [None, b"", b"x", b"pp"])
def test_a_status_record_of_no_known_kind_is_refused(key: bytes | None) -> None:
    with pytest.raises(InvalidRecordError, match="no known kind"):
        decode_status(key, b"{}")


@pytest.mark.parametrize("metadata", ["", "{}", '{"version":1,"control":1,"step":"2","owner":"x"}'])
def test_metadata_that_is_not_ours_is_refused(metadata: str) -> None:
    with pytest.raises(InvalidRecordError, match="committed offset cannot be read"):
        decode_offset_metadata(5, metadata)


def test_a_flow_survives_the_registry() -> None:
    flow = replace(FLOW, overflow="dead-letter", start="latest", limits=Limits(key_events=5))
    assert decode_flow(*encode_flow(flow)) == flow


def test_a_flow_under_another_name_is_refused() -> None:
    with pytest.raises(InvalidRecordError, match="another flow"):
        decode_flow(b"payments", encode_flow(FLOW)[1])


@pytest.mark.parametrize("name", ["", "Orders", "a.b", "a_b", "ä", "x" * 101, "a/b", "a\n"])
def test_flow_name_that_is_invalid_in_topic_names_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot name a flow"):
        FlowNames(name)


@pytest.mark.parametrize(
    "wrong", [{"partitions": 0}, {"start": "middle"}, {"overflow": "drop"}, {"name": "A"}]
)
def test_invalid_flow_definition_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        replace(FLOW, **wrong)


def test_limit_below_one_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="key_events"):
        Limits(key_events=0)


def test_topics_have_the_partitions_and_settings_that_the_promises_need() -> None:
    topics = {plan.name: plan for plan in flow_topics(FLOW, brokers=1)}
    assert {name: plan.partitions for name, plan in topics.items()} == {
        "orders.events": 6,
        "orders.control": 1,
        "orders.journal": 6,
        "orders.status": 6,
        "orders.held": 6,
        "orders.processed": 6,
        "orders.dlq": 6,
    }
    assert all(plan.replication == 1 for plan in topics.values())
    for name in (
        "orders.control",
        "orders.journal",
        "orders.held",
        "orders.processed",
        "orders.dlq",
    ):
        assert topics[name].config["retention.ms"] == "-1"
        assert topics[name].config["cleanup.policy"] == "delete"
    assert topics["orders.status"].config["cleanup.policy"] == "compact"
    assert topics["orders.events"].config["cleanup.policy"] == "delete"
    for name in ("orders.held", "orders.processed", "orders.dlq"):
        config = topics[name].config
        assert int(config["max.message.bytes"]) > EVENTS_MAX_BYTES
        assert config["message.timestamp.before.max.ms"] == str(2**63 - 1)
        assert config["message.timestamp.after.max.ms"] == str(2**63 - 1)


def test_topics_of_the_gate_have_three_replicas_and_two_confirm_on_a_cluster() -> None:
    topics = {plan.name: plan for plan in flow_topics(FLOW, brokers=5)}
    for name in ("orders.control", "orders.journal", "orders.status", "orders.held"):
        assert topics[name].replication == 3
        assert topics[name].config["min.insync.replicas"] == "2"
    assert table_topic("t", 5).config["min.insync.replicas"] == "2"
