"""Reports of a worker: refused writes are logged once, and quote no event."""

import logging
from typing import Any

import pytest

from holdfast.errors import AccessDeniedError
from holdfast.flows.reports import Report, partition_part
from holdfast.guard import reporter
from holdfast.guard.policy import Failure
from holdfast.guard.reporter import Reporter
from holdfast.guard.steps import GuardStoppedError
from holdfast.guard.worker import _report_text


class Broker:
    """A broker whose refusals come one turn after the sending, as with librdkafka."""

    def __init__(self) -> None:
        self.refuses = True
        self.records = 0

    def send(self, *_: object) -> "Sent":
        self.records += 1
        return Sent(self.refuses)


class Sent:
    def __init__(self, refused: bool) -> None:
        self._refused = refused

    def done(self) -> bool:
        return True

    def result(self) -> None:
        if self._refused:
            raise AccessDeniedError("no right to write")


def test_refused_reports_are_logged_once_until_one_arrives(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broker, turns = Broker(), iter(range(100))
    monkeypatch.setattr(reporter, "_TURN_SECONDS", 0.0)

    def reports() -> dict[int, Report]:
        reason = str(next(turns))  # it changes at each turn, so it is always due
        return {
            n: Report(
                flow="billing", part=partition_part(n), state="waiting", reason=reason, at=0,
                process="p",
            )
            for n in (0, 1)
        }  # fmt: skip

    unused: Any = None
    written: Any = Reporter(unused, reports)
    written._producer = broker

    def warnings(turns: int) -> int:
        caplog.clear()
        for _ in range(turns):
            written._turn()
        return sum(record.levelno == logging.WARNING for record in caplog.records)

    assert warnings(5) == 1
    broker.refuses = False
    assert warnings(5) == 0
    broker.refuses = True
    assert warnings(5) == 1
    assert broker.records == 30
    assert len(written._sent) == 2


def test_report_of_a_stopped_guard_leaves_out_the_message_which_may_quote_the_event() -> None:
    error = GuardStoppedError("billing", 3, Failure("ValueError", "card {} 4711-secret"))
    assert "card {} 4711-secret" in str(error)
    assert "4711-secret" not in _report_text(error)
    assert "partition 3 has failed for the last time. ValueError." in _report_text(error)
