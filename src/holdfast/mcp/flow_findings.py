"""What is wrong with a flow: every problem that the API knows of, the worst first."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import NotFoundError
from holdfast.mcp.tool import Answer
from holdfast.remote.server import Server

_KEYS = 5
_NEAR = 0.8
"""From this part of a limit on, a flow is close to it."""


def diagnose_flow(server: Server, flow: str) -> Answer:
    """The problems of a flow, its figures, and its longest held keys."""
    described = server.get(f"flows/{flow}")
    parts = [
        line for line in server.get("health")["parts"] if line["flow"] in (None, described["name"])
    ]
    query = {"sort": "oldest", "descending": "false", "limit": _KEYS}
    keys = server.get(f"flows/{flow}/keys", **query)["keys"]
    letters = server.get(f"flows/{flow}/dead-letters/reasons")["reasons"]
    quality = _quality(server, flow)
    problems = [
        *_parts(parts),
        *_state(described),
        *_limits(described, keys),
        *_letters(letters),
        *_checks(quality),
    ]
    data = {
        "flow": {name: described[name] for name in _SHOWN},
        "problems": problems,
        "parts": parts,
        "longest_held_keys": keys,
        "dead_letters": letters,
        "quality": quality,
    }
    return Answer.of_lines(_sentences(flow, data), data)


_SHOWN = (
    "name", "held_keys", "draining_keys", "pending_commands", "held_events", "held_bytes", "now",
    "health", "pauses", "limits", "overflow", "is_guard", "failing_keys", "circuit_open",
)  # fmt: skip


def _quality(server: Server, flow: str) -> Any:
    try:
        return server.get(f"flows/{flow}/quality")
    except NotFoundError:  # it declares no checks, or they never ran
        return None


def _parts(parts: list[dict[str, Any]]) -> Iterator[str]:
    for line in parts:
        if not line["well"] and line["state"] != "paused":  # the pauses follow, each by itself
            yield f"The {line['part']} is {line['state']}: {line['reason']}"


def _state(flow: Mapping[str, Any]) -> Iterator[str]:
    for pause in flow["pauses"]:
        yield (
            f"The flow is paused by {pause['actor']} ({pause['name'] or pause['actor']!r}): "
            f"{pause['reason'] or 'no reason was given'}. It takes no events until it is resumed."
        )
    if flow["failing_keys"]:
        yield f"{flow['failing_keys']} keys have a first event that the handler could not handle."
    now = flow["now"]
    if now and now["lag"] and not now["outgoing"] and not now["held"]:
        yield f"{now['lag']} events are not taken, and none moves at the moment."
    if flow["pending_commands"]:
        yield f"{flow['pending_commands']} commands are requested and not effective yet."


def _limits(flow: Mapping[str, Any], keys: list[dict[str, Any]]) -> Iterator[str]:
    for what in ("events", "bytes"):
        held, limit = flow[f"held_{what}"], flow["limits"][f"flow_{what}"]
        if held >= _NEAR * limit:
            yield (
                f"{held} held {what} are close to the flow's limit of {limit}. At the limit the "
                f"flow's policy is {flow['overflow']!r}."
            )
    for key in keys:
        if key["overflow"]:
            yield f"The key {_name(key)!r} is at its limit of held events."


def _letters(reasons: list[dict[str, Any]]) -> Iterator[str]:
    for row in reasons[:_KEYS]:
        yield f"{row['count']} dead letters ({row['reason']}), the newest: {row['message']}"


def _checks(quality: Mapping[str, Any] | None) -> Iterator[str]:
    for check in quality["results"] if quality else ():
        if not check["passed"]:
            yield f"The check {check['check']!r} fails: {check['says']}"


def _sentences(flow: str, data: Mapping[str, Any]) -> Iterator[str]:
    problems, figures = data["problems"], data["flow"]
    if problems:
        yield f"The flow {flow} has {len(problems)} problem{'s' * (len(problems) > 1)}:"
        yield from (f"{number}. {text}" for number, text in enumerate(problems, 1))
    else:
        yield f"Nothing is wrong with the flow {flow}."
    now = figures["now"]
    rates = "" if now is None else (
        f", {now['incoming']:g} events a second in, {now['outgoing']:g} out, lag {now['lag']}"
    )  # fmt: skip
    yield (
        f"Figures: {figures['held_keys']} keys held, {figures['draining_keys']} draining, "
        f"{figures['held_events']} events wait{rates}."
    )
    for key in data["longest_held_keys"]:
        yield (
            f"- {_name(key)!r}: {key['state']}, {key['events']} events, by {key['actor'] or '-'}, "
            f"because {key['reason']!r}"
        )


def _name(key: Mapping[str, Any]) -> str:
    return str(key["key"] if key["key"] is not None else f"base64:{key['key_base64']}")
