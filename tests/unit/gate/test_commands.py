"""The outcome of each command, and its journal record."""

from tests.unit.gate.flow import Flow
from tests.unit.gate.model import home_of

from holdfast.flows.journal import CommandReference, Outcome
from holdfast.flows.status import KeyState

K = b"customer-7"


def test_cut_of_a_command_is_the_committed_offset_when_its_step_begins() -> None:
    flow = Flow()
    passed = flow.send(K, 3)
    flow.batch()
    offset = flow.hold(K, id="h1")
    kept = flow.send(K)
    flow.batch()
    (record,) = flow.journal()
    assert (record.outcome, record.key, record.cut, record.at) == (
        Outcome.HELD, K, passed[-1] + 1, flow.now,
    )  # fmt: skip
    assert record.command == CommandReference("h1", "hold", offset)
    assert record.step == flow.driver.states[0].position.step
    assert flow.held() == kept


def test_hold_of_a_held_key_keeps_since_cut_and_rows() -> None:
    flow = Flow()
    flow.hold(K, reason="first")
    kept = flow.send(K, 2)
    flow.batch()
    before = flow.entry(K)
    flow.now += 5
    flow.hold(K, reason="second", actor="ben")
    flow.keep()
    entry = flow.entry(K)
    assert before is not None
    assert entry is not None
    assert (entry.since, entry.cut, entry.events) == (before.since, before.cut, len(kept))
    assert (entry.reason, entry.actor) == ("second", "ben")


def test_hold_during_drain_stops_it_at_an_exact_event_and_journals_it() -> None:
    flow = Flow()
    flow.hold(K)
    kept = flow.send(K, 4)
    flow.batch()
    flow.release(K)
    flow.keep()
    flow.keep(rows=2)
    flow.hold(K)
    flow.keep(3)
    assert flow.processed() == kept[:2]
    stopped = flow.journal()[-1]
    assert (stopped.outcome, stopped.drained_through) == (Outcome.HELD, kept[1])
    entry = flow.entry(K)
    assert entry is not None
    assert (entry.state, entry.events, entry.drained_through) == (KeyState.HELD, 2, kept[1])
    flow.release(K)
    flow.keep(2)
    assert flow.processed() == kept


def test_hold_in_a_drain_step_takes_precedence_over_the_drain() -> None:
    flow = Flow()
    flow.hold(K)
    flow.send(K, 2)
    flow.batch()
    flow.release(K)
    flow.keep()
    flow.driver._read_ahead(0)
    flow.hold(K)
    flow.keep()
    assert flow.processed() == []


def test_commands_of_one_step_act_in_the_order_of_the_control_log() -> None:
    flow = Flow()
    flow.hold(K)
    flow.release(K)
    flow.hold(K)
    kept = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["held", "released", "drained", "held"]
    assert len({record.cut for record in flow.journal()}) == 1
    assert flow.held() == kept


def test_release_and_hold_in_one_step_do_not_let_a_held_event_out() -> None:
    flow = Flow()
    flow.hold(K)
    kept = flow.send(K, 2)
    flow.batch()
    flow.release(K)
    flow.hold(K)
    flow.keep(2)
    assert flow.outcomes() == ["held", "released", "held"]
    assert (flow.held(), flow.processed()) == (kept, [])


def test_hold_and_release_in_one_step_leave_an_active_key_active() -> None:
    flow = Flow()
    flow.hold(K)
    flow.release(K)
    sent = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["held", "released", "drained"]
    assert flow.processed() == sent


def test_release_of_a_key_without_held_events_ends_at_once() -> None:
    flow = Flow()
    flow.hold(K)
    flow.keep()
    flow.release(K)
    sent = flow.send(K)
    flow.batch()
    assert flow.processed() == sent
    assert flow.outcomes() == ["held", "released", "drained"]


def test_release_of_a_draining_key_changes_its_pace_or_nothing() -> None:
    flow = Flow()
    flow.hold(K)
    kept = flow.send(K, 3)
    flow.batch()
    flow.release(K, pace=1)
    flow.keep()
    flow.release(K, pace=1)
    flow.keep()
    assert flow.outcomes()[-1] == "nothing-to-do"
    flow.release(K)
    flow.keep(2)
    assert flow.outcomes()[-2:] == ["updated", "drained"]
    assert flow.processed() == kept


def test_drains_end_is_journalled_with_its_offset() -> None:
    flow = Flow()
    flow.hold(K)
    kept = flow.send(K, 2)
    flow.batch()
    flow.release(K)
    flow.keep(2)
    ended = flow.journal()[-1]
    assert (ended.outcome, ended.command) == (Outcome.DRAINED, None)
    assert (ended.cut, ended.drained_through) == (kept[-1] + 1, kept[-1])
    assert flow.entry(K) is None


def test_two_commands_with_the_same_id_act_once() -> None:
    flow = Flow()
    first = flow.hold(K, id="once")
    flow.keep()
    flow.release(K)
    flow.keep()
    again = flow.hold(K, id="once")
    sent = flow.send(K)
    flow.batch()
    record = flow.journal()[-1]
    assert (record.outcome, record.first) == (Outcome.DUPLICATE, first)
    assert record.command == CommandReference("once", "hold", again)
    assert flow.processed() == sent


def test_a_duplicate_release_of_another_key_ends_no_hold() -> None:
    flow = Flow()
    flow.release(b"else", id="once")
    flow.hold(K)
    flow.release(K, id="once")
    kept = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["nothing-to-do", "held", "duplicate"]
    assert flow.held() == kept


def test_a_duplicate_is_detected_after_a_restart() -> None:
    flow = Flow()
    flow.hold(K, id="once")
    flow.keep()
    flow.release(K)
    flow.keep()
    flow.restart()
    flow.hold(K, id="once")
    flow.keep()
    assert flow.outcomes()[-1] == "duplicate"


def test_dead_letter_takes_the_events_held_at_that_point_regardless_of_later_commands() -> None:
    flow = Flow()
    flow.hold(K)
    given_up = flow.send(K, 2)
    flow.batch()
    flow.dead_letter(K, reason="refunded")
    later = flow.send(K, 2)
    flow.batch()
    flow.keep(2)
    assert (flow.dlq(), flow.processed()) == (given_up, [])
    entry = flow.entry(K)
    assert entry is not None
    assert (entry.state, entry.events) == (KeyState.HELD, 2)
    flow.release(K)
    flow.keep(2)
    assert (flow.dlq(), flow.processed()) == (given_up, later)


def test_dead_letter_and_release_in_one_step_both_act() -> None:
    for order in (("dead_letter", "release"), ("release", "dead_letter")):
        flow = Flow()
        flow.hold(K)
        given_up = flow.send(K, 2)
        flow.batch()
        for verb in order:
            getattr(flow, verb)(K)
        later = flow.send(K)
        flow.batch()
        flow.keep(2)
        assert (flow.dlq(), flow.processed()) == (given_up, later)


def test_dead_letter_of_a_draining_key_journals_where_the_drain_was() -> None:
    flow = Flow()
    flow.hold(K)
    kept = flow.send(K, 3)
    flow.batch()
    flow.release(K)
    flow.keep()
    flow.keep(rows=1)
    flow.dead_letter(K)
    flow.keep(2)
    assert (flow.processed(), flow.dlq()) == (kept[:1], kept[1:])
    record = next(r for r in flow.journal() if r.outcome is Outcome.DEAD_LETTERED)
    assert (record.drained_through, record.cut) == (kept[0], kept[-1] + 1)


def test_dead_letters_are_not_paced() -> None:
    flow = Flow()
    flow.hold(K)
    kept = flow.send(K, 3)
    flow.batch()
    flow.dead_letter(K)
    flow.release(K, pace=0.001)
    flow.keep(3)
    assert flow.dlq() == kept


def test_dead_letter_without_held_events_has_nothing_to_do() -> None:
    flow = Flow()
    flow.dead_letter(K)
    flow.keep()
    flow.hold(K)
    flow.dead_letter(K)
    flow.keep()
    assert flow.outcomes() == ["nothing-to-do", "held", "nothing-to-do"]
    flow.send(K)
    flow.batch()
    flow.dead_letter(K)
    flow.dead_letter(K)
    flow.keep()
    assert flow.outcomes()[-2:] == ["dead-lettered", "nothing-to-do"]


def test_expiry_journals_the_hold_its_cut_and_the_time() -> None:
    flow = Flow()
    offset = flow.hold(K, id="h1", expires_at=flow.now + 10)
    flow.send(K)
    flow.batch()
    flow.now += 20
    flow.keep()
    record = flow.journal()[-1]
    assert (record.outcome, record.command) == (
        Outcome.EXPIRED, CommandReference("h1", "hold", offset),
    )  # fmt: skip
    assert (record.cut, record.at) == (1, flow.now)


def test_a_hold_with_a_past_expiry_expires_in_its_own_step() -> None:
    flow = Flow()
    flow.hold(K, expires_at=flow.now + 10)
    flow.now += 20
    sent = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["held", "expired", "drained"]
    assert flow.processed() == sent


def test_commands_are_applied_before_expiry_so_a_late_extension_works() -> None:
    flow = Flow()
    flow.hold(K, expires_at=flow.now + 10)
    flow.send(K)
    flow.batch()
    flow.now += 20
    flow.hold(K, expires_at=flow.now + 100)
    flow.keep(2)
    assert flow.outcomes() == ["held", "updated"]
    assert flow.processed() == []
    flow.now += 100
    flow.keep(2)
    assert flow.processed() == [0]


def test_a_removed_expiry_does_not_act() -> None:
    flow = Flow()
    flow.hold(K, expires_at=flow.now + 10)
    flow.send(K)
    flow.batch()
    flow.hold(K)
    flow.keep()
    flow.now += 20
    flow.keep(2)
    assert flow.outcomes() == ["held", "updated"]


def test_an_uncommitted_expiry_does_not_count_after_the_clock_is_set_back() -> None:
    flow = Flow()
    flow.hold(K, expires_at=flow.now + 10)
    right = flow.now
    flow.set_clock(right + 20)
    flow.driver.context(flow.time)
    flow.set_clock(right)
    sent = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["held"]
    assert flow.held() == sent


def test_a_committed_expiry_stays_after_the_clock_is_set_back() -> None:
    flow = Flow(partitions=2)
    home = home_of(K, 2)
    flow.hold(K, expires_at=flow.now + 10)
    flow.keep()
    flow.set_clock(flow.now + 20)
    flow.keep()
    flow.set_clock(flow.now - 20)
    sent, foreign = flow.send(K), flow.send(K, partition=1 - home)
    flow.batch()
    assert (flow.processed(home), flow.processed(1 - home)) == (sent, foreign)
    assert flow.driver.holds.get(K) == ()


def test_events_without_a_key_always_pass() -> None:
    flow = Flow(partitions=2)
    flow.hold(b"")
    sent = flow.send(None, 2)
    empty = flow.send(b"", partition=0)
    flow.batch()
    assert flow.processed() == sent
    assert flow.held() == empty


def test_void_of_a_readable_command_does_nothing() -> None:
    flow = Flow(partitions=2)
    hold = flow.hold(K)
    flow.void(hold)
    kept = flow.send(K)
    flow.batch()
    flow.keep()
    assert flow.outcomes(0)[-1:] == ["nothing-to-do"]
    home = 0 if flow.held(0) else 1
    assert flow.held(home) == kept


def test_only_partition_0_journals_void_and_unreadable_commands() -> None:
    flow = Flow(partitions=2)
    unreadable = flow.ask(None)
    void = flow.void(unreadable, reason="a test wrote it")
    flow.keep()
    assert flow.outcomes(0) == ["unreadable", "voided"]
    assert flow.outcomes(1) == []
    offsets = [r.command.offset for r in flow.journal(0) if r.command is not None]
    assert offsets == [unreadable, void]


def test_changed_settings_are_journalled_once_at_their_cut() -> None:
    flow = Flow(partitions=2)
    flow.send(K, 3)
    flow.batch()
    flow.change(overflow="dead-letter", key_events=7)
    flow.keep(2)
    flow.restart()
    for p in range(2):
        (record,) = flow.journal(p)
        assert record.outcome is Outcome.CHANGED
        assert record.cut == flow.driver.states[p].position.offset
        assert '"key_events":7' in record.settings
        assert '"overflow":"dead-letter"' in record.settings
