"""`holdfast produce` reports deliveries whatever happens to one report."""

from threading import Event
from typing import Any

from holdfast.cli.sending import Sender

DEADLINE_S = 60.0


class BadReport:
    """A producer whose first report cannot be handled, as when standard error is closed."""

    def __init__(self) -> None:
        self.polls = 0
        self.goes_on = Event()

    def poll(self, timeout: float) -> None:
        self.polls += 1
        if self.polls == 1:
            raise ValueError("I/O operation on closed file")
        self.goes_on.set()

    def flush(self) -> None:
        assert self.goes_on.wait(DEADLINE_S)


def test_report_that_cannot_be_handled_does_not_end_the_others() -> None:
    producer: Any = BadReport()
    with Sender(producer, "t", prefix=""):
        assert producer.goes_on.wait(DEADLINE_S)
