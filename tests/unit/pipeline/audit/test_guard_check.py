"""The audit of a guard: clean for every history of a sound guard, and each damage has its name."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.pipeline.audit.guard_history import Account, copy_of, moved, play

from holdfast.flows.journal import CommandReference, JournalRecord, Outcome
from holdfast.flows.status import Entry, KeyState, Position
from holdfast.pipeline.audit.guard.logs import PartitionLogs


@pytest.mark.parametrize("seed", range(25))
def test_sound_guard_is_clean_at_any_moment_and_every_event_is_counted(seed: int) -> None:
    logs, accounts = play(seed)
    for account in accounts:
        result = account.audit()
        assert not result.faults, (seed, list(result.faults.values()))
        assert result.handled + result.held + result.dead == result.end
        assert result.not_taken == len(account.events) - result.end
    assert result.dead == len(logs.letters)
    assert result.handled == len(logs.handled)


def test_trimmed_rows_of_handled_events_are_no_fault() -> None:
    account = example()
    account.logs.held = account.logs.held[1:]
    account.logs.held_start = 1
    assert account.faults() == set()
    assert account.audit().trimmed == 1


def test_records_of_later_steps_are_no_fault() -> None:
    account = example()
    account.logs.journal.append(note(Outcome.HELD, b"other", step=99, cut=9))
    account.logs.held.append(copy_of(b"other", 9, 7, source=(0, 9)))
    account.logs.letters.append(copy_of(b"other", 10, 7, source=(0, 10), reason="E"))
    assert account.faults() == set()


def test_event_of_a_compacted_topic_may_be_gone() -> None:
    account = example()
    del account.events[1]
    assert account.faults() == {"stray"}
    account.compacted = True
    assert account.faults() == set()


def test_dead_event_may_wait_for_the_step_that_writes_its_letter() -> None:
    account = example()
    account.logs.journal.append(note(Outcome.DEAD_LETTERED, b"k", step=6, cut=6, drained_through=6))
    assert account.faults() == set()


def example() -> Account:
    """Of key `k` events 1 and 2 have waited and are handled, 4 is dead by a command, 6 waits. 3 was
    given up by the handler. Event 8 and later ones are not taken."""
    keys = [b"a", b"k", b"k", b"b", b"k", b"a", b"k", b"a", b"a", b"a", b"a"]
    events = [copy_of(key, source, source) for source, key in enumerate(keys)]
    dead = CommandReference("c", "dead-letter", 0)
    position = Position(offset=8, control=1, step=6, owner="w", last_held=6)
    entry = Entry(
        b"k", KeyState.HELD, "", "the guard", 0, 6, 3, 5, attempts=2, events=1, counted_through=6
    )
    journal = [
        note(Outcome.CHANGED, None, step=1, cut=0),
        note(Outcome.HELD, b"k", step=2, cut=1),
        note(Outcome.EXPIRED, b"k", step=3, cut=3),
        note(Outcome.DRAINED, b"k", step=3, cut=3, drained_through=2),
        note(Outcome.DEAD_LETTERED, b"b", step=3, cut=3, drained_through=3),
        note(Outcome.HELD, b"k", step=4, cut=4),
        replace(note(Outcome.DEAD_LETTERED, b"k", step=5, cut=5, drained_through=3), command=dead),
        note(Outcome.DRAINED, b"k", step=5, cut=5, drained_through=4),
        note(Outcome.HELD, b"k", step=6, cut=6),
    ]
    logs = PartitionLogs(
        0,
        position,
        {b"k": entry},
        journal,
        held=[copy_of(b"k", s, i, source=(0, s)) for i, s in enumerate((1, 2, 4, 6))],
        letters=[
            copy_of(b"b", 3, 0, source=(0, 3), reason="Skip"),
            copy_of(b"k", 4, 1, source=(0, 4), reason="dead-lettered"),
        ],
        events_end=len(events),
    )
    return Account(logs, events, position)


def note(
    outcome: Outcome,
    key: bytes | None,
    *,
    step: int,
    cut: int,
    drained_through: int | None = None,
) -> JournalRecord:
    return JournalRecord(
        outcome=outcome, key=key, step=step, cut=cut, at=0, drained_through=drained_through
    )


def test_example_is_clean_and_counted() -> None:
    result = example().audit()
    assert result.faults == {}
    counts = (result.handled, result.held, result.dead, result.skipped, result.not_taken)
    assert counts == (5, 1, 2, 2, 3)


def lose_row(account: Account) -> None:
    del account.logs.held[1]


def lose_waiting_row(account: Account) -> None:
    del account.logs.held[3]


def double_row(account: Account) -> None:
    account.logs.held.append(moved(account.logs.held[0], offset=9))


def swap_rows(account: Account) -> None:
    held = account.logs.held
    held[0], held[1] = moved(held[1], offset=0), moved(held[0], offset=1)


def change_value(account: Account) -> None:
    account.logs.held[0] = moved(account.logs.held[0], value=1)


def change_headers(account: Account) -> None:
    account.logs.held[0] = moved(account.logs.held[0], headers=1)


def change_time(account: Account) -> None:
    account.logs.letters[0] = moved(account.logs.letters[0], time=1)


def misplace_row(account: Account) -> None:
    account.logs.held.append(copy_of(b"k", 0, 9, source=(1, 0)))


def add_row_of_no_event(account: Account) -> None:
    account.logs.held.append(copy_of(b"k", 50, 9, source=(0, 50)))


def add_record_without_source(account: Account) -> None:
    account.logs.letters.append(copy_of(b"k", 5, 9))


def lose_letter(account: Account) -> None:
    del account.logs.letters[0]


def bury_without_cause(account: Account) -> None:
    account.logs.letters.append(copy_of(b"a", 5, 9, source=(0, 5), reason="ValueError"))


def bury_without_command(account: Account) -> None:
    del account.logs.journal[6]


def bury_waiting_event(account: Account) -> None:
    account.logs.letters.append(copy_of(b"k", 6, 9, source=(0, 6), reason="ValueError"))
    account.logs.journal.append(note(Outcome.DEAD_LETTERED, b"k", step=6, cut=6, drained_through=6))


def end_drain_early(account: Account) -> None:
    account.logs.journal[3] = replace(account.logs.journal[3], drained_through=1)


def forget_entry(account: Account) -> None:
    del account.logs.entries[b"k"]


def invent_entry(account: Account) -> None:
    account.logs.entries[b"z"] = account.logs.entries[b"k"]._replace(key=b"z")


def miscount_entry(account: Account) -> None:
    account.logs.entries[b"k"] = account.logs.entries[b"k"]._replace(events=2)


def trim_waiting_row(account: Account) -> None:
    account.logs.held, account.logs.held_start = [], 4


def forget_position(account: Account) -> None:
    account.logs.position = None


def forget_committed_offset(account: Account) -> None:
    account.committed = None


def roll_status_back(account: Account) -> None:
    assert account.committed is not None
    account.committed = replace(account.committed, step=9)


def move_committed_offset(account: Account) -> None:
    assert account.committed is not None
    account.committed = replace(account.committed, offset=7)


def cut_journal(account: Account) -> None:
    del account.logs.journal[0]


def go_back_in_journal(account: Account) -> None:
    account.logs.journal[5] = replace(account.logs.journal[5], step=2)


def go_back_in_drain(account: Account) -> None:
    account.logs.journal[7] = replace(account.logs.journal[7], drained_through=1)


def spoil_journal(account: Account) -> None:
    account.logs.unreadable.append(("journal", 5))


DAMAGE: list[tuple[Callable[[Account], None], str]] = [
    (lose_row, "let-through"),
    (lose_waiting_row, "let-through"),
    (double_row, "doubled"),
    (swap_rows, "held-swapped"),
    (change_value, "altered"),
    (change_headers, "headers-altered"),
    (change_time, "time-altered"),
    (misplace_row, "misplaced"),
    (add_row_of_no_event, "stray"),
    (add_record_without_source, "stray"),
    (lose_letter, "lost"),
    (bury_without_cause, "dead-lettered-unasked"),
    (bury_without_command, "dead-lettered-unasked"),
    (bury_waiting_event, "doubled"),
    (end_drain_early, "stuck"),
    (forget_entry, "status-differs"),
    (invent_entry, "status-differs"),
    (miscount_entry, "status-differs"),
    (trim_waiting_row, "lost"),
    (forget_position, "status-missing"),
    (forget_committed_offset, "status-differs"),
    (roll_status_back, "status-missing"),
    (move_committed_offset, "status-differs"),
    (cut_journal, "journal-missing"),
    (go_back_in_journal, "impossible"),
    (go_back_in_drain, "impossible"),
    (spoil_journal, "unreadable"),
]


@pytest.mark.parametrize(("damage", "fault"), DAMAGE, ids=[f.__name__ for f, _ in DAMAGE])
def test_planted_damage_is_named(damage: Callable[[Account], None], fault: str) -> None:
    account = example()
    damage(account)
    assert fault in account.faults()
