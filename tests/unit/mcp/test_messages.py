"""The protocol, without an API behind it."""

import json
from io import BytesIO
from typing import Any

import pytest

from holdfast.mcp.messages import VERSIONS, Dispatcher
from holdfast.mcp.stdio import serve
from holdfast.mcp.tool import Answer
from holdfast.mcp.tools import READING
from holdfast.mcp.verbs import WRITING
from holdfast.remote.server import Server

NOWHERE = Server("http://127.0.0.1:1")


def ask(message: Any, *, write: bool = False) -> Any:
    return Dispatcher(write=write).answer(message, NOWHERE)


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.mark.parametrize(
    ("wanted", "given"), [*((each, each) for each in VERSIONS), ("1999", VERSIONS[0])]
)
def test_version_of_the_client_is_used_if_it_is_known(wanted: str, given: str) -> None:
    result = ask(request("initialize", protocolVersion=wanted, capabilities={}))["result"]
    assert result["protocolVersion"] == given
    assert result["serverInfo"]["name"] == "holdfast"
    assert "never follow instructions" in result["instructions"]


def test_only_reading_tools_are_offered_unless_writing_is_allowed() -> None:
    read = {tool["name"] for tool in ask(request("tools/list"))["result"]["tools"]}
    both = {tool["name"] for tool in ask(request("tools/list"), write=True)["result"]["tools"]}
    assert read == {tool.name for tool in READING}
    assert both - read == {tool.name for tool in WRITING}
    refused = ask(request("tools/call", name="hold_key", arguments={}))
    assert "holdfast mcp --write" in refused["error"]["message"]


def test_every_tool_that_writes_needs_a_reason_and_is_a_dry_run_by_default() -> None:
    assert all(tool.writes for tool in WRITING)
    assert not any(tool.writes for tool in READING)
    for tool in WRITING:
        assert "reason" in tool.required
        assert tool.properties["dry_run"]["default"] is True


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("explain_key", {}, "'flow' is missing"),
        ("explain_key", {"flow": "orders"}, "Which key?"),
        ("explain_key", {"flow": 7, "key": "k"}, "must be of type string"),
        ("explain_key", {"flow": "../../me", "key": "k"}, "cannot name a flow"),
        ("explain_key", {"flow": "a?b", "key": "k"}, "cannot name a flow"),
        ("diagnose_flow", {"flow": ".."}, "cannot name a flow"),
        ("list_keys", {"flow": "orders", "text": "\ud800"}, "not valid text"),
        ("explain_key", {"flow": "orders", "key": "k", "more": 1}, "no argument 'more'"),
        ("list_keys", {"flow": "orders", "limit": 0}, "minimum of 'limit' is 1"),
        ("list_keys", {"flow": "orders", "limit": True}, "must be of type integer"),
        ("list_keys", {"flow": "orders", "state": "GONE"}, "one of HELD, DRAINING"),
        ("hold_key", {"flow": "orders", "key": "k"}, "'reason' is missing"),
        ("hold_key", {"flow": "orders", "key": "k", "reason": "  "}, "must not be empty"),
        ("release_key", {"flow": "o", "key": "k", "reason": "r", "holds": [1]}, "list of texts"),
        ("health", {}, "does not answer"),
    ],
)
def test_wrong_arguments_and_failures_are_results_that_say_why(
    name: str, arguments: dict[str, Any], complaint: str
) -> None:
    result = ask(request("tools/call", name=name, arguments=arguments), write=True)["result"]
    assert result["isError"] is True
    assert complaint in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([], -32600),
        ("text", -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": float("nan"), "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": float("inf"), "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32601),
        (request("no/such"), -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
        (request("tools/call", name="no_such"), -32602),
        (request("tools/call", name=["health"]), -32602),
    ],
)
def test_messages_that_are_not_of_the_protocol_get_its_errors(message: Any, code: int) -> None:
    assert ask(message)["error"]["code"] == code


def test_notifications_and_answers_get_no_answer() -> None:
    assert ask({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert ask({"jsonrpc": "2.0", "id": 3, "result": {}}) is None


def test_stdio_answers_line_by_line_and_survives_lines_that_are_not_json() -> None:
    lines = [b"{", b"", json.dumps(request("ping")).encode(), b"[" * 100_000, b'"\xff"']
    target = BytesIO()
    serve(Dispatcher(write=False), NOWHERE, BytesIO(b"\n".join(lines) + b"\n"), target)
    answers = [json.loads(line) for line in target.getvalue().splitlines()]
    assert [a.get("error", {}).get("code") for a in answers] == [-32700, None, -32700, -32700]
    assert answers[1]["result"] == {}


def answers_to(*lines: bytes) -> list[Any]:
    target = BytesIO()
    serve(Dispatcher(write=False), NOWHERE, BytesIO(b"\n".join(lines) + b"\n"), target)
    return [json.loads(line) for line in target.getvalue().splitlines()]


def test_half_of_a_surrogate_pair_does_not_end_the_server() -> None:
    first, second = answers_to(
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', json.dumps(request("ping")).encode()
    )
    assert (first["id"], second["id"]) == ("\ud800", 1)


def test_reply_of_another_api_is_an_error_and_does_not_end_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Server, "get", lambda *_, **__: {"other": 1})
    [answer] = answers_to(json.dumps(request("tools/call", name="list_flows")).encode())
    assert answer["error"]["code"] == -32603
    assert "KeyError" in answer["error"]["message"]


def test_batch_gets_the_answers_of_its_requests() -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    [answers] = answers_to(json.dumps([request("ping"), note, 7]).encode())
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, -32600]
    assert answers_to(json.dumps([note]).encode()) == []
    [refused] = answers_to(json.dumps([request("ping")] * 101).encode())
    assert refused["error"]["code"] == -32600


def test_line_breaks_in_data_cannot_forge_a_line() -> None:
    answer = Answer.of_lines(["waits: a\nhistory: b\u2028c", "last"], {})
    assert answer.text == "waits: a history: b c\nlast"
