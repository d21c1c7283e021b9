"""What several routes speak of: keys, times, commands, records."""

import base64
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from holdfast.api.browsing import Seen
from holdfast.api.key_paths import key_to_path
from holdfast.api.rendering import SHOWN_BYTES, content_of
from holdfast.client.dead_letters import ERROR, MESSAGE
from holdfast.client.source import SOURCE
from holdfast.errors import InvalidArgumentError
from holdfast.flows.journal import Outcome
from holdfast.flows.keys import key_bytes, key_from_base64, key_to_json
from holdfast.views.audit import AuditRow

_LAST = 253_402_300_799_999  # the end of the year 9999: no calendar goes further


def moment(milliseconds: int | None) -> datetime | None:
    """A time as people read it; None for one that no calendar has."""
    if milliseconds is None or not 0 <= milliseconds <= _LAST:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Moment = Annotated[
    datetime,
    PlainSerializer(_iso, return_type=str),
    Field(examples=["2026-01-31T12:00:00.000Z"]),
]


def _read_time(given: object) -> datetime:
    """Only times written out: a number could be seconds or milliseconds, and nobody asks which."""
    if isinstance(given, datetime):
        return given
    if not isinstance(given, str) or "T" not in given.upper():
        raise ValueError("write it as in 2026-01-31T12:00:00Z")
    return datetime.fromisoformat(given)


GivenTime = Annotated[datetime, BeforeValidator(_read_time)]
"""A time in a request."""


class Model(BaseModel):
    """Has the fields that it says, and no others."""

    model_config = ConfigDict(extra="forbid")


class Body(Model):
    """What a request brings. It is taken for what it is: a misspelt field is not one left out, and
    a false is no 0."""

    model_config = ConfigDict(extra="forbid", strict=True)


def example(**fields: Any) -> ConfigDict:
    """The settings of a request's body: an example for whoever reads the documentation."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [fields]})


class KeyName(BaseModel):
    """A key: as text, or as base64 where its bytes are no text; and as it stands in addresses."""

    key: str | None = Field(default=None, examples=["customer-7"])
    key_base64: str | None = Field(default=None, examples=[None])
    key_path: str | None = Field(default=None, examples=["customer-7"])


def key_fields(key: bytes | None) -> dict[str, Any]:
    """The fields of a KeyName."""
    return {} if key is None else {**key_to_json(key), "key_path": key_to_path(key)}


class Base64Key(Body):
    """A key whose bytes are no text."""

    key_base64: str = Field(examples=["/w=="], max_length=100_000)


GivenKey = Annotated[
    Annotated[str, Field(max_length=65_536)] | Base64Key,
    Field(description="Text, or an object with `key_base64`.", examples=["customer-7"]),
]


def given_key(key: str | Base64Key) -> bytes:
    """The bytes of a key in a request's body."""
    return key_bytes(key if isinstance(key, str) else key_from_base64(key.key_base64))


class Effect(BaseModel):
    """What came of a command."""

    outcome: Outcome = Field(examples=[Outcome.HELD])
    partition: int = Field(examples=[1])
    cut: int | None = Field(description="The source offset from which it acts.", examples=[41_807])
    at: Moment | None
    drained_through: int | None = None
    superseded_by: int | None = None
    note: str = ""

    @classmethod
    def of(cls, row: AuditRow) -> "Effect":
        assert row.outcome is not None
        return cls(
            outcome=row.outcome,
            partition=row.partition,
            cut=row.cut,
            at=moment(row.at),
            drained_through=row.drained_through,
            superseded_by=row.superseded_by,
            note=row.note,
        )


class Audit(KeyName):
    """A record of the control log (what was requested) or of the journal (what is effective)."""

    log: Literal["control", "journal"]
    partition: int
    offset: int
    at: Moment | None
    command: str = Field(description="hold, release, dead-letter, void; or empty.")
    command_id: str
    command_offset: int | None
    actor: str
    reason: str
    expires_at: Moment | None
    pace: float | None
    outcome: Outcome | None
    cut: int | None
    drained_through: int | None
    superseded_by: int | None
    note: str

    @classmethod
    def of(cls, row: AuditRow) -> "Audit":
        return cls(
            **key_fields(row.key),
            log=row.log,
            partition=row.partition,
            offset=row.offset,
            at=moment(row.at),
            command=row.command,
            command_id=row.command_id,
            command_offset=row.command_offset,
            actor=row.actor,
            reason=row.reason,
            expires_at=moment(row.expires_at),
            pace=row.pace,
            outcome=row.outcome,
            cut=row.cut,
            drained_through=row.drained_through,
            superseded_by=row.superseded_by,
            note=row.note,
        )


class Value(BaseModel):
    """Bytes: as text, or as base64 where they are no text; neither for a null."""

    text: str | None = Field(default=None, examples=['{"id":7}'])
    base64: str | None = None
    size: int = Field(description="Of the whole, in bytes.", examples=[8])
    truncated: bool = Field(default=False, description="Only the beginning is here.")

    @classmethod
    def of(cls, value: bytes | None, limit: int | None = SHOWN_BYTES) -> "Value":
        content = content_of(value, limit)
        return cls(
            text=content.text,
            base64=content.base64,
            size=content.size,
            truncated=content.truncated,
        )


class HeaderOut(BaseModel):
    name: str = Field(examples=["trace"])
    value: Value


class Coordinate(BaseModel):
    """Where an event stands in `<flow>.events`."""

    partition: int
    offset: int


class RecordOut(KeyName):
    """A record of a topic."""

    topic: str = Field(examples=["orders.processed"])
    partition: int
    offset: int
    timestamp: Moment | None
    timestamp_ms: int | None
    value: Value
    headers: list[HeaderOut]
    source: Coordinate | None = Field(
        default=None, description="The event that it was made of, where it says so."
    )
    error: str | None = Field(default=None, description="Of a dead letter: the kind of error.")
    error_message: str | None = Field(default=None, description="Of a dead letter: why.")

    @classmethod
    def of(cls, seen: Seen, limit: int | None = SHOWN_BYTES) -> "RecordOut":
        record = seen.record
        headers = record.headers
        return cls(
            **key_fields(record.key),
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            timestamp=moment(record.timestamp_ms),
            timestamp_ms=record.timestamp_ms,
            value=Value.of(seen.value, limit),
            headers=[HeaderOut(name=n, value=Value.of(v, limit)) for n, v in headers],
            source=coordinate_in(headers),
            error=_text_of(headers, ERROR),
            error_message=_text_of(headers, MESSAGE),
        )


def coordinate_in(headers: list[tuple[str, bytes | None]]) -> Coordinate | None:
    """The coordinate that the headers name; None where they do not. Anybody may write a header,
    so one that makes no sense is none."""
    partition, _, offset = (_text_of(headers, SOURCE) or "").partition(":")
    if not all(n.isascii() and n.isdigit() and len(n) < 19 for n in (partition, offset)):
        return None
    return Coordinate(partition=int(partition), offset=int(offset))


def _text_of(headers: list[tuple[str, bytes | None]], name: str) -> str | None:
    for found, value in reversed(headers):
        if found == name and value is not None:
            return value.decode(errors="replace")
    return None


def milliseconds(time: datetime | None) -> int | None:
    """A time that was given, or InvalidArgumentError if it has no zone."""
    if time is None:
        return None
    if time.tzinfo is None:
        raise InvalidArgumentError(
            f"{time.isoformat()} has no time zone: write it as in 2026-01-31T12:00:00Z."
        )
    try:
        return max(0, round(time.timestamp() * 1000))
    except (OverflowError, ValueError):
        raise InvalidArgumentError(f"{time.isoformat()} is no time that can be used.") from None


def decoded(text: str, field: str) -> bytes:
    """Base64 in a request's body."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise InvalidArgumentError(f"{field!r} is not base64.") from None
