"""Hooks over a real broker and a real server; the test writes the journal in place of a gate."""

import hmac
import json
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until
from tests.conftest import unique_name
from tests.integration.web.instances import serving

import holdfast
from holdfast.cli import main
from holdfast.client.client import Client
from holdfast.client.planned_topics import make_table
from holdfast.clock import now_ms
from holdfast.flows.holds import GUARD
from holdfast.flows.journal import CommandReference, JournalRecord, Outcome, encode_journal
from holdfast.flows.reports import REPORTS_TOPIC, Report, encode_report
from holdfast.hooks.hook_log import HookLog


class Receiver:
    """Takes requests; refuses them while `status` is not 200."""

    def __init__(self) -> None:
        self.status = 200
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.refused = 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if receiver.status == 200:
                    receiver.requests.append((dict(self.headers), body))
                else:
                    receiver.refused += 1
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/path"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def events(self, flow: str) -> list[dict[str, Any]]:
        every = [json.loads(body) for _, body in list(self.requests)]
        return [each for each in every if each["flow"] == flow]

    def keys(self, flow: str) -> list[str]:
        return [each["key"] for each in self.events(flow) if "key" in each]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    started = Receiver()
    yield started
    started.close()


@pytest.fixture
def client(embedded_broker: EmbeddedBroker) -> Iterator[Client]:
    with holdfast.connect(embedded_broker.bootstrap) as connected:
        yield connected


@pytest.fixture
def flow(client: Client) -> str:
    name = unique_name("hooked").lower()
    client.flow(name).create(partitions=1)
    return name


def hold(client: Client, flow: str, key: str) -> None:
    """The command, and its outcome as a gate would journal it."""
    receipt = client.flow(flow).hold(key, reason=f"reason of {key}", actor="anna")
    command = CommandReference(receipt.command_id, "hold", receipt.offset)
    journal(client, flow, Outcome.HELD, key, command=command, name="anna")


def journal(client: Client, flow: str, outcome: Outcome, key: str, **fields: Any) -> None:
    record = JournalRecord(outcome=outcome, cut=41, step=1, at=now_ms(), key=key.encode(), **fields)
    written = encode_journal(record)
    client.send(f"{flow}.journal", written[1], written[0], partition=0).result()


def test_event_is_signed_and_names_actor_and_reason(
    embedded_broker: EmbeddedBroker, client: Client, flow: str, receiver: Receiver
) -> None:
    hold(client, flow, "before-the-hook")
    log = HookLog(client)
    hook = log.add(receiver.url, ["held", "parked"], created_by="anna", name=unique_name("signed"))
    with serving(embedded_broker):
        hold(client, flow, "customer-7")
        journal(client, flow, Outcome.DRAINED, "not-asked-for")
        journal(client, flow, Outcome.HELD, "customer-8", name=GUARD, note="It has failed.")
        wait_until(lambda: len(receiver.events(flow)) >= 2, "two events")
    first, second = receiver.events(flow)
    assert (first["event"], first["key"], first["cut"]) == ("held", "customer-7", 41)
    assert (first["actor"], first["reason"]) == ("anna", "reason of customer-7")
    assert (second["event"], second["key"]) == ("parked", "customer-8")
    for headers, body in receiver.requests:
        at, digest = headers["Holdfast-Signature"].removeprefix("t=").split(",v1=")
        signed = hmac.new(hook.secret.encode(), f"{at}.".encode() + body, sha256).hexdigest()
        assert hmac.compare_digest(digest, signed)
    assert {each.status for each in log.deliveries(hook)} == {200}
    log.remove(hook.name)
    assert hook.name not in [each.name for each in log.hooks()]


def test_events_are_delivered_after_outages_of_receiver_and_web(
    embedded_broker: EmbeddedBroker, client: Client, flow: str, receiver: Receiver
) -> None:
    log = HookLog(client)
    hook = log.add(receiver.url, ["held"], created_by="anna", name=unique_name("outage"))
    with serving(embedded_broker):
        hold(client, flow, "customer-1")
        wait_until(lambda: receiver.keys(flow) == ["customer-1"], "the first event")
        receiver.status = 503
        hold(client, flow, "customer-2")
        hold(client, flow, "customer-3")
        wait_until(lambda: receiver.refused >= 2, "a second attempt")
    # No web process runs, and two events are not delivered. Another one follows.
    hold(client, flow, "customer-4")
    receiver.status = 200
    with serving(embedded_broker):
        wait_until(lambda: "customer-4" in receiver.keys(flow), "the last event")
    assert list(dict.fromkeys(receiver.keys(flow))) == [f"customer-{n}" for n in range(1, 5)]
    attempts = {(each.status, each.attempt) for each in log.deliveries(hook)}
    assert {(200, 1), (503, 1), (503, 2)} <= attempts
    log.remove(hook.name)


def test_events_of_commands_that_web_no_longer_knows_do_not_wait(
    embedded_broker: EmbeddedBroker, client: Client, flow: str, receiver: Receiver
) -> None:
    log = HookLog(client)
    hook = log.add(receiver.url, ["held"], created_by="anna", name=unique_name("old"))
    hold(client, flow, "known")
    old = CommandReference("left-the-window", "hold", 0)
    keys = [f"customer-{n}" for n in range(30)]  # more than the deadline, if each of them waited
    for key in keys:
        journal(client, flow, Outcome.HELD, key, command=old, name="anna")
    with serving(embedded_broker):
        wait_until(lambda: receiver.keys(flow) == ["known", *keys], "all events")
    assert [each.get("actor") for each in receiver.events(flow)] == ["anna"] + [None] * len(keys)
    log.remove(hook.name)


def test_stopped_gate_is_reported(
    embedded_broker: EmbeddedBroker, client: Client, flow: str, receiver: Receiver
) -> None:
    make_table(client.connection, REPORTS_TOPIC)
    log = HookLog(client)
    hook = log.add(receiver.url, ["stopped"], created_by="anna", name=unique_name("stopped"))

    def report(state: Any) -> None:
        key, value = encode_report(
            Report(flow=flow, part="gate", state=state, at=now_ms(), process="p", reason="Full.")
        )
        client.send(REPORTS_TOPIC, value, key).result()

    with serving(embedded_broker):
        report("running")
        report("failed")
        report("failed")
        wait_until(lambda: receiver.events(flow), "an event")
        hold(client, flow, "customer-1")  # not asked for
        report("running")
        report("stopped")
        wait_until(lambda: len(receiver.events(flow)) == 2, "another event")
    assert [each["event"] for each in receiver.events(flow)] == ["stopped", "stopped"]
    assert receiver.events(flow)[0]["reason"] == "Full."
    log.remove(hook.name)


def test_test_button_of_cli_api_and_dashboard(
    embedded_broker: EmbeddedBroker, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    name, broker = unique_name("tested"), ("-b", embedded_broker.bootstrap)
    added = ["hook", "add", "--on", "held", "--name", name, "--format", "slack", receiver.url]
    assert main([*added, *broker]) == 0
    assert capsys.readouterr().out.startswith("hfs_")
    assert main(["hook", "test", name, *broker]) == 0
    assert "200" in capsys.readouterr().out
    with serving(embedded_broker) as web:
        wait_until(lambda: name in web.get("/api/v1/hooks").text, "the hook")
        assert receiver.url not in web.get("/api/v1/hooks").text
        tested = web.post(f"/api/v1/hooks/{name}/test", timeout=DEADLINE_S).json()
        assert tested["delivered"]
        [hook] = [h for h in web.get("/api/v1/hooks").json()["hooks"] if h["name"] == name]
        assert "secret" not in hook
        wait_until(lambda: web.get("/hooks").text.count("DELIVERED") >= 2, "the page")
        assert name in web.get("/hooks").text
        site = {"HX-Request": "true", "Origin": str(web.base_url)}
        card = web.post(f"/hooks/{hook['id']}/test", headers=site, timeout=DEADLINE_S)
        assert card.text.count("DELIVERED") >= 3
        receiver.status = 302
        refused = web.post(f"/api/v1/hooks/{name}/test", timeout=DEADLINE_S).json()
        assert (refused["delivered"], refused["status"]) == (False, 302)
        assert receiver.refused == 1, "a redirect was followed"
        log = f"/api/v1/hooks/{name}/deliveries"
        wait_until(lambda: len(web.get(log).json()["deliveries"]) == 4, "every attempt")
        bad = {"url": "file:///etc/passwd", "on": ["held"]}
        assert web.post("/api/v1/hooks", json=bad).status_code == 422
        good = {"url": receiver.url, "on": ["held"], "name": f"{name}-2"}
        assert web.post("/api/v1/hooks", json=good).json()["secret"].startswith("hfs_")
        assert web.post("/api/v1/hooks", json=good).status_code == 409
    assert all("this is a test" in json.loads(body)["text"] for _, body in receiver.requests)
    assert len(receiver.requests) == 3
    assert main(["hook", "test", name, *broker]) == 1
    assert main(["hook", "log", name, *broker]) == 0
    assert "302" in capsys.readouterr().out
    for each in (name, f"{name}-2"):
        assert main(["hook", "rm", each, *broker]) == 0
    assert main(["hook", "rm", name, *broker]) == 3
