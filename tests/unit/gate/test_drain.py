"""Giving rows out: order, pace, shares, memory, and an end that is proven."""

import pytest
from tests.unit.gate.flow import Flow

from holdfast.errors import GateStoppedError, StaleStateError
from holdfast.flows.status import Entry, KeyState, Position
from holdfast.gate import (
    Backlog,
    FlowHolds,
    GateSettings,
    HeldRow,
    Now,
    PartitionState,
    Step,
    StepContext,
    Verdict,
)

K = b"customer-7"
OTHER = b"customer-8"
NOW = 1_000_000


def draining(key: bytes, rows: list[int], **fields: object) -> Entry:
    """A draining entry with rows of one byte at these source offsets."""
    base = {
        "key": key, "state": KeyState.DRAINING, "command_id": "r", "actor": "ana", "since": 0,
        "cut": 0, "held_from": 0, "drained_through": -1, "events": len(rows), "bytes": len(rows),
        "counted_through": rows[-1],
    }  # fmt: skip
    return Entry(**{**base, **fields})  # type: ignore[arg-type]


def state_of(*entries: Entry) -> PartitionState:
    position = Position(offset=100, control=0, step=5, owner="me", last_held=99)
    return PartitionState.load(0, position, entries, now=NOW)


def step_at(state: PartitionState, now: int = NOW) -> Step:
    context = StepContext("me", 1, FlowHolds(), Now(0, now), GateSettings())
    return Step(state, context, [], held_end=100)


def row(source: int) -> HeldRow[None]:
    """A row whose place in held is that in its source."""
    return HeldRow(source, source, 1, source, None)


def read(backlog: Backlog[None], state: PartitionState, *rows: tuple[bytes, int]) -> None:
    reading = backlog.read(state)
    assert reading is not None
    end = 100
    for key, source in rows:
        if reading.done:
            end = source
            break
        reading.take(key, row(source))
    reading.end(end)


def test_rows_leave_in_the_order_of_held() -> None:
    state = state_of(draining(K, [1, 4]), draining(OTHER, [2, 3]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (OTHER, 2), (OTHER, 3), (K, 4))
    drained = step_at(state).drain(backlog)
    assert [each.row.source for each in drained] == [1, 2, 3, 4]
    assert {each.verdict for each in drained} == {Verdict.PASS}


def test_a_drain_does_not_end_at_the_end_of_held() -> None:
    """Right after a commit the last rows may not be readable yet."""
    state = state_of(draining(K, [1, 2, 3]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (K, 2))
    step = step_at(state)
    assert len(step.drain(backlog)) == 2
    result = step.finish()
    assert result.journal[1:] == ()
    state.apply(result.changes)
    assert state.entries[K].drained_through == 2
    assert step_at(state).drain(backlog) == []
    assert backlog.read(state) is not None, "there is a row to come"


def test_a_drain_does_not_end_while_held_is_not_readable_yet() -> None:
    state = state_of(draining(K, [1]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state)
    step = step_at(state)
    assert step.drain(backlog) == []
    assert K not in step.finish().changes.entries


def test_a_repeated_step_drains_the_same_rows() -> None:
    state = state_of(draining(K, [1, 2]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (K, 2))
    first = step_at(state).drain(backlog)
    assert step_at(state).drain(backlog) == first


def test_missing_held_rows_stop_the_gate() -> None:
    state = state_of(draining(K, [1, 2, 3]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (K, 3))
    with pytest.raises(GateStoppedError, match="missing"):
        step_at(state).drain(backlog)


def test_an_uncounted_row_means_that_the_state_is_stale() -> None:
    state = state_of(draining(K, [1, 5]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (K, 5))
    older = state_of(draining(K, [1, 3]))
    with pytest.raises(StaleStateError, match="5"):
        step_at(older).drain(backlog)


def test_only_a_step_without_events_drains() -> None:
    context = StepContext("me", 1, FlowHolds(), Now(0, 0), GateSettings())
    step = Step(state_of(), context, [], held_end=0, end=101)
    with pytest.raises(RuntimeError):
        step.drain(Backlog())


def test_a_key_with_many_rows_does_not_starve_other_keys() -> None:
    many = list(range(1, 80))
    state = state_of(draining(K, many), draining(OTHER, [80, 81]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, *((K, source) for source in many), (OTHER, 80), (OTHER, 81))
    drained = step_at(state).drain(backlog, rows=10)
    assert sum(each.key == OTHER for each in drained) == 2
    assert sum(each.key == K for each in drained) == 8


def test_keys_with_many_rows_share_a_step() -> None:
    ones, twos = list(range(1, 41)), list(range(41, 91))
    state = state_of(draining(K, ones), draining(OTHER, twos))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, *((K, source) for source in ones), *((OTHER, source) for source in twos))
    drained = step_at(state).drain(backlog, rows=10)
    assert [each.row.source for each in drained] == [*ones[:5], *twos[:5]]


def test_a_step_drains_about_its_byte_limit_and_at_least_one_row() -> None:
    state = state_of(draining(K, [1, 2, 3]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (K, 2), (K, 3))
    assert len(step_at(state).drain(backlog, size=2)) == 2
    assert len(step_at(state).drain(backlog, size=1)) == 1


def test_a_pass_over_held_keeps_its_row_limit() -> None:
    state = state_of(draining(K, [1, 2, 3, 4, 5]))
    backlog: Backlog[None] = Backlog(rows=2)
    read(backlog, state, *((K, source) for source in range(1, 6)))
    assert [each.row.source for each in step_at(state).drain(backlog)] == [1, 2]


def test_read_ahead_of_all_keys_together_keeps_the_byte_limit() -> None:
    """Keys that empty one after the other must not each add a whole pass to what waits."""
    state = state_of(draining(K, [1, 3, 5, 7]), draining(OTHER, [2, 4, 6, 8]))
    backlog: Backlog[None] = Backlog(size=3)
    read(backlog, state, *((K if source % 2 else OTHER, source) for source in range(1, 9)))
    step = step_at(state)
    assert [each.row.source for each in step.drain(backlog, rows=1)] == [2]
    state.apply(step.finish().changes)
    read(backlog, state, *((K if source % 2 else OTHER, source) for source in range(4, 9)))
    waiting = [row.source for key in (K, OTHER) for row in backlog.rows(state.entries[key])]
    assert sorted(waiting) == [1, 3, 4]


def test_a_paced_key_is_read_one_second_ahead_and_only_once() -> None:
    state = state_of(draining(K, [1, 2, 3, 4], pace=2.0))
    backlog: Backlog[None] = Backlog()
    reading = backlog.read(state)
    assert reading is not None
    for source in (1, 2, 3, 4):
        reading.take(K, row(source))
    assert reading.done
    assert backlog.read(state) is None
    assert [each.source for each in backlog.rows(state.entries[K])] == [1, 2]


def test_a_slow_key_does_not_cause_other_keys_to_be_read_twice() -> None:
    state = state_of(draining(K, [1, 50], pace=0.5), draining(OTHER, [2, 60]))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (OTHER, 2))
    step = step_at(state)
    step.drain(backlog)
    state.apply(step.finish().changes)
    reading = backlog.read(state)
    assert reading is not None
    assert (reading.start, reading.keys) == (100, {OTHER})


def test_only_dead_lettered_rows_of_a_held_key_are_read() -> None:
    held = draining(K, [1, 2, 3], state=KeyState.HELD, dead_through=1)
    state = state_of(held)
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (K, 2), (K, 3))
    assert [each.source for each in backlog.rows(held)] == [1]
    (drained,) = step_at(state).drain(backlog)
    assert (drained.row.source, drained.verdict) == (1, Verdict.DEAD)


def test_rows_read_during_a_drain_stay_held_after_a_new_hold() -> None:
    state = state_of(draining(K, [1, 2, 3], dead_through=1))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, (K, 1), (K, 2), (K, 3))
    held = state_of(draining(K, [1, 2, 3], dead_through=1, state=KeyState.HELD))
    assert [each.row.source for each in step_at(held).drain(backlog)] == [1]


def test_dead_letters_use_no_pace_tokens() -> None:
    state = state_of(draining(K, [1, 2, 3, 4, 5], dead_through=2, pace=2.0))
    backlog: Backlog[None] = Backlog()
    read(backlog, state, *((K, source) for source in range(1, 6)))
    step = step_at(state, NOW + 1_000)
    assert [each.verdict.name for each in step.drain(backlog)] == ["DEAD", "DEAD", "PASS", "PASS"]
    state.apply(step.finish().changes)
    read(backlog, state, (K, 5))
    assert len(step_at(state, NOW + 1_500).drain(backlog)) == 1


def test_pace_never_accumulates_more_than_a_second() -> None:
    flow = Flow()
    flow.hold(K)
    flow.send(K, 30)
    flow.batch()
    flow.release(K, pace=3)
    flow.keep(2)
    assert flow.processed() == [], "nothing is saved up at the start"
    flow.now += 60_000
    flow.keep(3)
    assert len(flow.processed()) == 3
    for out in (4, 5, 6):
        flow.now += 334
        flow.keep()
        assert len(flow.processed()) == out


def test_a_pace_below_one_per_second_makes_progress() -> None:
    flow = Flow()
    flow.hold(K)
    flow.send(K, 3)
    flow.batch()
    flow.release(K, pace=0.5)
    flow.keep()
    for _ in range(5):
        flow.now += 1_000
        flow.keep()
    assert len(flow.processed()) == 2


def test_restart_grants_no_pace_tokens() -> None:
    flow = Flow()
    flow.hold(K)
    flow.send(K, 9)
    flow.batch()
    flow.release(K, pace=2)
    flow.keep()
    flow.now += 10_000
    flow.restart()
    flow.keep(2)
    assert flow.processed() == []
    flow.now += 500
    flow.keep()
    assert len(flow.processed()) == 1


def test_the_oldest_event_is_the_first_remaining_row() -> None:
    flow = Flow()
    flow.hold(K)
    for time in (30, 10, 20):
        flow.send(K, time=time)
    flow.batch()
    oldest = []
    flow.release(K)
    flow.keep()
    for _ in range(2):
        entry = flow.entry(K)
        assert entry is not None
        oldest.append(entry.oldest)
        flow.keep(rows=1)
    assert oldest == [30, 10]
