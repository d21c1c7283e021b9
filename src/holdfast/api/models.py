"""Models that several routes use: keys, times, commands, records."""

import base64
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)

from holdfast.client.dead_letters import LetterReason, reason_of
from holdfast.client.source import source_of
from holdfast.clock import from_ms, parse_duration
from holdfast.control.json_values import SHOWN_BYTES, content_of
from holdfast.control.key_paths import key_to_path
from holdfast.control.records import Seen
from holdfast.errors import InvalidArgumentError
from holdfast.flows.journal import Outcome
from holdfast.flows.keys import key_bytes, key_from_base64, key_to_json

_LAST = 253_402_300_799_999  # the end of the year 9999, the last that datetime has


def moment(time: int | datetime | None) -> datetime | None:
    """A time from milliseconds; None for one that no calendar has."""
    if isinstance(time, int):
        return from_ms(time) if 0 <= time <= _LAST else None
    return time


def _iso(time: datetime | None) -> str | None:
    if time is None:
        return None
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Moment = Annotated[
    datetime | None,
    BeforeValidator(moment),
    PlainSerializer(_iso, return_type=str | None),
    Field(examples=["2026-01-31T12:00:00.000Z"]),
]
"""A time in an answer. Records have it in milliseconds."""


def _read_time(given: object) -> datetime:
    """Reads times in text form only: a number could be seconds or milliseconds."""
    if isinstance(given, datetime):
        return given
    if not isinstance(given, str) or "T" not in given.upper():
        raise ValueError("write it as in 2026-01-31T12:00:00Z")
    return datetime.fromisoformat(given)


GivenTime = Annotated[datetime, BeforeValidator(_read_time)]
"""A time in a request."""


_DURATION = r"^[0-9]+(\.[0-9]+)?[smhd]$"


def _read_seconds(given: object) -> object:
    """Reads `2h`; numbers stay as they are, for the checks that follow."""
    if not isinstance(given, str):
        return given
    try:
        float(given)
    except ValueError:
        return parse_duration(given).total_seconds()
    return given


Seconds = Annotated[
    float,
    BeforeValidator(
        _read_seconds,
        json_schema_input_type=float | Annotated[str, Field(pattern=_DURATION)],
    ),
]
"""A length of time in a request: seconds, or a text such as `2h`."""


class Model(BaseModel):
    """An answer or a part of one. `model_validate` makes it from a record with the same fields."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class Body(BaseModel):
    """The body of a request. It is strict: a misspelt field is an error, and false is not 0."""

    model_config = ConfigDict(extra="forbid", strict=True)


def example(**fields: Any) -> ConfigDict:
    """The settings of a body with an example for the API's documentation."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [fields]})


class KeyName(BaseModel):
    """A key as text, or as base64 if its bytes are not text; and its form in addresses."""

    key: str | None = Field(default=None, examples=["customer-7"])
    key_base64: str | None = Field(default=None, examples=[None])
    key_path: str | None = Field(default=None, examples=["customer-7"])

    @model_validator(mode="before")
    @classmethod
    def _from_record(cls, source: Any) -> Any:
        """A record has the bytes of its key, which become three fields here."""
        if isinstance(source, dict):
            return source
        names = cls.model_fields.keys() - KeyName.model_fields.keys()
        return {**key_fields(source.key), **{name: getattr(source, name) for name in names}}


def key_fields(key: bytes | None) -> dict[str, Any]:
    """The fields of a KeyName."""
    return {} if key is None else {**key_to_json(key), "key_path": key_to_path(key)}


class Base64Key(Body):
    """A key whose bytes are not text."""

    key_base64: str = Field(examples=["/w=="], max_length=100_000)


GivenKey = Annotated[
    Annotated[str, Field(max_length=65_536)] | Base64Key,
    Field(description="Text, or an object with `key_base64`.", examples=["customer-7"]),
]


def given_key(key: str | Base64Key) -> bytes:
    """The bytes of a key in a request's body."""
    return key_bytes(key if isinstance(key, str) else key_from_base64(key.key_base64))


def _text_of(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


class HoldOut(Model):
    """A hold of a key that stands."""

    name: str = Field(
        description="Empty: it was requested before holds had names.", examples=["fraud-team"]
    )
    actor: str = Field(examples=["ana"])
    reason: str = Field(examples=["fraud check"])
    expires_at: Moment = Field(description="Null if it never expires.")
    prefix: Annotated[str, BeforeValidator(_text_of)] = Field(
        default="", description="The prefix that it holds; empty for a hold of one key."
    )
    id: str = Field(description="Of the command that began or changed it.")
    offset: int = Field(description="Of that command on the control log.")


class Effect(Model):
    """The outcome of a command in one partition."""

    outcome: Outcome = Field(examples=[Outcome.HELD])
    partition: int = Field(examples=[1])
    cut: int | None = Field(description="The source offset from which it acts.", examples=[41_807])
    at: Moment
    drained_through: int | None = None
    superseded_by: int | None = None
    ended: list[str] = Field(
        default=[], validation_alias="holds", description="Of a release: the holds that it ended."
    )
    remaining: list[HoldOut] = Field(
        default=[], validation_alias="others", description="The key's other holds, which stand."
    )
    note: str = ""


class Audit(KeyName):
    """A record of the control log (what was requested) or of the journal (what is effective)."""

    log: Literal["control", "journal"]
    partition: int
    offset: int
    at: Moment
    command: str = Field(
        description="hold, release, dead-letter, void, skip, hold-prefix, release-prefix, pause, "
        "resume; or empty."
    )
    command_id: str
    command_offset: int | None
    actor: str
    reason: str
    expires_at: Moment
    pace: float | None
    name: str = Field(description="The name of the hold that it is about.")
    prefix: Annotated[str, BeforeValidator(_text_of)] = Field(
        default="", description="The prefix that it is about."
    )
    holds: list[str] = Field(
        description="Of a release: the names of the holds to end; of its outcome: that it ended."
    )
    every: bool = Field(description="Of a release: it is to end every hold.")
    others: list[HoldOut] = Field(description="The key's other holds, which stand.")
    outcome: Outcome | None
    cut: int | None
    drained_through: int | None
    superseded_by: int | None
    note: str


class Value(Model):
    """Bytes as text, or as base64 if they are not text; neither for a null."""

    text: str | None = Field(default=None, examples=['{"id":7}'])
    base64: str | None = None
    size: int = Field(description="Of the whole, in bytes.", examples=[8])
    truncated: bool = Field(default=False, description="Only the beginning is here.")

    @classmethod
    def of(cls, value: bytes | None, limit: int | None = SHOWN_BYTES) -> "Value":
        return cls.model_validate(content_of(value, limit))


class HeaderOut(BaseModel):
    name: str = Field(examples=["trace"])
    value: Value


class Coordinate(BaseModel):
    """The coordinate of an event in `<flow>.events`."""

    partition: int
    offset: int


_LETTERS = ".dlq"
_WRITTEN = (".processed", ".held", _LETTERS)
"""Topics whose records Holdfast writes, with headers after those of the event. In other topics such
headers may be from any producer."""


class RecordOut(KeyName):
    """A record of a topic."""

    topic: str = Field(examples=["orders.processed"])
    partition: int
    offset: int
    timestamp: Moment
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
        source = source_of(headers) if record.topic.endswith(_WRITTEN) else None
        why = reason_of(headers) if record.topic.endswith(_LETTERS) else LetterReason("", "")
        return cls(
            **key_fields(record.key),
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            timestamp=moment(record.timestamp_ms),
            timestamp_ms=record.timestamp_ms,
            value=Value.of(seen.value, limit),
            headers=[HeaderOut(name=n, value=Value.of(v, limit)) for n, v in headers],
            source=source and Coordinate(partition=source[0], offset=source[1]),
            error=why.kind or None,
            error_message=why.message if why.kind else None,
        )


def milliseconds(time: datetime | None) -> int | None:
    """A time of a request in milliseconds, or InvalidArgumentError if it has no time zone."""
    if time is None:
        return None
    if time.tzinfo is None:
        raise InvalidArgumentError(
            f"{time.isoformat()} has no time zone: write it as in 2026-01-31T12:00:00Z."
        )
    try:
        return max(0, round(time.timestamp() * 1000))
    except (OverflowError, ValueError):
        raise InvalidArgumentError(f"{time.isoformat()} is not a valid time.") from None


def decoded(text: str, field: str) -> bytes:
    """Base64 in a request's body."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise InvalidArgumentError(f"{field!r} is not base64.") from None
