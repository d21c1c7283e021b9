"""Tools that read."""

import json
from collections.abc import Mapping
from typing import Any

from holdfast.control.key_paths import key_to_path
from holdfast.errors import InvalidArgumentError
from holdfast.flows.keys import key_from_json
from holdfast.flows.names import check_flow_name
from holdfast.mcp.flow_findings import diagnose_flow
from holdfast.mcp.key_story import explain_key
from holdfast.mcp.tool import Answer, Arguments, Tool
from holdfast.remote.server import Server

FLOW = {"type": "string", "minLength": 1, "description": "The flow's name, such as orders."}
KEY = {"type": "string", "description": "The key, such as customer-7."}
KEY_BASE64 = {"type": "string", "description": "Instead of key, if its bytes are not text."}
_LIMIT = {
    "type": "integer",
    "minimum": 1,
    "maximum": 500,
    "description": "The maximum number of rows.",
}
_CURSOR = {"type": "string", "description": "The cursor of the previous page."}
_SINCE = {
    "type": "string",
    "description": "Not older than this: a time such as 2026-01-31T12:00Z, or such as 2h.",
}


def key_of(arguments: Arguments) -> bytes:
    given = {name: arguments[name] for name in ("key", "key_base64") if name in arguments}
    key = key_from_json(given)
    if key is None:
        raise InvalidArgumentError("Which key? Give key, or key_base64.")
    return key


def flow_path(arguments: Arguments) -> str:
    """The address of the flow. A name with other characters could lead to another route."""
    return f"flows/{check_flow_name(arguments['flow'])}"


def as_json(document: Mapping[str, Any]) -> Answer:
    return Answer(json.dumps(document, ensure_ascii=False, indent=1), document)


def _explain(server: Server, arguments: Arguments) -> Answer:
    flow_path(arguments)
    return explain_key(server, arguments["flow"], key_of(arguments))


def _diagnose(server: Server, arguments: Arguments) -> Answer:
    flow_path(arguments)
    return diagnose_flow(server, arguments["flow"])


def _flows(server: Server, arguments: Arguments) -> Answer:
    kept = ("name", "held_keys", "draining_keys", "held_events", "health", "pauses", "is_guard")
    flows = server.get("flows")["flows"]
    return as_json({"flows": [{name: flow[name] for name in kept} for flow in flows]})


def _keys(server: Server, arguments: Arguments) -> Answer:
    query = {name: arguments.get(name) for name in ("state", "text", "limit", "cursor")}
    return as_json(server.get(f"{flow_path(arguments)}/keys", **query))


def _held_events(server: Server, arguments: Arguments) -> Answer:
    path = f"{flow_path(arguments)}/keys/{key_to_path(key_of(arguments))}/held"
    query = {name: arguments.get(name) for name in ("limit", "cursor")}
    return as_json(server.get(path, **query))


def _audit(server: Server, arguments: Arguments) -> Answer:
    query = {name: arguments.get(name) for name in ("actor", "command", "text", "since", "limit")}
    if "key" in arguments or "key_base64" in arguments:
        query["key"] = key_to_path(key_of(arguments))
    path = f"{flow_path(arguments)}/audit" if "flow" in arguments else "audit"
    return as_json(server.get(path, **query))


def _letters(server: Server, arguments: Arguments) -> Answer:
    return as_json(server.get(f"{flow_path(arguments)}/dead-letters/reasons"))


def _health(server: Server, arguments: Arguments) -> Answer:
    return as_json(server.get("health"))


def _me(server: Server, arguments: Arguments) -> Answer:
    return as_json(server.get("me"))


READING = (
    Tool(
        name="explain_key",
        title="Explain a key",
        description="Why a key is held or not, since when, by whom, until when, and what waits: "
        "its holds with reasons, its first held events, its history. Start here for a key.",
        properties={"flow": FLOW, "key": KEY, "key_base64": KEY_BASE64},
        required=("flow",),
        call=_explain,
    ),
    Tool(
        name="diagnose_flow",
        title="What is wrong with a flow",
        description="Every problem of a flow, with reasons: parts that are not well, pauses, "
        "limits, events that do not move, dead letters, failed checks. Start here for a flow.",
        properties={"flow": FLOW},
        required=("flow",),
        call=_diagnose,
    ),
    Tool(
        name="list_flows",
        title="List flows",
        description="All flows, with held keys and health.",
        properties={},
        call=_flows,
    ),
    Tool(
        name="list_keys",
        title="List keys",
        description="The keys of a flow that are held or draining. text finds part of a key, a "
        "reason or an actor.",
        properties={
            "flow": FLOW,
            "state": {"type": "string", "enum": ["HELD", "DRAINING"]},
            "text": {"type": "string"},
            "limit": _LIMIT,
            "cursor": _CURSOR,
        },
        required=("flow",),
        call=_keys,
    ),
    Tool(
        name="held_events",
        title="Held events",
        description="The held events of a key, in the order in which they will leave. Values are "
        "masked as the token's role demands.",
        properties={
            "flow": FLOW,
            "key": KEY,
            "key_base64": KEY_BASE64,
            "limit": _LIMIT,
            "cursor": _CURSOR,
        },
        required=("flow",),
        call=_held_events,
    ),
    Tool(
        name="audit",
        title="Audit",
        description="Commands and their outcomes, newest first: who did what, when and why. "
        "Without flow: of all flows.",
        properties={
            "flow": FLOW,
            "key": KEY,
            "key_base64": KEY_BASE64,
            "actor": {"type": "string"},
            "command": {"type": "string", "description": "Such as hold or release."},
            "text": {"type": "string"},
            "since": _SINCE,
            "limit": _LIMIT,
        },
        call=_audit,
    ),
    Tool(
        name="dead_letter_reasons",
        title="Reasons of dead letters",
        description="The dead letters of a flow, counted by reason and message.",
        properties={"flow": FLOW},
        required=("flow",),
        call=_letters,
    ),
    Tool(
        name="health",
        title="Is it well?",
        description="The health of every part: broker, web, and the parts of each flow.",
        properties={},
        call=_health,
    ),
    Tool(
        name="whoami",
        title="Who is asking",
        description="The name and the role of the token.",
        properties={},
        call=_me,
    ),
)
