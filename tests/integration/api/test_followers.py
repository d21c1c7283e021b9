"""Threads that follow Kafka for the web process: a failure is shown, and they go on after it."""

import html
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import KafkaError
from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until
from tests.integration.api.served import PATIENCE_S, Api, serving
from tests.spoil import spoil

import holdfast
from holdfast.client.compacted_topic import CompactedTopic
from holdfast.client.positions import Offsets
from holdfast.errors import UnavailableError
from holdfast.views import follower, standstill
from holdfast.views.changes import Changes
from holdfast.views.flow_view import FlowView
from holdfast.views.follower import Follower
from holdfast.views.meter import Meter


class Planted:
    """An error in a method, while it is armed."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        owner: type,
        method: str,
        error: type[Exception] = RuntimeError,
    ) -> None:
        self.armed = False
        self.hits = 0
        real = getattr(owner, method)

        def failing(*given: Any, **named: Any) -> Any:
            if self.armed:
                self.hits += 1
                raise error("planted")
            return real(*given, **named)

        monkeypatch.setattr(owner, method, failing)


def ready_code(api: Api) -> int:
    return httpx.get(f"{api.address}/readyz", timeout=DEADLINE_S).status_code


def test_views_that_cannot_be_followed_are_not_shown_as_live_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = Planted(monkeypatch, Follower, "_follow_registry")
    with EmbeddedBroker(tmp_path) as broker, holdfast.connect(broker.bootstrap) as client:
        flow = client.flow("orders")
        flow.create(partitions=1)
        with serving(broker) as api:
            assert api.get("flows/orders").status_code == 200
            planted.armed = True
            wait_until(lambda: api.get("flows/orders").status_code == 503, "old state is not shown")
            ready = httpx.get(f"{api.address}/readyz", timeout=DEADLINE_S)
            assert (ready.status_code, "planted" in ready.text) == (503, True)
            assert "planted" in api.get("flows/orders").text
            page = httpx.get(f"{api.address}/flows/orders", timeout=DEADLINE_S)
            assert (page.status_code, "planted" in page.text) == (503, True)
            flow.hold("k")
            planted.armed = False
            wait_until(lambda: api.get("flows/orders").status_code == 200, "views", PATIENCE_S)
            wait_until(
                lambda: api.found("flows/orders/keys/k")["pending"] == ["hold"],
                "what came meanwhile",
            )
            wait_until(
                lambda: httpx.get(f"{api.address}/readyz", timeout=DEADLINE_S).status_code == 200,
                "a process that is well",
            )


@pytest.mark.parametrize(("owner", "method"), [(Follower, "_follow_registry"), (Offsets, "ends")])
def test_views_that_the_broker_does_not_serve_say_since_when_and_why_until_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, method: str
) -> None:
    monkeypatch.setattr(standstill, "LASTING_SECONDS", 1.0)
    planted = Planted(monkeypatch, owner, method, UnavailableError)
    with EmbeddedBroker(tmp_path) as broker, holdfast.connect(broker.bootstrap) as client:
        client.flow("orders").create(partitions=1)
        with serving(broker) as api, httpx.Client(timeout=DEADLINE_S) as http:
            assert api.get("flows/orders").status_code == 200
            wait_until(lambda: ready_code(api) == 200, "a process that is well")
            planted.armed = True
            wait_until(lambda: ready_code(api) == 503, "readiness that ends")
            reason = http.get(f"{api.address}/readyz").json()["reason"]
            assert re.search(r"stands still since 20\d\d-.* UTC: .*planted", reason)
            # The last known state is still served, and every page says that it is old.
            page = http.get(f"{api.address}/flows/orders")
            assert (page.status_code, html.escape(reason) in page.text) == (200, True)
            as_of = first_as_of(http, f"{api.address}/live")
            assert (as_of["age"] >= 1_000, "planted" in as_of["why"]) == (True, True)
            planted.armed = False
            wait_until(lambda: ready_code(api) == 200, "a process that is well")
            assert "stands still" not in http.get(f"{api.address}/flows/orders").text
            assert first_as_of(http, f"{api.address}/live")["why"] == ""


def test_views_of_a_partition_that_the_broker_refuses_stand_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """librdkafka reports a refused partition once, and then is silent."""
    planted = Planted(monkeypatch, Offsets, "ends", UnavailableError)
    with EmbeddedBroker(tmp_path) as broker, holdfast.connect(broker.bootstrap) as client:
        client.flow("orders").create(partitions=1)
        changes, flows = Changes(), dict[str, FlowView]()
        views = Follower(client.connection, flows, changes)
        views.start()
        try:
            wait_until(views.caught_up.is_set, "views", PATIENCE_S)
            planted.armed = True
            views._take(Refusal("orders.control"))  # type: ignore[arg-type]
            wait_until(lambda: views.standstill is not None, "a standstill")
            assert "planted" in views.failure
            planted.armed = False
            wait_until(lambda: views.standstill is None, "progress")
            assert not views.failure
        finally:
            views.stop()


class Refusal:
    """A message of librdkafka that says that a partition cannot be fetched."""

    def __init__(self, topic: str) -> None:
        self.topic = lambda: topic
        self.partition = lambda: 0
        self.error = lambda: KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)


def first_as_of(http: httpx.Client, address: str) -> dict[str, Any]:
    """The first time of the data that a page's stream sends."""
    with http.stream("GET", address) as stream:
        lines = stream.iter_lines()
        while next(lines) != "event: as-of":
            pass
        return dict(json.loads(next(lines).removeprefix("data: ")))


@pytest.mark.parametrize(
    ("owner", "method"),
    [(Meter, "_sample_all"), (CompactedTopic, "poll"), (FlowView, "take_sample")],
)
def test_followers_continue_after_any_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, method: str
) -> None:
    planted = Planted(monkeypatch, owner, method)
    with EmbeddedBroker(tmp_path) as broker, serving(broker) as api:
        api.asked("flows", {"name": "orders", "partitions": 1})
        planted.armed = True
        wait_until(lambda: planted.hits > 0, "the error")
        planted.armed = False
        api.asked("flows", {"name": "later", "partitions": 1})
        with api.live("changes") as live:
            while live.next("rates")["flow"] != "later":
                pass
        wait_until(lambda: ready_code(api) == 200, "a process that is well")


def test_unreadable_control_batch_does_not_hide_other_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "_STUCK_SECONDS", 2.0)
    with EmbeddedBroker(tmp_path) as broker:
        with holdfast.connect(broker.bootstrap) as client:
            for name in ("whole", "spoilt"):
                client.flow(name).create(partitions=1)
                for key in ("a", "b"):
                    client.flow(name).hold(key)
        broker.stop()
        spoil(broker, "spoilt.control", 0, 1)
        broker.start()
        with serving(broker) as api:
            wait_until(lambda: api.get("flows/whole").status_code == 200, "views", PATIENCE_S)
            assert api.found("flows/whole/keys/b")["pending"] == ["hold"]
            assert api.found("flows/spoilt/keys/a")["pending"] == ["hold"]
