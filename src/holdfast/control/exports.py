"""Lists as rows for programs and spreadsheets: JSON, CSV."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from holdfast.client.dead_letters import reason_of
from holdfast.clock import from_ms
from holdfast.control.json_values import content_of
from holdfast.control.records import Seen
from holdfast.csv_rows import csv_text
from holdfast.flows.keys import key_to_json
from holdfast.views.audit import AuditRow
from holdfast.views.keys import KeyRow

ExportForm = Literal["csv", "json"]
MOST_ROWS = 10_000
"""Rows of one export."""

_NO_KEY: Mapping[str, str | None] = {"key": None, "key_base64": None}


def audit_fields(flow: str, row: AuditRow) -> dict[str, Any]:
    return {
        "time": _time(row.at),
        "flow": flow,
        **_key(row.key),
        "command": row.command,
        "outcome": row.outcome.value if row.outcome else "requested",
        "actor": row.actor,
        "reason": row.reason,
        "hold": row.name or ", ".join(row.holds),
        "expires": None if row.expires_at is None else _time(row.expires_at),
        "pace": row.pace,
        "log": row.log,
        "partition": row.partition,
        "offset": row.offset,
        "cut": row.cut,
        "command_id": row.command_id,
        "note": row.note,
    }


def key_row_fields(row: KeyRow) -> dict[str, Any]:
    return {
        **_key(row.key),
        "state": row.state.value,
        "reason": row.reason,
        "actor": row.actor,
        "since": None if row.since is None else _time(row.since),
        "expires": None if row.expires_at is None else _time(row.expires_at),
        "events": row.events,
        "bytes": row.bytes,
        "oldest": None if row.oldest is None else _time(row.oldest),
        "holds": ", ".join(hold.label for hold in row.holds),
        "pending": ", ".join(row.pending),
    }


def record_fields(seen: Seen) -> dict[str, Any]:
    record, value = seen.record, content_of(seen.value, None)
    return {
        "time": _time(seen.time),
        "partition": record.partition,
        "offset": record.offset,
        **_key(record.key),
        "value": value.text,
        "value_base64": value.base64,
    }


def letter_fields(seen: Seen) -> dict[str, Any]:
    """A dead letter: its reason, and its record."""
    reason = reason_of(seen.record.headers)
    return {**record_fields(seen), "reason": reason.kind or "unknown", "message": reason.message}


def exported(rows: Sequence[Mapping[str, Any]], form: ExportForm) -> str:
    return csv_text(rows) if form == "csv" else json.dumps(list(rows), ensure_ascii=False, indent=1)


def _key(key: bytes | None) -> dict[str, str | None]:
    return {**_NO_KEY, **({} if key is None else key_to_json(key))}


def _time(milliseconds: int) -> str:
    moment = from_ms(max(0, milliseconds))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
