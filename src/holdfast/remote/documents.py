"""Answers of the API as records of a flow."""

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from holdfast.client.held import HeldEvent
from holdfast.client.receipt import Effect
from holdfast.flows.holds import StandingHold
from holdfast.flows.journal import JournalRecord, Outcome
from holdfast.flows.keys import key_from_json
from holdfast.flows.options import options_of
from holdfast.flows.registry import FlowDefinition, Limits
from holdfast.flows.status import Entry, KeyState, KeyStatus

Answer = Mapping[str, Any]


def milliseconds(time: str | None) -> int | None:
    return None if time is None else round(datetime.fromisoformat(time).timestamp() * 1000)


def time_text(time: int | None) -> str | None:
    return None if time is None else datetime.fromtimestamp(time / 1000, UTC).isoformat()


def definition_of(answer: Answer) -> FlowDefinition:
    options: dict[str, Any] = {
        field.name: tuple(answer[field.name]) if field.default == () else answer[field.name]
        for field, _ in options_of(FlowDefinition)
    }
    return FlowDefinition(
        name=answer["name"],
        created_at=milliseconds(answer["created_at"]) or 0,
        limits=Limits(**answer["limits"]),
        **options,
    )


def hold_of(answer: Answer) -> StandingHold:
    return StandingHold(
        answer["id"],
        answer["offset"],
        answer["actor"],
        answer["reason"],
        milliseconds(answer["expires_at"]),
        answer["name"],
        answer["prefix"].encode(),
    )


def key_of(answer: Answer) -> bytes:
    fields = {name: answer[name] for name in ("key", "key_base64") if answer[name] is not None}
    return key_from_json(fields) or b""


def status_of(answer: Answer) -> KeyStatus:
    """The status of a key. All its partitions are one entry here: the API has their sums."""
    key, state = key_of(answer), KeyState(answer["state"])
    if state is KeyState.ACTIVE:
        return KeyStatus(key, state)
    holds = tuple(map(hold_of, answer["holds"]))
    entry = Entry(
        key, state, "", answer["actor"], milliseconds(answer["since"]) or 0, 0, 0, -1,
        reason=answer["reason"], pace=answer["pace"], events=answer["events"],
        bytes=answer["bytes"], oldest=milliseconds(answer["oldest"]),
    )  # fmt: skip
    return KeyStatus.of(key, {0: entry.with_holds(holds) if holds else entry})


def effect_of(rows: Sequence[Answer]) -> Effect:
    """The effect of a command, from its outcomes in the partitions that answer it."""
    first = rows[0]
    record = JournalRecord(
        outcome=Outcome(first["outcome"]),
        cut=first["cut"] or 0,
        step=0,
        at=milliseconds(first["at"]) or 0,
        others=tuple(map(hold_of, first["others"])),
        note=first["note"],
    )
    cuts = {row["partition"]: row["cut"] for row in rows} if len(rows) > 1 else {}
    return Effect(record.outcome, first["partition"], record.cut, record, cuts)


def audit_row(flow: str | None, answer: Answer) -> dict[str, Any]:
    """A row as `holdfast.control.exports.audit_fields` has it."""
    return {
        "time": answer["at"],
        "flow": flow or answer["flow"],
        "key": answer["key"],
        "key_base64": answer["key_base64"],
        "command": answer["command"],
        "outcome": answer["outcome"] or "requested",
        "actor": answer["actor"],
        "reason": answer["reason"],
        "hold": answer["name"] or ", ".join(answer["holds"]),
        "expires": answer["expires_at"],
        **{name: answer[name] for name in ("pace", "log", "partition", "offset", "cut")},
        **{name: answer[name] for name in ("command_id", "note")},
    }


def event_of(answer: Answer) -> HeldEvent:
    return HeldEvent(
        answer["partition"],
        answer["offset"],
        milliseconds(answer["timestamp"]) or 0,
        _bytes(answer["value"]),
        tuple((header["name"], _bytes(header["value"])) for header in answer["headers"]),
    )


def _bytes(value: Answer) -> bytes | None:
    if value["text"] is not None:
        return str(value["text"]).encode()
    return None if value["base64"] is None else base64.b64decode(value["base64"])
