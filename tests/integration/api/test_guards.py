"""Guards over REST and on pages: who fails and why, try now, skip the first."""

from collections.abc import Iterator
from threading import Thread
from typing import Any

import httpx
import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.integration.api.served import PATIENCE_S, Api, serving

import holdfast
from holdfast.guard.event import Event


class Billing:
    """A guard in this process, whose partner refuses the keys in `broken`."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.broken = {b"poor", b"late", b"odd"}
        self.client = holdfast.connect(broker.bootstrap)
        self.client.topics.create("orders.processed", partitions=1)
        for n in range(12):
            key = ("poor", "late", "odd", "fine")[n % 4]
            self.client.send("orders.processed", {"n": n}, key=key)
        self.client._producer.flush()
        self.guard = holdfast.Guard("billing", topic="orders.processed", bootstrap=broker.bootstrap)
        self.guard.handler(attempts=2, backoff="0.05s..0.1s")(self._charge)
        self._thread = Thread(target=self.guard.run, daemon=True)
        self._thread.start()

    def _charge(self, event: Event) -> None:
        if event.key in self.broken:
            raise ValueError(f"no money on <b>{event.key!r}</b>")

    def stop(self) -> None:
        self.guard.stop()
        self._thread.join(60)
        self.client.close()


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("guards")) as started:
        yield started


@pytest.fixture(scope="module")
def billing(broker: EmbeddedBroker) -> Iterator[Billing]:
    made = Billing(broker)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def api(broker: EmbeddedBroker, billing: Billing) -> Iterator[Api]:
    with serving(broker) as instance:
        yield instance


def key(api: Api, name: str) -> dict[str, Any]:
    """The key, once the guard waits for a person."""

    def parked() -> dict[str, Any] | None:
        if not any(flow["name"] == "billing" for flow in api.found("flows")["flows"]):
            return None
        found: dict[str, Any] = api.found(f"flows/billing/keys/{name}")
        return found if found["attempts"] == 2 else None

    return wait_until(parked, f"the attempts of {name}", PATIENCE_S)


def page(api: Api, path: str) -> str:
    answer = httpx.get(f"{api.address}{path}", timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_failing_key_shows_attempts_and_the_last_error(api: Api) -> None:
    found = key(api, "poor")
    assert found["next_try"] is None
    assert found["error"].startswith("ValueError: no money")
    assert "in _charge" in found["error"], "the end of the traceback"
    flow = api.found("flows/billing")
    assert (flow["is_guard"], flow["circuit_open"]) == (True, False)
    assert flow["failing_keys"] >= 1
    listed = {row["key"]: row for row in api.found("flows/billing/keys")["keys"]}
    assert "\n" not in listed["poor"]["error"]
    shown = page(api, "/flows/billing/keys/poor")
    assert "Last error" in shown
    assert "&lt;b&gt;" in shown
    assert "<b>b" not in shown
    assert "Skip the first" in shown
    assert "Failed" in shown
    assert "Attempts" in page(api, "/flows/billing")
    assert "guards orders.processed" in " ".join(page(api, "/").split())


def test_first_event_is_skipped_and_the_next_one_is_tried(api: Api, billing: Billing) -> None:
    key(api, "odd")
    answer = api.asked(
        "flows/billing/keys/odd/dead-letter?wait=effective&timeout=50",
        {"first": True, "reason": "not ours"},
    )
    assert answer["effective"]["outcome"] == "dead-lettered"
    wait_until(
        lambda: api.found("flows/billing/keys/odd")["events"] == 2, "two of three", PATIENCE_S
    )


def test_try_now_on_the_dashboard_releases_only_the_guards_hold(api: Api, billing: Billing) -> None:
    key(api, "late")
    billing.broken.discard(b"late")
    answer = httpx.post(
        f"{api.address}/flows/billing/try-now", data={"key": "late"}, timeout=60,
        headers={"Origin": api.address},
    )  # fmt: skip
    assert answer.status_code == 200, answer.text
    wait_until(
        lambda: api.found("flows/billing/keys/late")["state"] == "ACTIVE", "all done", PATIENCE_S
    )
    assert "Tried again" in page(api, "/flows/billing/keys/late") or "Release" in answer.text


def test_flow_with_a_gate_has_no_first_event(api: Api) -> None:
    api.asked("flows", {"name": "plain", "partitions": 1})
    answer = api.post("flows/plain/keys/k/dead-letter", json={"first": True})
    assert answer.status_code == 422
    assert "is not a guard" in answer.text
