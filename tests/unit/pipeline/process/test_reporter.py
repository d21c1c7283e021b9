"""Reports: a changed state at once, changed counts every second, a heartbeat every ten."""

import pytest

from holdfast.flows.reports import REPORT_SECONDS, Report, is_due
from holdfast.pipeline.parts.metrics import Metrics, PartCounts


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
        (report(), REPORT_SECONDS, True),
    ],
)
def test_reports_are_written_on_a_changed_state_changed_counts_or_after_a_while(
    now: Report, seconds: float, news: bool
) -> None:
    assert is_due(report(), now, seconds) is news


def test_report_counts_come_from_the_metrics() -> None:
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


def test_counts_of_a_flow_are_read_without_those_of_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a hundred flows the registry has thousands of series."""
    metrics = Metrics()
    metrics.events_in.labels("orders").inc(5)
    metrics.raw_zone_files.labels("orders").set(7)
    monkeypatch.setattr(metrics.registry, "collect", lambda: pytest.fail("reads all series"))
    assert metrics.counts_of("orders", "gate").taken == 5
    assert metrics.counts_of("orders", "raw-zone").files == 7
    assert metrics.counts_of("orders", "runs") == PartCounts()
