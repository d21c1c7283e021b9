"""Why a key is held, since when, by whom, and what waits."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.clock import duration_text, now_ms
from holdfast.control.key_paths import key_to_path
from holdfast.mcp.tool import Answer
from holdfast.remote.documents import milliseconds
from holdfast.remote.server import Server

_EVENTS = 5
"""Held events that are shown; the tool held_events has more."""
_HISTORY = 5


def explain_key(server: Server, flow: str, key: bytes) -> Answer:
    """The story of one key, in sentences and as data."""
    path = f"flows/{flow}/keys/{key_to_path(key)}"
    detail, seen = server.get(path), server.get(f"{path}/seen")
    described = server.get(f"flows/{flow}")
    events = server.get(f"{path}/held", limit=_EVENTS)["events"] if detail["events"] else []
    data = {
        "key": {name: value for name, value in detail.items() if name != "history"},
        "history": detail["history"][:_HISTORY],
        "first_held_events": events,
        "seen": seen["sentence"],
        "flow_health": described["health"],
        "flow_pauses": described["pauses"],
    }
    return Answer.of_lines(_sentences(flow, detail, data, now_ms()), data)


def _sentences(
    flow: str, key: Mapping[str, Any], data: Mapping[str, Any], now: int
) -> Iterator[str]:
    name = key["key"] if key["key"] is not None else f"base64:{key['key_base64']}"
    yield _state(flow, name, key, now)
    requested = {
        item["requested"]["command_id"]: item["requested"]["at"]
        for item in key["history"]
        if item["requested"]
    }
    for hold in key["holds"]:
        yield _hold(hold, requested.get(hold["id"]), now)
    if key["state"] != "ACTIVE":
        yield _waiting(key, now)
    for event in data["first_held_events"]:
        yield f"  waits: event {event['partition']}:{event['offset']}, {_value(event['value'])}"
    yield f"Events of this key: {data['seen']}."
    if key["attempts"]:
        yield f"Its first event has failed {key['attempts']} times. Last error: {key['error']}"
    if key["overflow"]:
        yield "It is at its limit of held events."
    if key["pending"]:
        yield f"Requested and not effective yet: {', '.join(key['pending'])}."
    yield from _flow_notes(data)
    for item in data["history"]:
        yield _past(item, now)


def _state(flow: str, name: str, key: Mapping[str, Any], now: int) -> str:
    match key["state"]:
        case "HELD":
            count = len(key["holds"])
            since = _ago(key["since"], now) or "its next event (its prefix is held)"
            many = "1 hold stands" if count == 1 else f"{count} holds stand"
            return f"{name!r} in the flow {flow} is HELD since {since}. {many}:"
        case "DRAINING":
            pace = "as fast as possible" if key["pace"] is None else f"at {key['pace']:g} a second"
            return (
                f"{name!r} in the flow {flow} is DRAINING since {_ago(key['since'], now)}: its "
                f"held events leave in order, {pace}. Released by {key['actor']}."
            )
    return f"{name!r} in the flow {flow} is ACTIVE: it is not held, and its events pass."


def _hold(hold: Mapping[str, Any], at: str | None, now: int) -> str:
    reason = f"because {hold['reason']!r}" if hold["reason"] else "without a reason"
    ends = "never expires"
    if hold["expires_at"] is not None:
        left = duration_text((milliseconds(hold["expires_at"]) or now) - now)
        ends = f"expires at {hold['expires_at']} (in {left})"
    scope = f" of all keys with the prefix {hold['prefix']!r}" if hold["prefix"] else ""
    began = f", requested {_ago(at, now)}" if at else ""
    label = hold["name"] or hold["actor"]
    return f"- the hold {label!r}{scope} by {hold['actor']}, {reason}{began}; it {ends}."


def _waiting(key: Mapping[str, Any], now: int) -> str:
    if not key["events"]:
        return "No event waits."
    many = "1 event waits" if key["events"] == 1 else f"{key['events']} events wait"
    return f"{many} ({key['bytes']} bytes); the oldest is of {_ago(key['oldest'], now)}."


def _flow_notes(data: Mapping[str, Any]) -> Iterator[str]:
    for pause in data["flow_pauses"]:
        yield f"The whole flow is paused by {pause['actor']}: {pause['reason'] or 'no reason'}."
    health = data["flow_health"]
    if health["state"] not in ("running", "starting", "paused") and health["reason"]:
        yield f"The flow's pipeline is {health['state']}: {health['reason']}"


def _past(item: Mapping[str, Any], now: int) -> str:
    asked, outcomes = item["requested"], item["effective"]
    row = asked or outcomes[0]
    said = f" because {row['reason']!r}" if row["reason"] else ""
    outcome = ", ".join(dict.fromkeys(each["outcome"] for each in outcomes)) or "pending"
    who = row["actor"] or "the gate"
    return f"history: {_ago(row['at'], now)}, {row['command'] or 'end'} by {who}{said}: {outcome}."


def _ago(time: str | None, now: int) -> str:
    at = milliseconds(time)
    return "" if at is None else f"{time} ({duration_text(now - at)} ago)"


def _value(value: Mapping[str, Any]) -> str:
    text = value["text"] if value["text"] is not None else f"base64:{value['base64']}"
    return text if len(text) <= 300 else f"{text[:300]}…"
