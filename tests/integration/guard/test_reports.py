"""What a worker shows of itself: metrics for Prometheus, and reports for the dashboard."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.brokers import free_ports
from tests.conftest import unique_name
from tests.integration.guard.stage import IN_PLACE, ON_EMBEDDED, Stage, until

from holdfast.views.flow_view import FlowView
from holdfast.views.health import WORKERS, HealthState
from holdfast.views.views import Views


def scrape(address: str, name: str) -> dict[str, float]:
    """The values of a metric by `result`, else by its only other label, else under ''."""
    with urlopen(f"http://{address}/metrics", timeout=30) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        samples = [s for family in families for s in family.samples if s.name == name]
    found: dict[str, float] = {}
    for sample in samples:
        label = next((sample.labels[n] for n in ("result", "le") if n in sample.labels), "")
        found[label] = found.get(label, 0.0) + sample.value
    return found


@pytest.fixture
def views(stage: Stage) -> Iterator[Views]:
    with Views(stage.client.connection) as made:
        yield made


def health(views: Views, stage: Stage) -> HealthState | None:
    known = {flow.name: flow for flow in views.flows()}
    return known[stage.name].health().state if stage.name in known else None


@ON_EMBEDDED
def test_metrics_count_tries_events_and_failing_keys(stage: Stage, tmp_path: Path) -> None:
    fixed, gate = tmp_path / "fixed", tmp_path / "open"
    address = f"127.0.0.1:{free_ports(1)[0]}"
    stage.send("broken", f"until:{fixed}")
    stage.send("broken", count=2)
    stage.send("buried", "skip")
    stage.send_background(50)
    stage.start(http=address, policy={"attempts": 100, "backoff": "0.1s..0.3s"})
    until(lambda: len(stage.out()) == 50 and stage.waits("broken"))
    until(lambda: scrape(address, "holdfast_guard_lag_records") == {"": 0})
    assert scrape(address, "holdfast_guard_events_total")["handled"] == 50
    assert scrape(address, "holdfast_guard_events_total")["held"] == 3
    assert scrape(address, "holdfast_guard_events_total")["dead"] == 1
    assert scrape(address, "holdfast_guard_failing_keys") == {"": 1}
    assert scrape(address, "holdfast_guard_partitions") == {"": 2}
    assert scrape(address, "holdfast_guard_circuit_open") == {"": 0}
    tries = scrape(address, "holdfast_guard_tries_total")
    assert tries["succeeded"] == 50
    assert tries["failed"] >= 2
    times = scrape(address, "holdfast_guard_handler_seconds_bucket")
    assert list(times.values()) == sorted(times.values())
    assert times["+Inf"] >= 52
    with urlopen(f"http://{address}/healthz", timeout=30) as answer:
        assert json.load(answer) == {
            "status": "ok", "partitions": [0, 1], "circuit": "closed", "stuck": 0,
        }  # fmt: skip
    fixed.touch()
    until(stage.is_done)
    assert scrape(address, "holdfast_guard_failing_keys") == {"": 0}
    stage.send("slow", f"wait:{gate}")
    until(lambda: scrape(address, "holdfast_guard_running") == {"": 1})
    gate.touch()
    until(lambda: scrape(address, "holdfast_guard_running") == {"": 0})


def test_views_know_if_a_guard_runs_waits_or_was_stopped(
    stage: Stage, views: Views, tmp_path: Path
) -> None:
    gate = tmp_path / "open"
    stage.client.flow(stage.name).create_guard(stage.topic)
    until(lambda: health(views, stage) is HealthState.UNKNOWN)
    worker = stage.start(policy={"timeout": "0.5s"}, kafka=IN_PLACE)
    until(lambda: health(views, stage) is HealthState.RUNNING)

    def has_rate() -> bool:
        stage.send_background(5)
        return any(sample.outgoing > 0 for sample in view(views, stage).series.samples())

    until(has_rate)
    stage.send("slow", f"wait:{gate}")
    until(lambda: health(views, stage) is HealthState.WAITING)
    part = view(views, stage).health().parts[WORKERS]
    assert "run for too long" in part.reason
    gate.touch()
    until(lambda: health(views, stage) is HealthState.RUNNING)
    worker.terminate()
    until(lambda: health(views, stage) is HealthState.STOPPED)
    assert worker.wait(30) == 0
    stage.send("broken", "fail")
    worker = stage.start(policy={"then": "stop", "attempts": 1}, kafka=IN_PLACE)
    until(lambda: health(views, stage) is HealthState.FAILED)
    reason = view(views, stage).health().reason
    assert "failed for the last time. ValueError." in reason  # its message may quote the event
    assert worker.wait(30) != 0


@ON_EMBEDDED
def test_marker_at_the_end_of_a_transactional_topic_is_no_lag(stage: Stage, views: Views) -> None:
    with (
        stage.client.producer(transactional_id=unique_name("writer")) as producer,
        producer.transaction(),
    ):
        for number in range(20):
            producer.send(stage.topic, {"n": number}, key=f"key-{number}")
    stage.start()
    until(lambda: len(stage.out()) == 20)
    until(lambda: health(views, stage) is HealthState.RUNNING)
    until(lambda: view(views, stage).summary().now is not None)
    until(lambda: view(views, stage).summary().now.lag == 0)  # type: ignore[union-attr]


def view(views: Views, stage: Stage) -> FlowView:
    return views.flow(stage.name)
