"""What comes of each command, and what the journal says of it."""

from tests.unit.gate.flow import Flow

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


def test_hold_during_drain_stops_it_at_an_exact_event_and_names_it() -> None:
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


def test_hold_in_the_very_step_that_would_drain_wins() -> None:
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


def test_of_hold_and_release_in_one_step_only_the_last_acts() -> None:
    flow = Flow()
    flow.hold(K)
    flow.release(K)
    last = flow.hold(K)
    kept = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["superseded", "superseded", "held"]
    assert [r.superseded_by for r in flow.journal()] == [last, last, None]
    assert flow.held() == kept


def test_hold_and_release_in_one_step_leave_an_active_key_active() -> None:
    flow = Flow()
    flow.hold(K)
    flow.release(K)
    sent = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["superseded", "nothing-to-do"]
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


def test_the_same_id_twice_is_one_command() -> None:
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


def test_a_duplicate_does_not_supersede() -> None:
    flow = Flow()
    flow.release(b"else", id="once")
    flow.hold(K)
    flow.release(K, id="once")
    kept = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["nothing-to-do", "held", "duplicate"]
    assert flow.held() == kept


def test_a_duplicate_is_known_after_a_restart() -> None:
    flow = Flow()
    flow.hold(K, id="once")
    flow.keep()
    flow.release(K)
    flow.keep()
    flow.restart()
    flow.hold(K, id="once")
    flow.keep()
    assert flow.outcomes()[-1] == "duplicate"


def test_dead_letter_takes_what_is_held_at_that_point_whatever_follows() -> None:
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


def test_dead_letter_of_a_draining_key_names_what_came_out_before() -> None:
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


def test_expiry_names_the_hold_its_cut_and_the_time() -> None:
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


def test_a_hold_that_comes_too_late_expires_in_its_own_step() -> None:
    flow = Flow()
    flow.hold(K, expires_at=flow.now + 10)
    flow.now += 20
    sent = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["held", "expired", "drained"]
    assert flow.processed() == sent


def test_commands_come_before_expiry_so_that_a_hold_can_be_extended_late() -> None:
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


def test_an_expiry_that_was_taken_back_does_not_act() -> None:
    flow = Flow()
    flow.hold(K, expires_at=flow.now + 10)
    flow.send(K)
    flow.batch()
    flow.hold(K)
    flow.keep()
    flow.now += 20
    flow.keep(2)
    assert flow.outcomes() == ["held", "updated"]


def test_a_clock_that_is_set_back_does_not_bring_an_expired_hold_to_life_for_events() -> None:
    """What has expired at one time of a process has expired: else an event could pass by a hold
    that the step itself still honours."""
    flow = Flow()
    flow.hold(K, expires_at=flow.now + 10)
    flow.now += 20
    flow.driver.moment(flow.now)
    flow.now -= 20
    sent = flow.send(K)
    flow.batch()
    assert flow.outcomes() == ["held", "expired", "drained"]
    assert flow.processed() == sent


def test_records_without_key_always_pass() -> None:
    flow = Flow(partitions=2)
    flow.hold(b"")
    sent = flow.send(None, 2)
    empty = flow.send(b"", partition=0)
    flow.batch()
    assert flow.processed() == sent
    assert flow.held() == empty


def test_void_of_what_can_be_read_has_nothing_to_do() -> None:
    flow = Flow(partitions=2)
    hold = flow.hold(K)
    flow.void(hold)
    kept = flow.send(K)
    flow.batch()
    flow.keep()
    assert flow.outcomes(0)[-1:] == ["nothing-to-do"]
    home = 0 if flow.held(0) else 1
    assert flow.held(home) == kept


def test_void_and_unreadable_are_journalled_by_partition_0_alone() -> None:
    flow = Flow(partitions=2)
    unreadable = flow.ask(None)
    void = flow.void(unreadable, reason="a test wrote it")
    flow.keep()
    assert flow.outcomes(0) == ["unreadable", "voided"]
    assert flow.outcomes(1) == []
    offsets = [r.command.offset for r in flow.journal(0) if r.command is not None]
    assert offsets == [unreadable, void]


def test_settings_are_journalled_where_they_change_and_once() -> None:
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
