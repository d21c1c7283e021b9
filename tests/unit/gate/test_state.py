"""State: unchanged until the commit, the same after a restart, cheap with many keys."""

import pickle
import random
from typing import Any

import pytest
from tests.unit.gate.flow import Flow

from holdfast.errors import GateStoppedError, StaleStateError
from holdfast.flows.commands import Hold
from holdfast.flows.journal import Outcome
from holdfast.flows.status import Active, Entry, KeyState, Position
from holdfast.gate import (
    Changes,
    ControlLog,
    FlowHolds,
    GateSettings,
    KeysOfInterest,
    Now,
    PartitionState,
    Recount,
    StatusReader,
    Step,
    StepContext,
    Verdict,
)

K = b"customer-7"
OTHER = b"customer-8"


def moment_of(*commands: Hold, now: int = 10) -> tuple[StepContext, ControlLog]:
    control, holds = ControlLog(1), FlowHolds()
    for offset, command in enumerate(commands):
        control.append_command(offset, command)
    holds.advance(control, len(commands), now, [PartitionState.first(0, 0, 0)])
    return StepContext("me", 1, holds, Now(now, now), GateSettings()), control


def hold(key: bytes, identity: str, **fields: Any) -> Hold:
    return Hold(id=identity, actor="ana", at=1, key=key, **fields)


def test_a_step_changes_nothing_until_its_changes_are_applied() -> None:
    context, control = moment_of(hold(K, "1", expires_at=99))
    state = PartitionState.first(0, 0, 0)
    before = pickle.dumps(state)
    step = Step(state, context, control.between(0, 1), held_end=0, end=2)
    assert step.decide([K, K], [0, 1], [1, 1], [0, 0]) == bytes([Verdict.HOLD, Verdict.HOLD])
    changes = step.finish().changes
    assert pickle.dumps(state) == before
    state.apply(changes)
    assert (state.events, state.entries[K].events, state.position.offset) == (2, 2, 2)


@pytest.mark.parametrize("seed", range(20))
def test_merged_counting_steps_give_the_same_state_as_single_ones(seed: int) -> None:
    source = random.Random(seed)
    keys = [b"%d" % number for number in range(6)]
    context, control = moment_of(*(hold(key, key.decode(), expires_at=99) for key in keys[:4]))
    state = PartitionState.first(0, 0, 0)
    state.apply(Step(state, context, control.between(0, 4), held_end=0).finish().changes)
    follower = pickle.loads(pickle.dumps(state))
    merged: Changes | None = None
    for number in range(source.randint(1, 5)):
        start = state.position.offset
        shown = [source.choice(keys) for _ in range(source.randrange(6))]
        offsets = list(range(start, start + len(shown)))
        step = Step(state, context, [], held_end=10 * number, end=start + 6)
        step.decide(shown, offsets, [3] * len(shown), offsets)
        changes = step.finish().changes
        assert changes.only_count
        state.apply(changes)
        merged = changes if merged is None else merged.then(changes)
    assert merged is not None
    follower.apply(merged)
    for name in ("position", "entries", "events", "bytes"):
        assert getattr(follower, name) == getattr(state, name), name
    assert list(follower.uncounted.items()) == list(state.uncounted.items())


def test_a_step_with_decisions_is_not_a_counting_step() -> None:
    context, control = moment_of(hold(K, "1"))
    step = Step(PartitionState.first(0, 0, 0), context, control.between(0, 1), held_end=0, end=2)
    step.decide([K], [0], [1], [0])
    assert not step.finish().changes.only_count


def test_changes_are_applied_once_and_in_step_order() -> None:
    context, _ = moment_of()
    state = PartitionState.first(0, 0, 0)
    changes = Step(state, context, [], held_end=0, end=1).finish().changes
    state.apply(changes)
    with pytest.raises(StaleStateError):
        state.apply(changes)


def test_a_task_and_the_driver_compute_the_same_state() -> None:
    context, control = moment_of(hold(K, "1"))
    driver = PartitionState.first(0, 0, 0)
    task = pickle.loads(pickle.dumps(driver))
    for end in (2, 4):
        commands = control.between(task.position.control, 1)
        step = Step(task, pickle.loads(pickle.dumps(context)), commands, held_end=0, end=end)
        step.decide([K, K], [end - 2, end - 1], [1, 1], [0, 0])
        changes = pickle.loads(pickle.dumps(step.finish().changes))
        task.apply(changes)
        driver.apply(changes)
    assert (driver.position, driver.entries) == (task.position, task.entries)


def test_a_step_without_changes_is_idle() -> None:
    context, _ = moment_of()
    state = PartitionState.first(0, 0, 0)
    first = Step(state, context, [], held_end=0).finish()
    assert not first.idle, "it makes this process the owner, and journals the settings"
    state.apply(first.changes)
    assert Step(state, context, [], held_end=0).finish().idle
    assert not Step(state, context, [], held_end=0, end=1).finish().idle


def test_events_outside_the_range_of_a_step_are_refused() -> None:
    context, _ = moment_of()
    state = PartitionState.first(0, 5, 0)
    for offsets in ([4], [8], [5, 8]):
        step = Step(state, context, [], held_end=0, end=8)
        with pytest.raises(StaleStateError):
            step.decide([K] * len(offsets), offsets, offsets, offsets)
    step = Step(state, context, [], held_end=0, end=8)
    step.decide([K], [6], [1], [0])
    with pytest.raises(StaleStateError):
        step.decide([K], [6], [1], [0])
    with pytest.raises(StaleStateError):
        Step(state, context, [], held_end=0, end=4)


def test_the_control_offset_never_goes_back() -> None:
    context, _ = moment_of()
    with pytest.raises(StaleStateError, match="again"):
        Step(PartitionState.first(0, 0, 1), context, [], held_end=0)


def test_holds_stay_when_an_older_end_of_the_control_log_is_read() -> None:
    context, control = moment_of(hold(K, "1"), hold(OTHER, "2"))
    context.holds.advance(control, 1, 10, [PartitionState.first(0, 0, 0)])
    assert context.holds.through == 2
    assert set(context.holds) == {K, OTHER}


def test_an_accepted_loss_must_exist_and_is_journalled() -> None:
    context, _ = moment_of()
    state = PartitionState.first(0, 5, 0)
    for start in (4, 5):
        with pytest.raises(GateStoppedError):
            Step(state, context, [], held_end=0).accept_loss(start)
    step = Step(state, context, [], held_end=0)
    step.accept_loss(9)
    result = step.finish()
    assert result.position.offset == 9
    record = result.journal[-1]
    assert (record.outcome, record.cut, record.lost_until) == ("loss-accepted", 5, 9)


def test_counts_missing_in_status_are_recounted_at_start() -> None:
    flow = Flow()
    flow.hold(K)
    flow.keep()
    flow.send(K, 3, size=7, time=42)
    flow.batch()
    written = [r for r in flow.kafka.status[0] if isinstance(r, Entry)]
    assert [entry.events for entry in written] == [0], "held events are not written one by one"
    before = flow.entry(K)
    flow.restart()
    assert flow.entry(K) == before
    assert before is not None
    assert (before.events, before.bytes, before.oldest) == (3, 21, 42)


def test_published_counts_need_no_recount() -> None:
    context, control = moment_of(hold(K, "1"), hold(OTHER, "2"))
    state = PartitionState.first(0, 0, 0)
    state.apply(Step(state, context, control.between(0, 2), held_end=0).finish().changes)
    step = Step(state, context, [], held_end=7, end=2)
    step.decide([K, OTHER], [0, 1], [1, 1], [0, 0])
    result = step.finish()
    assert (result.status, result.position.counted_from) == ((), 7)
    state.apply(result.changes)
    result = Step(state, context, [], held_end=9).finish(publish=1)
    assert [entry.key for entry in result.status if isinstance(entry, Entry)] == [K]
    assert result.position.counted_from == 7
    state.apply(result.changes)
    result = Step(state, context, [], held_end=9).finish(publish=1)
    state.apply(result.changes)
    assert state.position.counted_from == -1
    assert Recount(state.position, state.entries.values()).complete


def test_a_recount_is_complete_only_after_the_last_held_row() -> None:
    entry = Entry(key=K, state=KeyState.HELD, command_id="1", actor="ana", since=0, cut=0,
                  held_from=0, drained_through=-1, events=1, bytes=1, oldest=5,
                  counted_through=0)  # fmt: skip
    position = Position(offset=9, control=1, step=3, owner="me", last_held=4, counted_from=1)
    recount = Recount(position, [entry])
    recount.take(0, K, 1, 5)
    recount.take(2, K, 1, 6)
    recount.take(3, OTHER, 1, 7)
    assert not recount.complete
    with pytest.raises(RuntimeError):
        recount.entries()
    recount.take(4, OTHER, 1, 8)
    assert recount.complete
    (counted,) = recount.entries()
    assert (counted.events, counted.bytes, counted.oldest, counted.counted_through) == (2, 2, 5, 2)
    assert recount.counted == {K}


def test_status_is_read_up_to_the_position_of_the_committed_step() -> None:
    entry = Entry(key=K, state=KeyState.HELD, command_id="1", actor="ana", since=0, cut=0,
                  held_from=0, drained_through=-1)  # fmt: skip
    reader = StatusReader()
    assert not reader.is_at(1)
    reader.take(entry)
    reader.take(Position(offset=0, control=0, step=1, owner="me"))
    assert reader.is_at(1)
    reader.take(Active(K))
    reader.take(Position(offset=0, control=0, step=2, owner="me"))
    assert reader.entries == {}
    with pytest.raises(StaleStateError):
        reader.is_at(1)


def test_the_trim_point_never_passes_a_row_that_is_needed() -> None:
    flow = Flow()
    flow.hold(OTHER)
    flow.send(OTHER, 2)
    flow.batch()
    flow.hold(K)
    flow.send(K, 2)
    flow.batch()

    def trim_point() -> int:
        context = flow.driver.context(flow.time)
        flow.driver.step(0, context, trim=True)
        return flow.driver.states[0].position.trim

    assert trim_point() == 0
    flow.release(OTHER)
    flow.keep(2)
    assert trim_point() == 3, "two rows and the marker of their transaction"
    flow.release(K)
    flow.keep()
    flow.keep(rows=1)
    assert trim_point() == 4
    flow.keep()
    assert trim_point() == flow.kafka.held_end[0]


def test_the_trim_point_stays_when_an_older_end_of_held_is_read() -> None:
    context, _ = moment_of()
    state = PartitionState.first(0, 0, 0)
    state.apply(Step(state, context, [], held_end=9).finish(trim=True).changes)
    assert Step(state, context, [], held_end=4).finish(trim=True).position.trim == 9


def test_a_new_hold_does_not_count_rows_of_an_earlier_hold() -> None:
    """The end of held that a hold begins with may be an old one, from before those rows."""
    flow = Flow()
    flow.hold(K)
    earlier = flow.send(K, 2)
    flow.batch()
    flow.release(K)
    flow.keep(2)
    flow.hold(K)
    flow.driver._held_end = lambda p: 0  # type: ignore[method-assign]
    later = flow.send(K)
    flow.batch()
    flow.restart()
    flow.release(K)
    flow.keep(2)
    assert flow.processed() == earlier + later


def test_next_expiry_and_next_paced_row_are_found_without_a_scan_of_all_keys() -> None:
    flow = Flow()
    state = flow.driver.states[0]
    assert (state.next_expiry(), state.next_paced()) == (None, None)
    flow.hold(K, expires_at=flow.now + 5_000)
    flow.hold(OTHER, expires_at=flow.now + 9_000)
    flow.send(K, 2)
    flow.batch()
    assert (state.next_expiry(), state.next_paced()) == (flow.now + 5_000, None)
    flow.release(K, pace=4)
    flow.keep()
    assert state.next_expiry() == flow.now + 9_000
    assert state.next_paced() == flow.time.monotonic + 250
    flow.hold(K)
    flow.keep()
    assert (state.next_expiry(), state.next_paced()) == (flow.now + 9_000, None)


def test_dead_letters_of_a_paced_key_are_due_at_once() -> None:
    flow = Flow()
    flow.hold(K)
    flow.send(K, 2)
    flow.batch()
    flow.dead_letter(K)
    flow.release(K, pace=0.001)
    flow.keep()
    assert flow.driver.states[0].next_paced() == flow.time.monotonic


def test_only_keys_of_interest_need_a_decision() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.send(K)
    flow.batch()
    flow.release(K)
    flow.hold(OTHER)
    driver = flow.driver
    driver.context(flow.time)
    interest = KeysOfInterest(driver.states, driver.holds)
    assert set(interest) == {K, OTHER}
    assert K in interest
    assert OTHER in interest
    assert b"nobody" not in interest
    assert len(interest) >= 2


def test_a_step_looks_only_at_entries_that_change() -> None:
    """The cost of a step does not grow with the number of held keys."""

    class Entries(dict[bytes, Entry]):
        def _all(self, *_: object) -> None:
            raise AssertionError("looked at every entry")

        __iter__ = keys = values = items = copy = _all  # type: ignore[assignment]

    context, control = moment_of(*(hold(b"%d" % n, str(n)) for n in range(100)))
    state = PartitionState.first(0, 0, 0)
    state.apply(Step(state, context, control.between(0, 100), held_end=0).finish().changes)
    state.entries = Entries(state.entries)
    step = Step(state, context, [], held_end=0, end=2)
    step.decide([b"1", b"x"], [0, 1], [1, 1], [0, 0])
    state.apply(step.finish().changes)
    assert state.events == 1


def test_only_a_step_that_follows_a_new_leader_changes_the_epoch() -> None:
    context, control = moment_of()
    state = PartitionState.first(0, 7, 0)
    step = Step(state, context, [], held_end=0)
    step.follow_epoch(4)
    assert not step.finish().idle
    state.apply(step.finish().changes)
    state.apply(Step(state, context, control.between(0, 0), held_end=0, end=9).finish().changes)
    assert (state.position.offset, state.position.epoch) == (9, 4)


def test_an_accepted_truncation_is_journalled_and_keeps_the_position() -> None:
    context, _ = moment_of()
    step = Step(PartitionState.first(0, 7, 0), context, [], held_end=0)
    step.follow_epoch(4, cut_back_to=5)
    result = step.finish()
    (accepted,) = [each for each in result.journal if each.outcome is Outcome.LOSS_ACCEPTED]
    assert accepted.lost_until == result.position.offset == 7
    assert "cut back to 5" in accepted.note
