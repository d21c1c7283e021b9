"""G1 to G8, each by name, in the pure gate."""

import pytest
from tests.unit.gate.driver import Crash
from tests.unit.gate.flow import Flow
from tests.unit.gate.model import Explained, home_of

from holdfast.errors import FencedError, GateStoppedError
from holdfast.flows.journal import Outcome
from holdfast.gate import UnreadableCommandError, is_current, starting_position

K = b"customer-7"
OTHER = b"customer-8"


def test_g1_each_event_ends_in_exactly_one_topic() -> None:
    flow = Flow()
    flow.hold(K)
    kept, passing = flow.send(K, 3), flow.send(OTHER, 2)
    invalid = flow.send(OTHER, valid=False)
    flow.batch()
    assert (flow.processed(), flow.held(), flow.dlq()) == (passing, kept, invalid)


@pytest.mark.parametrize("task", [False, True])
@pytest.mark.parametrize("crash", [Crash.BEFORE_COMMIT, Crash.AFTER_COMMIT])
def test_g1_a_failed_step_is_repeated_without_loss_or_duplicates(crash: Crash, task: bool) -> None:
    flow = Flow()
    flow.hold(K)
    kept, passing = flow.send(K, 2), flow.send(OTHER, 2)
    flow.batch(crash=crash, task=task)
    later = flow.send(OTHER)
    flow.hold(OTHER)
    flow.batch(task=task)
    flow.keep(crash=crash)
    first_try_took_place = crash is Crash.AFTER_COMMIT
    assert flow.held() == (kept + later if first_try_took_place else kept + passing + later)
    flow.release(K)
    flow.release(OTHER)
    flow.keep(crash=crash)
    flow.keep(2, crash=crash)
    flow.keep(4)
    assert sorted(flow.processed()) == kept + passing + later


def test_g1_a_second_pipeline_makes_the_first_one_stop() -> None:
    flow = Flow()
    first = flow.driver
    flow.restart()
    with pytest.raises(FencedError, match="driver-2"):
        first.batch({0: 0}, flow.time, chunk=9, task=False, crash=Crash.NEVER)


def test_g2_a_keys_events_come_out_in_source_order_through_holds_and_releases() -> None:
    flow = Flow()
    sent = flow.send(K, 2)
    flow.batch()
    flow.hold(K)
    sent += flow.send(K, 3)
    flow.batch()
    flow.release(K)
    sent += flow.send(K, 2)
    flow.batch()
    flow.keep(2)
    sent += flow.send(K)
    flow.batch()
    assert flow.processed() == sent


def test_g3_event_sent_after_acknowledged_hold_is_held() -> None:
    flow = Flow()
    before = flow.send(K)
    flow.batch()
    flow.hold(K)
    after = flow.send(K)
    flow.batch()
    flow.keep(3)
    assert (flow.processed(), flow.held()) == (before, after)


def test_g3_a_hold_acts_on_events_that_were_sent_before_but_not_yet_taken() -> None:
    flow = Flow()
    waiting = flow.send(K)
    flow.hold(K)
    flow.batch()
    assert flow.held() == waiting


def test_g3_validation_comes_first() -> None:
    flow = Flow()
    flow.hold(K)
    invalid = flow.send(K, valid=False)
    flow.batch()
    assert (flow.dlq(), flow.held()) == (invalid, [])


def test_g3_events_leave_held_only_after_the_expiry() -> None:
    flow = Flow()
    flow.hold(K, expires_at=flow.now + 1_000)
    kept = flow.send(K, 2)
    flow.batch()
    flow.now += 999
    flow.keep(2)
    assert flow.processed() == []
    flow.now += 1
    flow.keep(2)
    assert flow.processed() == kept


def test_g3_a_new_hold_survives_a_short_jump_of_the_clock() -> None:
    flow = Flow()
    right = flow.now
    flow.set_clock(right + 50 * 60_000)
    flow.keep()
    flow.set_clock(right)
    flow.hold(K, expires_at=flow.now + 10 * 60_000)
    kept = flow.send(K, 2)
    flow.batch()
    flow.keep(2)
    assert flow.outcomes() == ["held"]
    assert (flow.processed(), flow.held()) == ([], kept)
    flow.now += 10 * 60_000
    flow.keep(2)
    assert flow.processed() == kept


@pytest.mark.parametrize("crash", [Crash.BEFORE_COMMIT, Crash.AFTER_COMMIT])
def test_g3_an_uncommitted_expiry_by_a_wrong_clock_has_no_effect(
    crash: Crash,
) -> None:
    """Also in partitions that murmur2 does not give the key, which go by the flow's holds."""
    flow = Flow(partitions=2)
    home = home_of(K, 2)
    right = flow.now
    flow.hold(K, expires_at=right + 10 * 60_000)
    flow.keep()
    flow.set_clock(right + 50 * 60_000)
    flow.keep(crash=crash)
    flow.set_clock(right)
    foreign = flow.send(K, partition=1 - home)
    flow.batch()
    flow.keep(2)
    committed = crash is Crash.AFTER_COMMIT
    assert flow.outcomes(home) == (["held", "expired", "drained"] if committed else ["held"])
    assert flow.processed(1 - home) == (foreign if committed else [])


@pytest.mark.parametrize("ahead", [-50 * 60_000, 50 * 60_000])
def test_g4_a_paced_drain_neither_stalls_nor_bursts_after_a_clock_jump(ahead: int) -> None:
    flow = Flow()
    flow.hold(K)
    sent = flow.send(K, 40)
    flow.batch()
    flow.release(K, pace=4)
    flow.keep()
    flow.set_clock(flow.now + ahead)
    flow.keep(2)
    assert flow.processed() == []
    for second in range(1, 6):
        flow.now += 1_000
        flow.keep(2)
        assert flow.processed() == sent[: 4 * second]
        flow.set_clock(flow.now - ahead // 2)


def test_g4_held_events_come_out_before_newer_ones() -> None:
    flow = Flow()
    flow.hold(K)
    kept = flow.send(K, 3)
    flow.batch()
    flow.release(K)
    newer = flow.send(K, 2)
    flow.batch()
    assert flow.processed() == [], "a batch appends a draining key's events behind"
    flow.keep(3)
    newest = flow.send(K)
    flow.batch()
    assert flow.processed() == kept + newer + newest


def test_g4_new_events_queue_behind_a_paced_release() -> None:
    flow = Flow()
    flow.hold(K)
    sent = flow.send(K, 3)
    flow.batch()
    flow.release(K, pace=1)
    flow.keep()
    for _ in range(4):
        sent += flow.send(K)
        flow.batch()
        flow.now += 1_000
        flow.keep()
    assert flow.processed() == sent[:4]
    flow.release(K)
    flow.keep(3)
    assert flow.processed() == sent


def test_g5_verbs_are_idempotent_and_the_answer_says_so() -> None:
    flow = Flow()
    flow.release(K)
    flow.keep()
    flow.hold(K, reason="first")
    flow.keep()
    flow.hold(K, reason="second", expires_at=flow.now + 60_000)
    flow.keep()
    entry = flow.entry(K)
    assert entry is not None
    assert (entry.reason, entry.expires_at) == ("second", flow.now + 60_000)
    flow.release(K)
    flow.keep()
    flow.release(K)
    flow.keep()
    assert flow.outcomes() == [
        "nothing-to-do", "held", "updated", "released", "drained", "nothing-to-do",
    ]  # fmt: skip


def test_g6_the_journal_explains_where_every_event_is() -> None:
    flow = Flow(overflow="dead-letter", key_events=4)
    flow.hold(K)
    flow.send(K, 2)
    flow.batch()
    flow.release(K)
    flow.keep(2, rows=1)
    flow.hold(K)
    flow.dead_letter(K)
    flow.send(K, 4)
    flow.batch()
    flow.send(K, 2)
    flow.batch()
    flow.release(K)
    flow.keep(3)
    flow.send(K, 1)
    flow.batch()
    Explained(flow.kafka, 0).check()
    for source in (flow.processed(), flow.dlq()):
        moved = source.pop()
        with pytest.raises(AssertionError):
            flow.check()
        source.append(moved)
    assert {"dead-lettered", "overflow-begun", "overflow-ended"} <= set(flow.outcomes())


def test_g7_block_takes_no_more_events_until_there_is_room() -> None:
    flow = Flow(key_events=3)
    flow.hold(K)
    kept, waiting = flow.send(K, 3), flow.send(OTHER)
    assert flow.batch(), "checked at the start of a batch: the overshoot is at most one"
    waiting += flow.send(OTHER)
    assert not flow.batch()
    flow.keep()
    assert flow.outcomes()[-1] == "overflow-begun"
    flow.release(K)
    flow.keep(2)
    assert flow.batch()
    assert sorted(flow.processed()) == sorted(kept + waiting)


def test_g7_dead_letter_policy_drops_nothing_silently() -> None:
    flow = Flow(overflow="dead-letter", key_events=2)
    flow.hold(K)
    kept = flow.send(K, 2)
    flow.batch()
    beyond, other = flow.send(K, 2), flow.send(OTHER)
    flow.batch()
    assert (flow.held(), flow.dlq(), flow.processed()) == (kept, beyond, other)
    assert [r.cut for r in flow.journal() if r.outcome is Outcome.OVERFLOW_BEGUN] == [beyond[0]]


def test_g8_an_unreadable_command_stops_the_gate_until_it_is_voided() -> None:
    flow = Flow()
    flow.hold(K)
    kept = flow.send(K)
    unreadable = flow.ask(None)
    other = flow.send(OTHER)
    for act in (flow.batch, flow.keep):
        with pytest.raises(UnreadableCommandError) as stopped:
            act()
        assert stopped.value.offset == unreadable
    assert (flow.processed(), flow.held()) == ([], [])
    flow.void(unreadable)
    flow.batch()
    assert (flow.processed(), flow.held()) == (other, kept)
    assert flow.outcomes() == ["held", "unreadable", "voided"]


def test_g8_state_that_cannot_be_known_stops_the_gate() -> None:
    flow = Flow()
    flow.hold(K)
    flow.keep()
    committed = flow.kafka.committed[0]
    assert committed is not None
    with pytest.raises(GateStoppedError, match="cannot know which keys are held"):
        starting_position(committed, None, journal_is_empty=False)
    with pytest.raises(GateStoppedError, match="cannot know which keys are held"):
        starting_position(None, None, journal_is_empty=False)
    assert is_current(committed, flow.driver.states[0].position, "driver-1")
