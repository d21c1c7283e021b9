"""Limits: what is too much, where it begins and ends, and what then happens."""

from typing import Any

import pytest
from tests.unit.gate.flow import Flow

from holdfast.flows.journal import Outcome
from holdfast.flows.registry import FlowDefinition, Limits, Overflow
from holdfast.gate import GateSettings, blocked, journal_is_due

K = b"customer-7"
OTHER = b"customer-8"


def over_limit(flow: Flow) -> None:
    flow.hold(K)
    flow.send(K, 2, size=10)
    flow.batch()


@pytest.mark.parametrize(
    "limits", [{"key_events": 2}, {"key_bytes": 20}, {"flow_events": 2}, {"flow_bytes": 20}]
)
def test_each_limit_blocks_at_its_value(limits: dict[str, Any]) -> None:
    flow = Flow(**limits)
    over_limit(flow)
    assert not flow.batch()
    more: dict[str, Any] = {name: value + 1 for name, value in limits.items()}
    roomy = Flow(**more)
    over_limit(roomy)
    assert roomy.batch()


@pytest.mark.parametrize(
    "limits", [{"key_events": 2}, {"key_bytes": 20}, {"flow_events": 2}, {"flow_bytes": 20}]
)
def test_each_limit_dead_letters_at_its_value(limits: dict[str, Any]) -> None:
    flow = Flow(overflow="dead-letter", **limits)
    over_limit(flow)
    beyond = flow.send(K)
    flow.batch()
    assert flow.dlq() == beyond


def test_a_key_limit_affects_that_key_and_a_flow_limit_all_keys() -> None:
    one = Flow(overflow="dead-letter", key_events=2)
    whole = Flow(overflow="dead-letter", flow_events=2)
    for flow in (one, whole):
        flow.hold(OTHER)
        over_limit(flow)
        other = flow.send(OTHER)
        flow.batch()
        assert flow.dlq() == (other if flow is whole else [])


def test_the_flows_limit_counts_all_partitions_and_is_journalled_in_each() -> None:
    flow = Flow(partitions=2, flow_events=4)
    for key in (b"a", b"b", b"c", b"d"):
        flow.hold(key)
        flow.send(key)
    flow.batch()
    assert all(state.events for state in flow.driver.states)
    assert not flow.batch()
    flow.keep()
    for p, state in enumerate(flow.driver.states):
        record = flow.journal(p)[-1]
        assert (record.outcome, record.key) == (Outcome.OVERFLOW_BEGUN, None)
        assert record.cut == state.position.offset
    flow.release(b"a")
    flow.keep(3)
    assert flow.outcomes(0)[-1] == flow.outcomes(1)[-1] == "overflow-ended"


def test_overflow_is_journalled_once_even_after_a_restart() -> None:
    flow = Flow(key_events=2)
    over_limit(flow)
    flow.keep(2)
    flow.restart()
    flow.keep()
    assert flow.outcomes() == ["held", "overflow-begun"]
    entry = flow.entry(K)
    assert entry is not None
    assert entry.overflow
    flow.release(K)
    flow.keep(3)
    assert flow.outcomes()[2:] == ["released", "overflow-ended", "drained"]


def test_overflow_of_a_key_that_is_held_again_in_one_step_is_ended_once() -> None:
    flow = Flow(overflow="dead-letter", key_events=2)
    over_limit(flow)
    flow.keep()
    flow.dead_letter(K)
    flow.keep(2)  # all rows have left, and the end of the overflow is due
    flow.release(K)
    flow.hold(K)
    flow.keep()
    assert flow.outcomes()[3:] == ["released", "overflow-ended", "drained", "held"]
    assert not journal_is_due(flow.driver.states, flow.settings)


def test_overflow_ends_when_some_rows_have_left() -> None:
    flow = Flow(key_events=2)
    over_limit(flow)
    flow.keep()
    flow.release(K)
    flow.keep()
    flow.keep(rows=1)
    assert flow.batch()
    flow.keep(rows=1)
    assert flow.outcomes()[-2:] == ["overflow-ended", "drained"]


@pytest.mark.parametrize("policy", ["block", "dead-letter"])
def test_changed_limits_apply_to_events_already_held(policy: Overflow) -> None:
    flow = Flow(overflow=policy)
    over_limit(flow)
    flow.change(overflow=policy, key_events=1)
    beyond = flow.send(K)
    taken = flow.batch()
    assert taken == (policy == "dead-letter")
    assert flow.dlq() == (beyond if taken else [])
    flow.keep()
    flow.change(overflow=policy, key_events=100)
    more = flow.send(K)
    assert flow.batch()
    assert flow.held()[-1] == more[-1]
    assert [o for o in flow.outcomes() if o.startswith("overflow")] == [
        "overflow-begun", "overflow-ended",
    ]  # fmt: skip


def test_a_blocked_flow_reports_the_reason() -> None:
    flow = Flow(key_events=2)
    over_limit(flow)
    why = blocked(flow.driver.states, flow.settings)
    assert why is not None
    assert "customer-7" in why


def test_a_step_is_due_until_changes_are_journalled() -> None:
    for flow in (Flow(key_events=2), Flow(flow_events=2)):

        def due(flow: Flow = flow) -> bool:
            return journal_is_due(flow.driver.states, flow.settings)

        assert not due()
        over_limit(flow)
        assert due(), "nothing else would make a blocked flow say why"
        flow.keep()
        assert not due()
        flow.change(key_events=3)
        assert due()
        flow.keep()
        assert not due()


def test_new_events_of_a_draining_key_count_towards_limits() -> None:
    flow = Flow(overflow="dead-letter", key_events=2)
    over_limit(flow)
    flow.release(K, pace=0.001)
    beyond = flow.send(K)
    flow.batch()
    assert flow.dlq() == beyond


def test_settings_follow_the_flow_definition_and_have_distinct_digests() -> None:
    limits = Limits(key_events=7)
    flow = FlowDefinition(
        name="orders", partitions=1, created_at=0, overflow="dead-letter", limits=limits,
        schema="id STRING",
    )  # fmt: skip
    settings = GateSettings.of(flow)
    assert settings == GateSettings(limits, "dead-letter", "id STRING")
    others = [
        GateSettings(Limits(key_events=8), "dead-letter", "id STRING"),
        GateSettings(limits, "block", "id STRING"),
        GateSettings(limits, "dead-letter", None),
    ]
    assert len({settings.digest, *(other.digest for other in others)}) == 4
