"""`/metrics` and `/healthz`, over real sockets."""

import json
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from holdfast.errors import ConfigError
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.process.http import STUCK_SECONDS, HttpServer


def get(server: HttpServer, path: str) -> tuple[int, str]:
    assert server._server is not None
    host, port = server._server.server_address[:2]
    try:
        with urlopen(f"http://{host!s}:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_metrics_are_served_without_keys_in_labels() -> None:
    metrics = Metrics()
    metrics.events_in.labels("orders").inc(3)
    with HttpServer("127.0.0.1:0", metrics) as server:
        status, body = get(server, "/metrics")
    assert status == 200
    assert 'holdfast_events_in_total{flow="orders"} 3.0' in body
    for metric in metrics.registry.collect():
        for sample in metric.samples:
            assert sample.labels.keys() <= {"flow", "part", "le"}


def test_health_is_served_once_the_pipeline_is_up_and_names_failed_parts() -> None:
    with HttpServer("127.0.0.1:0", Metrics()) as server:
        assert get(server, "/healthz")[0] == 503
        server.show(lambda: {"orders": {"gate": {"state": "running", "reason": ""}}})
        status, body = get(server, "/healthz")
        assert (status, json.loads(body)["status"]) == (200, "ok")
        server.show(lambda: {"orders": {"gate": {"state": "failed", "reason": "disk full"}}})
        status, body = get(server, "/healthz")
        assert status == 200, "the pipeline retries by itself: no restart is needed"
        assert json.loads(body) == {
            "status": "degraded",
            "flows": {"orders": {"gate": {"state": "failed", "reason": "disk full"}}},
        }
        assert get(server, "/elsewhere")[0] == 404


def test_a_pipeline_whose_loop_hangs_is_reported_as_stuck() -> None:
    now = [0.0]
    with HttpServer("127.0.0.1:0", Metrics(), lambda: now[0]) as server:
        server.show(dict)
        now[0] = STUCK_SECONDS + 1
        assert get(server, "/healthz") == (503, '{"status":"stuck"}\n')
        server.beat()
        assert get(server, "/healthz")[0] == 200


def test_http_is_off_without_an_address() -> None:
    with HttpServer(None, Metrics()) as server:
        assert server._server is None


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:x", "127.0.0.1:99999"])
def test_an_unusable_address_is_named_in_the_error(address: str) -> None:
    with pytest.raises(ConfigError, match=address):
        HttpServer(address, Metrics())


def test_a_deleted_flow_has_no_metrics() -> None:
    metrics = Metrics()
    metrics.events_in.labels("a").inc()
    metrics.part_up.labels("a", "gate").set(1)
    metrics.batch_seconds.labels("a", "gate").observe(1)
    metrics.events_in.labels("b").inc()
    metrics.forget("a")
    flows = {s.labels.get("flow") for m in metrics.registry.collect() for s in m.samples}
    assert flows == {"b"}
