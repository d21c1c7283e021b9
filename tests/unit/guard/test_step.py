"""What a step of a guard remembers: who crashed, when to try again, and what went wrong."""

import random
from dataclasses import replace

import pytest
from tests.unit.guard.world import POLICY, Logs, Model, Worker

from holdfast.flows.commands import Hold
from holdfast.flows.holds import GUARD
from holdfast.gate import Now
from holdfast.guard import step as step_module
from holdfast.guard.policy import Decision, Failure, Fate

HOUR = 3_600_000
START = Now(100 * HOUR, 0)


def parked(*keys: bytes) -> Worker:
    """A worker whose keys have each failed once."""
    logs = Logs(keys=list(keys))
    worker = Worker(logs, Model(logs), "worker-0", START, random.Random(1))
    worker.broken = set(range(len(keys)))
    worker.fates = [None]
    while worker.state.position.offset < len(keys):
        worker.turn(START, most=len(keys))
    return worker


def next_try(worker: Worker, key: bytes) -> int | None:
    return next(h.expires_at for h in worker.state.entries[key].holds if h.name == GUARD)


def shorten_waits(worker: Worker, now: Now) -> None:
    worker.now = now
    step = worker.begin(None)
    step.shorten_waits(POLICY.longest_ms)
    worker.commit(step.finish(), [], [], [])


def test_clock_that_was_set_back_delays_a_try_by_the_longest_pause_at_most() -> None:
    worker = parked(b"a", b"b")
    back = Now(START.wall - 24 * HOUR, 1)
    shorten_waits(worker, back)
    assert next_try(worker, b"a") == next_try(worker, b"b") == back.wall + POLICY.longest_ms


def test_try_that_is_near_stays_where_it_is() -> None:
    worker = parked(b"a")
    before = next_try(worker, b"a")
    shorten_waits(worker, Now(START.wall + 1, 1))
    assert next_try(worker, b"a") == before


def test_clock_that_was_set_back_changes_no_hold_of_a_person() -> None:
    worker = parked(b"a")
    until = START.wall + 48 * HOUR
    worker.logs.commands.append(
        Hold(id="1", actor="ana", at=0, key=b"a", hold_name="ana", expires_at=until)
    )
    worker.turn(START, most=0)
    shorten_waits(worker, Now(START.wall - 24 * HOUR, 1))
    assert until in {hold.expires_at for hold in worker.state.entries[b"a"].holds}


@pytest.mark.parametrize(("steady", "starts"), [(True, 0), (False, 3)])
def test_progress_ends_suspicion_only_of_a_worker_that_lives_on(steady: bool, starts: int) -> None:
    worker = parked(b"a")
    worker.state.position = replace(worker.state.position, starts=3)
    step = worker.begin(None)
    step.steady = steady
    step.handled()
    assert step.finish().position.starts == starts


def test_errors_of_many_keys_are_kept_without_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = parked(b"a", b"b")
    failure = Failure("ValueError", "no", trace="a long traceback")
    for limit, error in ((2, failure.text), (1, failure.reason)):
        monkeypatch.setattr(step_module, "_TRACED_KEYS", limit)
        step = worker.begin(None)
        step.park(b"c", 2, failure, Decision(Fate.RETRY, 1, START.wall))
        entry = step.entry(b"c")
        assert entry is not None
        assert entry.error == error


def test_hold_and_journal_of_a_guard_do_not_quote_the_event() -> None:
    worker = parked(b"a")
    step = worker.begin(None)
    failure = Failure("ValueError", "card 4711 refused")
    step.park(b"c", 2, failure, Decision(Fate.RETRY, 2, START.wall))
    step.note_dead(b"d", 3, failure)
    entry = step.entry(b"c")
    assert entry is not None
    assert "4711" in entry.error
    assert [hold.reason for hold in entry.holds] == ["Failed 2 times: ValueError"]
    notes = [record.note for record in step.finish().journal]
    assert "Failed 2 times: ValueError" in notes
    assert not any("4711" in note for note in notes)
