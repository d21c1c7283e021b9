"""The checker of `tests.chaos.system` finds each kind of breach that is planted, and no other."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.chaos.system.checker import check, count_sent_again
from tests.chaos.system.findings import Breach
from tests.chaos.system.flows import ChaosFlow
from tests.chaos.system.history import Asked, ClockSet, History, Poll, Send, State
from tests.chaos.system.outcome import Answer, Outcome, Record
from tests.chaos.system.writers import Writer, read_writers

from holdfast.wire.records.batch import build_batch

FLOW = ChaosFlow("f", 1, schema="id BIGINT")
KEY, OTHER = b"k", b"o"


class Run:
    """A run in which all was as promised: event n is at offset n, was sent at second n, and came
    out at offset n of processed, where it was seen a second later. The key `k` was held at 4.5 and
    released at 7.5; `o` was not."""

    def __init__(self) -> None:
        self.history = History(seed=0)
        self.outcome = Outcome(FLOW)
        for n in range(10):
            key = OTHER if n % 2 else KEY
            self.history.sends.append(
                Send(n, "f", "p", key, True, float(n), State.OK, n + 0.1, 0, n)
            )
            self.outcome.events.append(Record(0, n, key, n))
        # 6 waits for the release, and 8 behind it: 7 and 9 of the other key pass them.
        for offset, n in enumerate((0, 1, 2, 3, 4, 5, 7, 6, 8, 9)):
            sent = self.history.sends[n]
            self.outcome.processed.append(Record(0, offset, sent.key, n, (0, n)))
            self.see(offset, n, 8.0 if n == 6 else n + 0.5)
        self.ask("hold", 4.5)
        self.ask("release", 7.5)
        self.work("owns", 0)
        for offset in range(10):
            self.work("handles", offset)
        self.work("commits", 10)

    def see(self, offset: int, identity: int, at: float) -> None:
        self.history.polls.setdefault("f", []).append(Poll(0, offset, identity, at))

    def ask(self, name: str, at: float, key: bytes = KEY, identity: str = "", **more: Any) -> Asked:
        offset = len(self.outcome.control)
        identity = identity or f"c{offset}"
        asked = Asked("f", key, name, identity, at, **more)
        asked.state, asked.completed, asked.offset = State.OK, at + 0.1, offset
        self.history.commands.append(asked)
        self.outcome.control[offset] = identity
        self.outcome.answers.append(Answer(0, offset, "held"))
        return asked

    def work(self, what: str, offset: int) -> None:
        self.history.worker.append(f"1 {what} 0 {offset}")

    def found(self) -> set[Breach]:
        return set(check(self.history, [self.outcome], "f").counts)


def test_clean_chaos_run_has_no_findings() -> None:
    assert check(Run().history, [Run().outcome], "f").lines() == []


def lose_write(run: Run) -> None:
    for log in (run.outcome.events, run.outcome.processed):
        log[:] = [record for record in log if record.id != 9]
    run.history.polls["f"].pop()
    run.history.worker[:] = [line for line in run.history.worker if not line.endswith(" 9")]


def move_write(run: Run) -> None:
    run.history.sends[9].offset = 11


def lose_event(run: Run) -> None:
    """Of a key that nobody sent to the dead letters, and the readers saw nothing of it."""
    run.outcome.processed.pop()
    run.history.polls["f"].pop()
    run.history.worker[:] = [line for line in run.history.worker if not line.endswith(" 9")]


def double_in_events(run: Run) -> None:
    run.outcome.events.append(Record(0, 10, OTHER, 9))
    run.outcome.processed.append(Record(0, 10, OTHER, 9, (0, 10)))
    run.see(10, 9, 9.5)
    run.work("handles", 10)


def double_in_processed(run: Run) -> None:
    run.outcome.processed.append(Record(0, 10, OTHER, 9, (0, 9)))
    run.see(10, 9, 9.5)
    run.work("handles", 10)


def double_in_two_places(run: Run) -> None:
    run.history.commands.append(Asked("f", OTHER, "dead-letter", "d", 1.0))
    run.outcome.dead.append(Record(0, 0, OTHER, 9, (0, 9)))


def swap(run: Run, one: int, two: int) -> None:
    """Sets the records at these offsets of processed, as readers saw them."""
    log, polls = run.outcome.processed, run.history.polls["f"]
    for at, record in ((one, log[two]), (two, log[one])):
        log[at] = replace(record, offset=at)
        polls[at] = replace(polls[at], id=record.id)


def reorder_events(run: Run) -> None:
    """Written the other way round than they were sent; acknowledgements agree."""
    sends, log = run.history.sends, run.outcome.events
    sends[1].offset, sends[3].offset = 3, 1
    log[1], log[3] = replace(log[3], offset=1), replace(log[1], offset=3)
    run.outcome.processed[1] = replace(run.outcome.processed[1], source=(0, 3))
    run.outcome.processed[3] = replace(run.outcome.processed[3], source=(0, 1))
    swap(run, 1, 3)


def reorder_processed(run: Run) -> None:
    swap(run, 1, 3)


def overtake(run: Run) -> None:
    """8 before 6, which was held. Both are seen late enough."""
    swap(run, 7, 8)


def invent(run: Run) -> None:
    run.outcome.processed.append(Record(0, 10, OTHER, 77, (0, 77)))
    run.see(10, 77, 20.0)
    run.work("handles", 10)


def alter(run: Run) -> None:
    run.outcome.processed[9] = replace(run.outcome.processed[9], key=b"another")


def show_aborted(run: Run) -> None:
    run.history.sends[9].state = State.ABORTED


def vanish(run: Run) -> None:
    """A reader saw what is not in the log, as of a transaction that was aborted."""
    run.see(10, 8, 20.0)


def come_out_early(run: Run) -> None:
    run.history.polls["f"][7] = replace(run.history.polls["f"][7], at=7.0)


def pass_invalid(run: Run) -> None:
    run.history.sends[9].valid = False


def bury_oversized(run: Run) -> None:
    """The last event is larger than any topic takes: it is a dead letter without a value."""
    lose_event(run)
    run.history.sends[9].oversized = True
    run.outcome.dead.append(Record(0, 0, OTHER, -1, (0, 9)))


def pass_oversized(run: Run) -> None:
    run.history.sends[9].oversized = True


def double_oversized(run: Run) -> None:
    bury_oversized(run)
    run.outcome.dead.append(Record(0, 1, OTHER, -1, (0, 9)))


def lose_oversized(run: Run) -> None:
    bury_oversized(run)
    run.outcome.dead.clear()


def leave_value_out(run: Run) -> None:
    """Of an event that is not oversized."""
    bury_oversized(run)
    run.history.sends[9].oversized = False


def bury(run: Run) -> None:
    run.outcome.processed.pop()
    run.history.polls["f"].pop()
    run.history.worker[:] = [line for line in run.history.worker if not line.endswith(" 9")]
    run.outcome.dead.append(Record(0, 0, OTHER, 9, (0, 9)))


def go_back(run: Run) -> None:
    run.history.polls["f"].append(run.history.polls["f"][9])


def skip(run: Run) -> None:
    del run.history.polls["f"][3]


def worker_goes_back(run: Run) -> None:
    run.history.worker.insert(5, "1 handles 0 1")
    run.history.worker.insert(6, "1 owns 0 4")


def worker_skips(run: Run) -> None:
    """One that another ownership has handled."""
    run.work("owns", 10)
    run.history.worker.insert(4, "1 owns 0 0")
    run.history.worker.insert(5, "1 handles 0 0")
    run.history.worker.insert(6, "1 handles 0 2")


def commit_goes_back(run: Run) -> None:
    run.work("owns", 9)


def commit_unhandled(run: Run) -> None:
    run.history.worker.insert(3, "1 commits 0 5")


def lose_command(run: Run) -> None:
    run.outcome.control[1] = "another"


def leave_unanswered(run: Run) -> None:
    run.outcome.answers.pop()


def answer_twice(run: Run) -> None:
    run.outcome.answers.append(Answer(0, 1, "released"))


def act_twice(run: Run) -> None:
    run.ask("release", 8.0, identity="c1")


def misbehave(run: Run) -> None:
    run.history.breaches.append("a pipeline ended with code 1")


def write(run: Run, epoch: int, *sequences: int) -> None:
    """The last events were written by that epoch of their producer, with these sequences."""
    log = run.outcome.events
    for at, sequence in enumerate(sequences, len(log) - len(sequences)):
        log[at] = replace(log[at], writer=Writer(7, epoch, sequence))


def append(run: Run, identity: int) -> None:
    """The event is in events once more, and came out of there once."""
    place = len(run.outcome.events)
    key = run.history.sends[identity].key
    run.outcome.events.append(Record(0, place, key, identity))
    run.outcome.processed.append(Record(0, place, key, identity, (0, place)))
    run.see(place, identity, 9.9)
    run.work("handles", place)


def append_twice_by_the_broker(run: Run) -> None:
    """A retry with the same epoch and sequence, which the broker must recognise."""
    write(run, 0, *range(10))
    append(run, 9)
    write(run, 0, 9)


def repeat_within_an_epoch(run: Run) -> None:
    write(run, 0, *range(10))
    append(run, 9)
    write(run, 0, 10)


def double_what_was_sent_again(run: Run) -> None:
    """The gate takes one of the two events of a producer that sent it again twice."""
    send_again(run)
    run.outcome.processed.append(Record(0, 12, KEY, 8, (0, 10)))
    run.see(12, 8, 20.0)
    run.work("handles", 12)


def lose_what_was_sent_again(run: Run) -> None:
    send_again(run)
    run.outcome.processed.pop()
    run.history.polls["f"].pop()
    run.history.worker.pop()


def reorder_what_was_sent_again(run: Run) -> None:
    """Later events of a key come before earlier ones within the new epoch."""
    write(run, 0, *range(10))
    for sequence, identity in enumerate((9, 7)):
        append(run, identity)
        write(run, 1, sequence)


def reorder_after_sending_again(run: Run) -> None:
    """An event that is not a repetition comes after a later one, under another epoch."""
    reorder_events(run)
    write(run, 1, *range(10))
    write(run, 0, *range(7))


def send_again(run: Run) -> None:
    """A producer gave up a record, and sent the two last ones again under another epoch."""
    write(run, 0, *range(10))
    for sequence, identity in enumerate((8, 9)):
        append(run, identity)
        write(run, 1, sequence)


def test_an_event_that_its_producer_sent_again_is_no_breach_and_is_counted() -> None:
    run = Run()
    send_again(run)
    assert run.found() == set()
    assert count_sent_again(run.outcome) == 2


def test_the_producer_of_each_record_is_read_from_the_brokers_files(tmp_path: Path) -> None:
    batches = b"".join(
        build_batch(
            [(None, b"a"), (None, b"b")],
            base_offset=base,
            timestamp=0,
            producer_id=7,
            producer_epoch=epoch,
            base_sequence=base,
        )
        for base, epoch in ((0, 3), (2, 4))
    )
    (tmp_path / "0.log").write_bytes(batches + bytes(1_000))  # the room that is allocated ahead
    assert read_writers(tmp_path) == {
        0: Writer(7, 3, 0), 1: Writer(7, 3, 1), 2: Writer(7, 4, 2), 3: Writer(7, 4, 3),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        (append_twice_by_the_broker, Breach.DOUBLED),
        (repeat_within_an_epoch, Breach.DOUBLED),
        (double_what_was_sent_again, Breach.DOUBLED),
        (lose_what_was_sent_again, Breach.LOST_EVENT),
        (reorder_what_was_sent_again, Breach.REORDERED),
        (reorder_after_sending_again, Breach.REORDERED),
        (lose_write, Breach.LOST_WRITE),
        (move_write, Breach.LOST_WRITE),
        (lose_event, Breach.LOST_EVENT),
        (double_in_events, Breach.DOUBLED),
        (double_in_processed, Breach.DOUBLED),
        (double_in_two_places, Breach.DOUBLED),
        (reorder_events, Breach.REORDERED),
        (reorder_processed, Breach.REORDERED),
        (overtake, Breach.OVERTAKEN),
        (invent, Breach.PHANTOM),
        (alter, Breach.PHANTOM),
        (show_aborted, Breach.PHANTOM),
        (vanish, Breach.PHANTOM),
        (come_out_early, Breach.EARLY),
        (pass_invalid, Breach.INVALID_PASSED),
        (bury, Breach.WRONGLY_DEAD),
        (pass_oversized, Breach.OVERSIZED_PASSED),
        (double_oversized, Breach.DOUBLED),
        (lose_oversized, Breach.LOST_EVENT),
        (leave_value_out, Breach.PHANTOM),
        (go_back, Breach.WENT_BACK),
        (skip, Breach.SKIPPED),
        (worker_goes_back, Breach.WENT_BACK),
        (worker_skips, Breach.SKIPPED),
        (commit_goes_back, Breach.COMMIT_BACK),
        (commit_unhandled, Breach.UNHANDLED),
        (lose_command, Breach.LOST_COMMAND),
        (leave_unanswered, Breach.UNANSWERED),
        (answer_twice, Breach.ANSWERED_TWICE),
        (act_twice, Breach.ANSWERED_TWICE),
        (misbehave, Breach.MISBEHAVED),
    ],
)
def test_a_planted_breach_is_found(plant: Callable[[Run], None], expected: Breach) -> None:
    run = Run()
    plant(run)
    found = run.found()
    assert expected in found
    # What is altered or gone is missed elsewhere, too; nothing else may be.
    assert found <= {expected, Breach.LOST_EVENT, Breach.UNHANDLED}


def test_an_oversized_event_is_a_dead_letter_without_its_value() -> None:
    run = Run()
    bury_oversized(run)
    assert run.found() == set()


def early(run: Run) -> bool:
    return Breach.EARLY in run.found()


def test_release_without_outcome_excuses_events_after_its_request() -> None:
    run = Run()
    come_out_early(run)
    released = run.ask("release", 6.8)
    released.state, released.completed = State.INFO, float("inf")
    assert not early(run)
    released.invoked = 7.2
    assert early(run)


def test_release_answered_before_the_hold_excuses_no_event() -> None:
    run = Run()
    come_out_early(run)
    run.ask("release", 4.0)
    assert early(run)


def test_unacknowledged_hold_promises_nothing() -> None:
    run = Run()
    come_out_early(run)
    run.history.commands[0].state = State.INFO
    assert not early(run)


def test_repeated_hold_does_not_start_a_new_one() -> None:
    run = Run()
    again = run.ask("hold", 7.7, identity="c0")
    again.completed = 7.8
    run.outcome.answers[-1] = replace(run.outcome.answers[-1], outcome="duplicate")
    assert run.found() == set()  # 8 was sent after it, and came out


def test_an_expiry_excuses_from_its_time_on_by_the_pipelines_clock() -> None:
    run = Run()
    come_out_early(run)
    run.ask("hold", 4.6, expires=6.9)
    assert not early(run)
    run.history.commands[-1].expires = 60.0
    assert early(run)
    run.history.clock.append(ClockSet(5.0, ahead=54.0))
    assert not early(run)
    run.history.clock[:] = [ClockSet(7.5, ahead=54.0)]
    assert early(run)


def test_clock_ahead_for_a_moment_excuses_no_early_release() -> None:
    run = Run()
    come_out_early(run)
    run.ask("hold", 4.6, expires=60.0)
    run.history.clock[:] = [ClockSet(5.0, ahead=3000.0), ClockSet(6.5, ahead=0.0)]
    assert early(run)
    run.history.clock[:] = [ClockSet(-4.0, ahead=3000.0), ClockSet(6.5, ahead=0.0)]
    assert not early(run)
    run.history.clock[:] = [
        ClockSet(-4.0, ahead=3000.0),
        ClockSet(2.0, ahead=3600.0),
        ClockSet(6.5, ahead=0.0),
    ]
    assert not early(run)
    run.history.commands[-1].expires = 6.9
    run.history.clock[:] = [ClockSet(5.0, ahead=3000.0), ClockSet(7.0, ahead=0.0)]
    assert not early(run), "its time has come in any case"
