"""What is worth a report: a changed state at once, moving counts each second, life every ten."""

import pytest

from holdfast.flows.reports import REPORT_EVERY_S, Report
from holdfast.pipeline.metrics import Metrics
from holdfast.pipeline.reporter import _is_news


def report(**fields: object) -> Report:
    given = {"flow": "orders", "part": "gate", "state": "running", "at": 1_000, "process": "p"}
    return Report(**{**given, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("now", "seconds", "news"),
    [
        (report(), 0.5, False),
        (report(at=9_000), 5.0, False),
        (report(state="failed", reason="why"), 0.0, True),
        (report(reason="another"), 0.0, True),
        (report(blocked=True), 0.0, True),
        (report(taken=7), 0.5, False),
        (report(taken=7), 1.0, True),
        (report(), REPORT_EVERY_S, True),
    ],
)
def test_reports_are_written_when_there_is_something_to_say(
    now: Report, seconds: float, news: bool
) -> None:
    assert _is_news(report(), now, seconds) is news


def test_counts_are_those_of_the_metrics() -> None:
    metrics = Metrics()
    metrics.events_in.labels("orders").inc(5)
    metrics.events_out.labels("orders").inc(3)
    metrics.events_held.labels("orders").inc(2)
    metrics.events_dead_lettered.labels("orders").inc(1)
    metrics.blocked.labels("orders").set(1)
    metrics.batch_seconds.labels("orders", "gate").observe(0.5)
    metrics.latency_seconds.labels("orders").observe(0.25)
    counts = metrics.counts_of("orders", "gate")
    assert (counts.taken, counts.passed, counts.held, counts.dead) == (5, 3, 2, 1)
    assert (counts.blocked, counts.batches) == (True, 1)
    assert (counts.batch_seconds, counts.latency_seconds) == (0.5, 0.25)
    assert metrics.counts_of("another", "gate").taken == 0
    assert metrics.counts_of("orders", "raw-zone").taken == 0
