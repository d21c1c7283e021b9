"""The client of the Airflow provider against a real web process. It needs no Airflow."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from airflow_provider_holdfast.api import Api, AsyncApi, Endpoint, HoldfastError, key_segment
from airflow_provider_holdfast.events import StreamEvent, follow
from tests.brokers import EmbeddedBroker
from tests.integration.web.instances import Instance, serving

from holdfast.access.roles import Role
from holdfast.control.key_paths import key_to_path
from holdfast.web.settings import WebSettings

FLOW = "airflow-orders"


def endpoint(instance: Instance, token: str) -> Endpoint:
    return Endpoint(str(instance.base_url).rstrip("/"), token)


@pytest.fixture(scope="module")
def operator(guarded: Instance, tokens: dict[Role, str]) -> Iterator[Api]:
    with Api(endpoint(guarded, tokens[Role.ADMIN])) as admin:
        admin.post("/flows", {"name": FLOW, "partitions": 1})
    with Api(endpoint(guarded, tokens[Role.OPERATOR])) as api:
        yield api


def test_wrong_token_fails_at_once_with_what_to_do(guarded: Instance) -> None:
    with Api(endpoint(guarded, "hf_wrong")) as api, pytest.raises(HoldfastError) as caught:
        api.get("/me")
    assert (caught.value.status, caught.value.transient) == (401, False)
    assert "holdfast token create airflow --role operator" in str(caught.value)


def test_role_that_is_too_low_fails_at_once_with_what_to_do(
    guarded: Instance, operator: Api, tokens: dict[Role, str]
) -> None:
    with Api(endpoint(guarded, tokens[Role.VIEWER])) as api:
        assert api.get("/me")["role"] == "viewer"
        with pytest.raises(HoldfastError, match="a token with a higher role") as caught:
            api.post(f"/flows/{FLOW}/replays", {})
    assert (caught.value.code, caught.value.transient) == ("role-too-low", False)


def test_same_run_id_twice_is_one_run(operator: Api) -> None:
    first, second = (
        operator.post(f"/flows/{FLOW}/replays", {"id": "replay-airflow-1", "rate": 5.0})
        for _ in range(2)
    )
    assert first["requested_at"] == second["requested_at"]
    assert first["actor"] == "the-operator via airflow"
    with pytest.raises(HoldfastError) as caught:
        operator.post(f"/flows/{FLOW}/replays", {"id": "replay-airflow-1", "rate": 6.0})
    assert caught.value.code == "conflict"


def test_client_waits_as_long_as_the_rate_limit_demands(
    guarded_broker: EmbeddedBroker, tokens: dict[Role, str]
) -> None:
    tight = WebSettings(requests_per_second=2, request_burst=1)
    with serving(guarded_broker, tight) as instance:
        here = endpoint(instance, tokens[Role.VIEWER])
        with Api(here) as api:
            assert [api.get("/me")["role"] for _ in range(3)] == ["viewer"] * 3
        with Api(here, patience=0) as hasty, pytest.raises(HoldfastError) as caught:
            [hasty.get("/me") for _ in range(100)]
    assert (caught.value.code, caught.value.transient) == ("too-many-requests", True)


async def test_stream_shows_commands_as_they_are_requested(
    guarded: Instance, operator: Api, tokens: dict[Role, str]
) -> None:
    async with (
        AsyncApi(endpoint(guarded, tokens[Role.VIEWER])) as api,
        aclosing(follow(api, f"/flows/{FLOW}/changes", {"kind": "requested"})) as stream,
    ):
        assert await anext(stream) == StreamEvent("ready", {})
        key = f"/flows/{FLOW}/keys/{key_segment('a/b')}"
        await asyncio.to_thread(operator.post, f"{key}/hold", {"reason": "stock count"})
        event = await asyncio.wait_for(anext(stream), 60)
    assert (event.name, event.data["key"], event.data["command"]) == ("requested", "a/b", "hold")


async def test_stream_with_a_wrong_token_fails(guarded: Instance) -> None:
    async with AsyncApi(endpoint(guarded, "hf_wrong")) as api:
        with pytest.raises(HoldfastError, match="holdfast token create"):
            await asyncio.wait_for(anext(follow(api, "/changes")), 60)


def test_other_server_is_not_taken_for_holdfast(tmp_path: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        other = Endpoint(f"http://127.0.0.1:{server.server_port}")
        with Api(other, patience=0) as api, pytest.raises(HoldfastError, match="Check the address"):
            api.get("/me")
        server.shutdown()


@pytest.mark.parametrize("key", ["customer-7", "a/b", ".", "b64.x", "ü", "x" * 202, "a b~_."])
def test_keys_in_paths_are_those_of_the_api(key: str) -> None:
    assert key_segment(key) == key_to_path(key.encode())
