"""Agents over the Model Context Protocol: real pipes and sockets, a real API with tokens."""

import json
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from tests.brokers import EmbeddedBroker
from tests.certificates import Authority
from tests.clients import DEADLINE_S, wait_until
from tests.conftest import unique_name
from tests.integration.web.instances import Instance, connection_to

import holdfast
from holdfast.access.roles import Role
from holdfast.client.client import Client
from holdfast.errors import ConfigError
from holdfast.mcp.http import Listening, McpHttpServer
from holdfast.mcp.messages import Dispatcher
from holdfast.remote.server import Server


class Agent:
    """An agent that talks to `holdfast mcp` over its standard input and output."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._number = 0

    def send(self, method: str, **params: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._number
        return answer

    def call(self, name: str, **arguments: Any) -> Any:
        return self.send("tools/call", name=name, arguments=arguments)["result"]

    def says(self, name: str, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert not result.get("isError"), result
        return str(result["content"][0]["text"])


@contextmanager
def agent(instance: Instance, token: str, *flags: str) -> Iterator[Agent]:
    command = [sys.executable, "-m", "holdfast", "mcp", "--server", address(instance), *flags]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "HOLDFAST_TOKEN": token},
    )
    try:
        yield Agent(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(DEADLINE_S) == 0
    finally:
        process.kill()
        process.wait()


def address(instance: Instance) -> str:
    return str(instance.base_url).rstrip("/")


@pytest.fixture(scope="module")
def flow(guarded: Instance, guarded_broker: EmbeddedBroker) -> str:
    """A flow with a mask, a hold that is requested, and a pause; no pipeline runs."""
    name = unique_name("agents").lower()
    with Client(connection_to(guarded_broker)) as client:
        client.flow(name).create(partitions=1, masks=("$.card",))
        views = guarded.app.state.services.views
        wait_until(lambda: any(view.name == name for view in views.flows()), "the flow's view")
        client.flow(name).hold("customer-7", reason="chargeback", actor="fraud-team")
        view = views.flow(name)
        wait_until(lambda: view.key(b"customer-7").history, "the hold in the view")
    return name


def test_agent_explains_a_key_and_diagnoses_a_flow(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    with agent(guarded, tokens[Role.VIEWER]) as viewer:
        assert viewer.send("initialize", protocolVersion="2025-06-18")["result"]
        story = viewer.says("explain_key", flow=flow, key="customer-7")
        assert "Requested and not effective yet: hold" in story
        assert "hold by fraud-team because 'chargeback'" in story
        assert "holdfast pipeline" in story
        findings = viewer.call("diagnose_flow", flow=flow)
        assert "No pipeline has ever run" in findings["content"][0]["text"]
        assert findings["structuredContent"]["problems"]
        assert flow in viewer.says("list_flows")
        assert "fraud-team" in viewer.says("audit", flow=flow, key="customer-7")
        missing = viewer.call("explain_key", flow="nowhere", key="k")
        assert (missing["isError"], missing["content"][0]["text"][:16]) == (
            True,
            "There is no flow",
        )


def test_agent_acts_with_the_rights_of_its_token_and_is_named_in_the_audit(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    order = {"flow": flow, "key": "customer-8", "reason": "asked by support"}
    with agent(guarded, tokens[Role.VIEWER], "--write") as viewer:
        refused = viewer.call("hold_key", **order, dry_run=False)
        assert refused["isError"]
        assert "operator" in refused["content"][0]["text"]
    with agent(guarded, tokens[Role.OPERATOR]) as reader:
        assert (
            "--write"
            in reader.send("tools/call", name="hold_key", arguments=order)["error"]["message"]
        )
    with agent(guarded, tokens[Role.OPERATOR], "--write") as operator:
        assert "nothing was changed" in operator.says("hold_key", **order)
        rows = operator.call("audit", flow=flow, text="asked by support")["structuredContent"]
        assert rows["rows"] == []
        receipt = operator.call("hold_key", **order, dry_run=False, expires_in="2h")
        assert "not effective yet" in receipt["content"][0]["text"]
        [row] = operator.call("audit", flow=flow, text="asked by support")["structuredContent"][
            "rows"
        ]
    assert (row["command"], row["actor"]) == ("hold", "the-operator via mcp")


@pytest.fixture(scope="module")
def over_http(guarded: Instance) -> Iterator[str]:
    api = Server(address(guarded), token="", via="mcp")
    with McpHttpServer(Listening("127.0.0.1:0"), Dispatcher(write=False), api) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.url
        server.shutdown()
        thread.join(DEADLINE_S)


def post(url: str, message: Any, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(url, json=message, headers=named, timeout=DEADLINE_S)


def ping(**more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "ping", **more}


def test_http_uses_the_token_of_each_request(over_http: str, tokens: dict[Role, str]) -> None:
    who = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami"}}
    for role in Role:
        answer = post(over_http, who, Authorization=f"Bearer {tokens[role]}").json()
        assert answer["result"]["structuredContent"]["name"] == f"the-{role.label}"
    without = post(over_http, who).json()["result"]
    assert without["isError"]
    assert "HOLDFAST_TOKEN" in without["content"][0]["text"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"MCP-Protocol-Version": "2025-06-18"}, 200),
        ({"MCP-Protocol-Version": "1999"}, 400),
    ],
)
def test_http_refuses_pages_of_other_sites_and_unknown_versions(
    over_http: str, headers: dict[str, str], status: int
) -> None:
    assert post(over_http, ping(), **headers).status_code == status


def test_http_has_no_stream_and_bounds_messages(over_http: str) -> None:
    assert httpx.get(over_http).status_code == 405
    assert httpx.delete(over_http).status_code == 405
    assert httpx.post(over_http.replace("/mcp", "/other"), json=ping()).status_code == 404
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert post(over_http, notification).status_code == 202
    try:
        answer = post(over_http, ping(params={"text": "x" * 2_000_000}))
        assert answer.status_code == 413
    except httpx.WriteError:  # the server has closed while the rest was sent
        pass
    assert post(over_http, ping()).json()["result"] == {}


def test_other_addresses_than_loopback_need_tls() -> None:
    with pytest.raises(ConfigError, match="--tls-cert"):
        Listening("0.0.0.0:8610")
    assert Listening("[::1]:8610").loopback


@pytest.fixture(scope="module")
def billing(guarded: Instance, guarded_broker: EmbeddedBroker) -> Iterator[str]:
    """A guard whose worker runs, with a key that has two holds and three events that wait."""
    name = unique_name("billing").lower()
    with Client(connection_to(guarded_broker)) as client:
        client.topics.create(f"{name}.in", partitions=1)
        guard = holdfast.Guard(name, topic=f"{name}.in", bootstrap=guarded_broker.bootstrap)
        guard.handler()(lambda event: None)
        thread = Thread(target=guard.run, daemon=True)
        thread.start()
        views = guarded.app.state.services.views
        wait_until(lambda: any(view.name == name for view in views.flows()), "the guard's view")
        flow = client.flow(name)
        flow.change(masks=("$.card",))
        flow.hold("customer-7", reason="chargeback", actor="fraud-team").wait(DEADLINE_S)
        flow.hold("customer-7", reason="rude", actor="ana", expires_in=7200).wait(DEADLINE_S)
        for number in range(3):
            event = {"order": number, "card": "4711-secret"}
            client.send(f"{name}.in", event, key="customer-7").result(DEADLINE_S)
        view = views.flow(name)
        wait_until(lambda: view.key(b"customer-7").row.events == 3, "three events that wait")
        wait_until(lambda: view.definition.masks, "the mask")
        yield name
        guard.stop()
        thread.join(DEADLINE_S)


def test_agent_says_why_since_when_by_whom_and_what_waits(
    guarded: Instance, tokens: dict[Role, str], billing: str
) -> None:
    with agent(guarded, tokens[Role.VIEWER]) as viewer:
        result = viewer.call("explain_key", flow=billing, key="customer-7")
        story = result["content"][0]["text"]
        assert f"'customer-7' in the flow {billing} is HELD since " in story
        assert "2 holds stand" in story
        assert re.search(
            r"'fraud-team' by fraud-team, because 'chargeback', .*never expires", story
        )
        assert re.search(r"'ana' by ana, because 'rude', requested .*; it expires at", story)
        assert "3 events wait" in story
        assert '"order":0' in story.replace(" ", "")
        assert "4711-secret" not in json.dumps(result)  # a viewer sees masked values
        assert "No worker" not in viewer.says("diagnose_flow", flow=billing)
        parts = viewer.call("health")["structuredContent"]["parts"]
        [guard] = [line for line in parts if line["flow"] == billing]
        assert (guard["part"], guard["state"], guard["well"]) == ("guard", "running", True)
    with agent(guarded, tokens[Role.OPERATOR], "--write") as operator:
        held = operator.says("held_events", flow=billing, key="customer-7")
        assert "4711-secret" in held
        order = {"flow": billing, "key": "customer-7", "reason": "cleared", "dry_run": False}
        refused = operator.call("release_key", **order)
        assert "fraud-team" in refused["content"][0]["text"]  # two holds, none of its own
        said = operator.says("release_key", **order, holds=["ana"])
        assert "These holds still stand: fraud-team" in said


def test_address_beyond_loopback_demands_a_token(
    guarded: Instance, tokens: dict[Role, str], tmp_path: Path
) -> None:
    """The rule is that of the address in the settings; the socket itself is on loopback here."""

    class Beyond(Listening):
        @property
        def loopback(self) -> bool:
            return False

    authority = Authority(tmp_path)
    pair = authority.issue("mcp")
    api = Server(address(guarded), token="", via="mcp")
    listening = Beyond("127.0.0.1:0", str(pair.cert), str(pair.key))
    with McpHttpServer(listening, Dispatcher(write=False), api) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        trust = ssl.create_default_context(cafile=str(authority.ca))
        with httpx.Client(verify=trust, timeout=DEADLINE_S) as client:
            refused = client.post(server.url, json=ping())
            token = {"Authorization": f"Bearer {tokens[Role.VIEWER]}"}
            taken = client.post(server.url, json=ping(), headers=token)
        server.shutdown()
        thread.join(DEADLINE_S)
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert taken.json()["result"] == {}
