"""Pauses of a whole flow and holds of prefixes, over REST and on pages, against a real gate."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.integration.api.served import PATIENCE_S, Api, serving
from tests.integration.api.test_gate_effects import came_out, held_of, new_key, state_of
from tests.integration.pipeline.world import World, running

from holdfast.control.key_paths import key_to_path


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The API of one flow, whose gate runs without Spark."""
    with EmbeddedBroker(tmp_path_factory.mktemp("scopes")) as broker:
        world = World(broker)
        with running(world), serving(broker) as instance:
            yield instance


@pytest.fixture
def orders(api: Api) -> str:
    flows = wait_until(lambda: api.found("flows")["flows"], "the flow", PATIENCE_S)
    return str(flows[0]["name"])


def ask(api: Api, path: str, **body: Any) -> Any:
    return api.asked(f"{path}?wait=effective&timeout=50", body)


def test_a_flow_is_paused_and_resumed(api: Api, orders: str) -> None:
    key = new_key()
    receipt = ask(api, f"flows/{orders}/pause", reason="consumers are down")
    try:
        assert receipt["effective"]["outcome"] == "paused"
        shown = wait_until(
            lambda: (flow := api.found(f"flows/{orders}"))["pauses"] and flow, "paused", PATIENCE_S
        )
        assert [pause["reason"] for pause in shown["pauses"]] == ["consumers are down"]
        api.asked(f"flows/{orders}/events", {"key": key, "text": "1"})
        assert ask(api, f"flows/{orders}/keys/{key}/hold")["effective"]["outcome"] == "held"
        assert came_out(api, orders, key) == []
        assert held_of(api, orders, key) == [], "it was taken while paused"
    finally:
        resumed = ask(api, f"flows/{orders}/resume")
    assert resumed["effective"]["outcome"] == "resumed"
    wait_until(lambda: held_of(api, orders, key) == ["1"], "the event that waited", PATIENCE_S)
    ask(api, f"flows/{orders}/keys/{key}/release")
    wait_until(lambda: came_out(api, orders, key) == ["1"], "the event", PATIENCE_S)


def test_a_prefix_is_held_listed_and_released_as_one(api: Api, orders: str) -> None:
    stem = new_key("tenant") + "/"
    receipt = ask(api, f"flows/{orders}/prefixes/hold", prefix=stem, reason="broken")
    assert receipt["effective"]["outcome"] == "held"
    api.asked(f"flows/{orders}/events", {"key": f"{stem}1", "text": "1"})
    state_of(api, orders, key_to_path(f"{stem}unseen".encode()), "HELD")
    path = f"flows/{orders}/keys/{key_to_path(f'{stem}1'.encode())}"
    wait_until(lambda: api.found(path)["events"] == 1, "a held event", PATIENCE_S)
    [shown] = [p for p in api.found(f"flows/{orders}/prefixes")["prefixes"] if p["prefix"] == stem]
    assert (shown["keys"], shown["events"], shown["holds"][0]["reason"]) == (1, 1, "broken")
    page = httpx.get(f"{api.address}/flows/{orders}").text
    assert stem in page
    assert "Held prefixes" in page
    released = ask(api, f"flows/{orders}/prefixes/release", prefix=stem)
    assert released["effective"]["outcome"] == "released"
    wait_until(lambda: came_out(api, orders, f"{stem}1") == ["1"], "the event", PATIENCE_S)


def test_an_empty_prefix_is_refused(api: Api, orders: str) -> None:
    answer = api.post(f"flows/{orders}/prefixes/hold", json={"prefix": ""})
    assert answer.status_code in (400, 422)
    assert "pause" in answer.text


def test_a_repeated_request_is_one_command_and_another_with_its_key_is_refused(
    api: Api, orders: str
) -> None:
    headers = {"Idempotency-Key": new_key()}
    body = {"prefix": new_key(), "reason": "once"}
    path = f"flows/{orders}/prefixes/hold?wait=effective&timeout=50"
    first, second = (api.post(path, json=body, headers=headers).json() for _ in range(2))
    assert first["command_id"] == second["command_id"]
    refused = api.post(path, json={**body, "reason": "another"}, headers=headers)
    assert refused.status_code == 422
    assert "used before" in refused.json()["detail"]
