"""Threads whose failures are seen, and which go on after them."""

from threading import Event

from tests.clients import wait_until

from holdfast.background import Background


class Work:
    """Turns that fail while told to."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.turns = self.restarts = 0
        self.closed = Event()
        self.thread = Background(
            "work", self.turn, restart=self.restart, close=self.closed.set, first_pause=0.001
        )

    def turn(self) -> None:
        self.turns += 1
        if self.error is not None:
            raise self.error
        self.thread.stopping.wait(0.001)

    def restart(self) -> None:
        self.restarts += 1


def test_failure_is_visible_while_it_lasts_and_turns_continue_after_it() -> None:
    work = Work()
    work.thread.start()
    wait_until(lambda: work.turns > 2, "turns")
    assert work.thread.failure == ""
    work.error = RuntimeError("planted")
    wait_until(lambda: work.restarts > 2, "restarts")
    assert "planted" in work.thread.failure
    work.error = None
    wait_until(lambda: not work.thread.failure, "work that goes on")
    work.thread.stop()
    assert work.closed.is_set()


def test_error_while_beginning_again_does_not_end_the_thread() -> None:
    work = Work()

    def restart() -> None:
        work.restarts += 1
        raise OSError("and again")

    work.thread = Background("work", work.turn, restart=restart, first_pause=0.001)
    work.error = RuntimeError("planted")
    work.thread.start()
    wait_until(lambda: work.restarts > 2, "restarts")
    work.error = None
    wait_until(lambda: not work.thread.failure, "work that goes on")
    work.thread.stop()


def test_pause_ends_when_the_work_is_stopped() -> None:
    work = Work()
    work.thread = Background("work", work.turn, close=work.closed.set, first_pause=1_000)
    work.error = RuntimeError("planted")
    work.thread.start()
    wait_until(lambda: bool(work.thread.failure), "a failure")
    work.thread.stop()
    assert (work.turns, work.closed.is_set()) == (1, True)
