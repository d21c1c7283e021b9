"""Tools that change something. Each needs a reason, and is a dry run unless told otherwise."""

from collections.abc import Callable
from typing import Any

from holdfast.control.key_paths import key_to_path
from holdfast.mcp.tool import Answer, Arguments, Tool
from holdfast.mcp.tools import FLOW, KEY, KEY_BASE64, flow_path, key_of
from holdfast.remote.server import Server

_REASON = {"type": "string", "minLength": 1, "description": "Why; it is kept in the audit."}
_DRY_RUN = {
    "type": "boolean",
    "default": True,
    "description": "True makes every check and changes nothing; false acts.",
}
_NAME = {"type": "string", "minLength": 1, "description": "Its name; the token's unless given."}
_EXPIRES = {"type": "string", "description": "When it ends by itself: 90s, 10m, 2h, 7d."}
_HOLDS = {"type": "array", "items": {"type": "string"}, "description": "Names of those to end."}
_ALL = {"type": "boolean", "description": "End all, not only one's own."}
_PACE = {"type": "number", "description": "Events a second; no limit unless given."}
_COMMON = {"flow": FLOW, "reason": _REASON, "dry_run": _DRY_RUN}
_KEYS = {"key": KEY, "key_base64": KEY_BASE64}
_NOTHING = "Dry run: every check has passed and nothing was changed. Set dry_run to false to act."
_WAIT_SECONDS = 10


def _verb(verb: str) -> Callable[[Server, Arguments], Answer]:
    """A command of one key."""

    def call(server: Server, arguments: Arguments) -> Answer:
        path = f"{flow_path(arguments)}/keys/{key_to_path(key_of(arguments))}/{verb}"
        return _send(server, path, arguments)

    return call


def _of_flow(verb: str) -> Callable[[Server, Arguments], Answer]:
    """A command of the whole flow."""
    return lambda server, arguments: _send(server, f"{flow_path(arguments)}/{verb}", arguments)


_NOT_IN_BODY = ("flow", "key", "key_base64", "dry_run")


def _send(server: Server, path: str, arguments: Arguments) -> Answer:
    body = {name: value for name, value in arguments.items() if name not in _NOT_IN_BODY}
    if arguments.get("dry_run", True):
        receipt = server.post(path, body, dry_run="true")
        return Answer(f"{_NOTHING} The command would be: {receipt['command']}.", receipt)
    receipt = server.post(path, body, wait="effective", timeout=_WAIT_SECONDS)
    return Answer(_said(receipt), receipt)


def _said(receipt: dict[str, Any]) -> str:
    effect = receipt["effective"]
    requested = f"{receipt['command']} is requested (command {receipt['command_id']})"
    if effect is None:
        return (
            f"{requested} and not effective yet. It stands, and takes effect when the flow's "
            "pipeline runs: look again with explain_key."
        )
    remaining = ", ".join(hold["name"] or hold["actor"] for hold in effect["remaining"])
    still = f" These holds still stand: {remaining}." if remaining else ""
    event = f"{effect['partition']}:{effect['cut']}"
    return f"{requested} and effective from event {event} on: {effect['outcome']}.{still}"


WRITING = (
    Tool(
        name="hold_key",
        title="Hold a key",
        description="Keeps back the events of a key, in order. A key may have several holds, each "
        "with a name; the same name again changes that one only.",
        properties={**_COMMON, **_KEYS, "name": _NAME, "expires_in": _EXPIRES},
        required=("flow", "reason"),
        writes=True,
        call=_verb("hold"),
    ),
    Tool(
        name="release_key",
        title="Release a key",
        description="Ends the caller's hold, or those that are named. With the last one the held "
        "events leave in order. It cannot be taken back once they have left.",
        properties={**_COMMON, **_KEYS, "holds": _HOLDS, "all": _ALL, "pace": _PACE},
        required=("flow", "reason"),
        writes=True,
        destroys=True,
        call=_verb("release"),
    ),
    Tool(
        name="dead_letter_key",
        title="Dead-letter a key",
        description="Moves the held events of a key to the dead letters. It cannot be taken back.",
        properties={**_COMMON, **_KEYS},
        required=("flow", "reason"),
        writes=True,
        destroys=True,
        call=_verb("dead-letter"),
    ),
    Tool(
        name="pause_flow",
        title="Pause a flow",
        description="The flow takes no events until it is resumed. They wait in its topic.",
        properties={**_COMMON, "name": _NAME},
        required=("flow", "reason"),
        writes=True,
        call=_of_flow("pause"),
    ),
    Tool(
        name="resume_flow",
        title="Resume a flow",
        description="Ends the caller's pause, or those that are named.",
        properties={**_COMMON, "holds": _HOLDS, "all": _ALL},
        required=("flow", "reason"),
        writes=True,
        call=_of_flow("resume"),
    ),
)
