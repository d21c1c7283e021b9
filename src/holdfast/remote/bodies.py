"""Commands as requests of the API. The server adds actor and time: they are the token's."""

from datetime import UTC, datetime
from typing import Any

from holdfast.errors import InvalidArgumentError
from holdfast.flows.commands import (
    Command,
    DeadLetter,
    Hold,
    Pause,
    PrefixHold,
    PrefixRelease,
    Release,
    Resume,
    Skip,
    Void,
)
from holdfast.flows.keys import key_to_json

KeyCommand = Hold | Release | DeadLetter


def of_key(command: KeyCommand) -> dict[str, Any]:
    """The body of `POST /flows/{flow}/commands`, without the keys."""
    match command:
        case Hold():
            return {"command": "hold", "reason": command.reason, **_held(command)}
        case Release():
            return {"command": "release", "pace": command.pace, **_ending(command)}
    if command.first:
        raise InvalidArgumentError("The API dead-letters all held events of a key, not the first.")
    return {"command": "dead-letter", "reason": command.reason}


def of_flow(command: Command) -> tuple[str, dict[str, Any]]:
    """The path behind `/flows/{flow}/`, and the body, of a command without a key."""
    match command:
        case PrefixHold():
            prefix = {"prefix": given_key(command.prefix), "reason": command.reason}
            return "prefixes/hold", {**prefix, **_held(command)}
        case PrefixRelease():
            prefix = {"prefix": given_key(command.prefix), "pace": command.pace}
            return "prefixes/release", {**prefix, **_ending(command)}
        case Pause():
            return "pause", {"reason": command.reason, "name": command.hold_name}
        case Resume():
            return "resume", _ending(command)
        case Void():
            return "void", {"offset": command.offset, "reason": command.reason}
        case Skip():
            return "skip", {
                "partition": command.partition,
                "first": command.first,
                "last": command.last,
                "reason": command.reason,
            }
    raise InvalidArgumentError(f"{command.name} is a command of a key.")


def given_key(key: bytes) -> Any:
    """A key in a body: text, or an object with base64."""
    fields = key_to_json(key)
    return fields.get("key", fields)


def _held(command: Hold | PrefixHold) -> dict[str, Any]:
    body: dict[str, Any] = {"name": command.hold_name}
    if command.expires_in is not None:
        body["expires_in"] = command.expires_in / 1000
    elif command.expires_at is not None:
        body["expires_at"] = datetime.fromtimestamp(command.expires_at / 1000, UTC).isoformat()
    return body


def _ending(command: Release | PrefixRelease | Resume) -> dict[str, Any]:
    return {
        "reason": command.reason,
        "all": command.every,
        "holds": None if command.every else list(command.holds),
    }
