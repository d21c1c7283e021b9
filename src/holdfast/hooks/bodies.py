"""An event as the body of a request: JSON, or a message for Slack."""

import json
from typing import Any

from holdfast.clock import from_ms
from holdfast.flows.keys import key_to_json
from holdfast.hooks.event import HookEvent
from holdfast.hooks.hook import BodyFormat, EventKind

_LONGEST = 500
"""Characters of a key, a reason or a note in a message for people."""


def body_of(event: HookEvent, form: BodyFormat) -> bytes:
    """The body, as UTF-8."""
    fields = _slack(event) if form is BodyFormat.SLACK else _fields(event)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def _fields(event: HookEvent) -> dict[str, Any]:
    at = from_ms(event.at).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    fields = {
        "id": event.id,
        "event": event.kind.value,
        "flow": event.flow,
        "at": at,
        **(key_to_json(event.key) if event.key is not None else {}),
        "partition": event.partition,
        "cut": event.cut,
        "actor": event.actor,
        "reason": event.reason,
        "hold": event.hold,
        "note": event.note,
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _slack(event: HookEvent) -> dict[str, Any]:
    text = f"*{_plain(event.flow)}*: {_sentence(event)}"
    if event.reason:
        text += f"\n> {_plain(event.reason)}"
    if event.note:
        text += f"\n_{_plain(event.note)}_"
    return {"text": text}


def _sentence(event: HookEvent) -> str:
    key = "" if event.key is None else f"`{_plain(event.key.decode(errors='replace'))}`"
    by = f" by {_plain(event.actor)}" if event.actor else ""
    match event.kind:
        case EventKind.HELD:
            return f"{key} is held{by}"
        case EventKind.EXPIRED:
            return f"the hold of {key} has expired; its events leave in order"
        case EventKind.DRAINED:
            return f"{key} is active again: all its held events have left"
        case EventKind.PARKED:
            return f"{key} is parked: its event has failed"
        case EventKind.STOPPED:
            return "the gate has stopped, no events are processed"
    return f"this is a test{by}"


def _plain(text: str) -> str:
    """Data as text: never markup, a mention, a link or a new line."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    shown = "".join(c if c.isprintable() else " " for c in short)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        shown = shown.replace(sign, entity)
    return shown.translate({ord(sign): "\u02cb" if sign == "`" else f"\u2060{sign}\u2060"
                            for sign in "*_~`"})  # fmt: skip
