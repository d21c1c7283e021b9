"""The checker of `tests.chaos.system` finds each kind of breach that is planted, and no other."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.chaos.system.checker import check
from tests.chaos.system.findings import Breach
from tests.chaos.system.flows import ChaosFlow
from tests.chaos.system.history import Asked, ClockSet, History, Poll, Send, State
from tests.chaos.system.outcome import Answer, Outcome, Record

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
            key = self.history.sends[n].key
            self.outcome.processed.append(Record(0, offset, key, n, (0, n)))
            self.see(offset, n, 8.0 if n == 6 else n + 0.5)
        self.ask("hold", 4.5)
        self.ask("release", 7.5)
        self.work("owns", 0)
        for offset in range(10):
            self.work("handles", offset)
        self.work("commits", 10)

    def see(self, offset: int, identity: int, at: float) -> None:
        self.history.polls.setdefault("f", []).append(Poll(0, offset, identity, at))

    def ask(
        self, name: str, at: float, key: bytes = KEY, identity: str = "", **more: float
    ) -> Asked:
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


def test_a_run_in_which_all_was_as_promised_has_no_findings() -> None:
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
    """What is at these offsets of processed, so that the readers saw the same."""
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


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
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


def early(run: Run) -> bool:
    return Breach.EARLY in run.found()


def test_an_unknown_release_excuses_what_comes_out_after_it_was_asked_for() -> None:
    run = Run()
    come_out_early(run)
    released = run.ask("release", 6.8)
    released.state, released.completed = State.INFO, float("inf")
    assert not early(run)
    released.invoked = 7.2
    assert early(run)


def test_a_release_that_was_answered_before_the_hold_excuses_nothing() -> None:
    run = Run()
    come_out_early(run)
    run.ask("release", 4.0)
    assert early(run)


def test_a_hold_that_nobody_acknowledged_promises_nothing() -> None:
    run = Run()
    come_out_early(run)
    run.history.commands[0].state = State.INFO
    assert not early(run)


def test_a_repeated_hold_is_no_new_one() -> None:
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
