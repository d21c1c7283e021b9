"""Work on the events of a flow, as it is asked for: replay, backfill, redrive, verify, quality.

Ranges of offsets are written `partition:start-end`, from `start` up to, and without, `end`.
"""

import base64
import binascii
import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from holdfast.errors import InvalidArgumentError
from holdfast.flows.documents import Document
from holdfast.flows.keys import key_bytes, key_from_base64, key_to_json

MAX_RATE = 100_000.0
"""Events a second. A limit above it would not limit anything."""
MAX_LISTED = 10_000
"""Keys, ranges, files or letters of one run: they are listed in its record."""
MAX_VALUE_BYTES = 512 * 1024
"""Of an edited value, which is part of a record as well."""
MAX_FILTER = 4_000
MAX_DAYS = 36_500

_RANGE = re.compile(r"(\d{1,9}):(\d{1,18})-(\d{1,18})?")
_LETTER = re.compile(r"(\d{1,9}):(\d{1,18})")


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Offsets of one partition; without an end, all that there are when the run begins."""

    partition: int
    start: int
    end: int | None = None

    def __post_init__(self) -> None:
        if self.end is not None and self.end < self.start:
            raise InvalidArgumentError(f"The range {self} ends before it begins.")

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        >>> OffsetRange.parse("3:100-200"), OffsetRange.parse("0:7-")
        (OffsetRange(partition=3, start=100, end=200), OffsetRange(partition=0, start=7, end=None))
        """
        match = _RANGE.fullmatch(text)
        if match is None:
            raise InvalidArgumentError(
                f"{text!r} is not a range: write PARTITION:START-END, for example 3:100-200."
            )
        return cls(int(match[1]), int(match[2]), None if match[3] is None else int(match[3]))

    def __str__(self) -> str:
        return f"{self.partition}:{self.start}-{'' if self.end is None else self.end}"


@dataclass(frozen=True, slots=True, order=True)
class Coordinate:
    """Where a dead letter stands in `<flow>.dlq`."""

    partition: int
    offset: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        >>> Coordinate.parse("2:41")
        Coordinate(partition=2, offset=41)
        """
        match = _LETTER.fullmatch(text)
        if match is None:
            raise InvalidArgumentError(
                f"{text!r} is no place in a topic: write PARTITION:OFFSET, for example 2:41."
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Send events of the raw zone through `<flow>.events` again. All that is given must hold of an
    event; without anything, all events are meant."""

    name: ClassVar[str] = "replay"

    offsets: tuple[OffsetRange, ...] = ()
    since: int | None = None
    """Milliseconds; events of this time and later."""
    until: int | None = None
    """Milliseconds; events before it."""
    keys: tuple[bytes, ...] = ()
    where: str = ""
    """A Spark SQL expression over key, value, headers, timestamp, partition, offset."""
    json: tuple[tuple[str, str], ...] = ()
    """Pairs of a JSON path into the value, and the text that must be there."""
    rate: float | None = None
    """Most events a second, of the whole run."""
    replayed: bool = False
    """Take events too that came from an earlier replay."""
    dry_run: bool = False
    """Only say what would be sent."""

    def __post_init__(self) -> None:
        _check_times(self.since, self.until)
        _check_listed("ranges", self.offsets)
        _check_listed("keys", self.keys)
        _check_listed("JSON paths", self.json)
        for key in self.keys:
            key_bytes(key)
        if len(self.where) > MAX_FILTER:
            raise InvalidArgumentError(f"A filter has at most {MAX_FILTER} characters.")
        for path, _ in self.json:
            if not path.startswith("$"):
                raise InvalidArgumentError(
                    f"{path!r} is no JSON path: it begins with '$', for example $.customer.id."
                )
        if self.rate is not None and not (math.isfinite(self.rate) and 0 < self.rate <= MAX_RATE):
            raise InvalidArgumentError(
                f"A rate is above 0 and at most {MAX_RATE:,.0f} events a second, not {self.rate}. "
                "Leave it out for as fast as possible."
            )

    def fields(self) -> dict[str, Any]:
        return {
            "offsets": [str(each) for each in self.offsets] or None,
            "since": self.since,
            "until": self.until,
            **_keys_to_json(self.keys),
            "where": self.where or None,
            "json": [f"{path}={text}" for path, text in self.json] or None,
            "rate": self.rate,
            "replayed": self.replayed or None,
            "dry_run": self.dry_run or None,
        }

    @classmethod
    def read(cls, document: Document) -> Self:
        return cls(
            offsets=tuple(map(OffsetRange.parse, document.texts("offsets"))),
            since=document.optional_integer("since"),
            until=document.optional_integer("until"),
            keys=_keys_in(document),
            where=document.optional_text("where") or "",
            json=tuple(map(parse_json_filter, document.texts("json"))),
            rate=document.optional_number("rate"),
            replayed=document.flag("replayed"),
            dry_run=document.flag("dry_run"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """Land events in the raw zone that are not in it: of `<flow>.events`, or of files."""

    name: ClassVar[str] = "backfill"

    offsets: tuple[OffsetRange, ...] = ()
    """Without any, and without files, all that the topic still has."""
    since: int | None = None
    until: int | None = None
    files: tuple[str, ...] = ()
    """Paths as the pipeline sees them: Parquet (`.parquet`), or JSON lines. Patterns are fine."""
    key_from: str = ""
    """Where files tell an event's key: a column of Parquet, a JSON path of JSON lines."""
    time_from: str = ""
    """The same of its time; without it an event has the time at which it was landed."""

    def __post_init__(self) -> None:
        _check_times(self.since, self.until)
        _check_listed("ranges", self.offsets)
        _check_listed("files", self.files)
        if self.files and (self.offsets or self.since is not None or self.until is not None):
            raise InvalidArgumentError(
                "A backfill takes files, or a range of the topic, not both at once."
            )
        if (self.key_from or self.time_from) and not self.files:
            raise InvalidArgumentError("Where key and time are found can be said of files alone.")

    def fields(self) -> dict[str, Any]:
        return {
            "offsets": [str(each) for each in self.offsets] or None,
            "since": self.since,
            "until": self.until,
            "files": list(self.files) or None,
            "key_from": self.key_from or None,
            "time_from": self.time_from or None,
        }

    @classmethod
    def read(cls, document: Document) -> Self:
        return cls(
            offsets=tuple(map(OffsetRange.parse, document.texts("offsets"))),
            since=document.optional_integer("since"),
            until=document.optional_integer("until"),
            files=document.texts("files"),
            key_from=document.optional_text("key_from") or "",
            time_from=document.optional_text("time_from") or "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrive:
    """Send dead letters through `<flow>.events` again. All that is given must hold of a letter."""

    name: ClassVar[str] = "redrive"

    letters: tuple[Coordinate, ...] = ()
    reason: str = ""
    """The header `holdfast-error` of the letters: invalid, overflow, dead-lettered, ..."""
    keys: tuple[bytes, ...] = ()
    everything: bool = False
    value: bytes | None = None
    """Instead of the value of the one letter."""
    again: bool = False
    """Also those that were redriven before."""

    def __post_init__(self) -> None:
        _check_listed("letters", self.letters)
        _check_listed("keys", self.keys)
        chosen = bool(self.letters or self.reason or self.keys)
        if chosen == self.everything:
            raise InvalidArgumentError(
                "Say which dead letters: by their places, a reason or keys, or else all of them."
            )
        if self.value is not None and len(self.letters) != 1:
            raise InvalidArgumentError("An edited value goes with exactly one letter.")
        if self.value is not None and len(self.value) > MAX_VALUE_BYTES:
            raise InvalidArgumentError(f"An edited value has at most {MAX_VALUE_BYTES} bytes.")

    def fields(self) -> dict[str, Any]:
        value = None if self.value is None else base64.b64encode(self.value).decode()
        return {
            "letters": [str(each) for each in self.letters] or None,
            "reason": self.reason or None,
            **_keys_to_json(self.keys),
            "everything": self.everything or None,
            "value_base64": value,
            "again": self.again or None,
        }

    @classmethod
    def read(cls, document: Document) -> Self:
        value = document.optional_text("value_base64")
        return cls(
            letters=tuple(map(Coordinate.parse, document.texts("letters"))),
            reason=document.optional_text("reason") or "",
            keys=_keys_in(document),
            everything=document.flag("everything"),
            value=None if value is None else _from_base64(value),
            again=document.flag("again"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """Account for every event. Goes on from what was verified before, unless it is limited."""

    name: ClassVar[str] = "verify"

    full: bool = False
    """From the first event on, whatever was verified before."""
    since: int | None = None
    """Milliseconds; events of this time and later."""
    until: int | None = None
    """Milliseconds; events before it."""
    without_raw_zone: bool = False

    def __post_init__(self) -> None:
        _check_times(self.since, self.until)

    def fields(self) -> dict[str, Any]:
        return {
            "full": self.full or None,
            "since": self.since,
            "until": self.until,
            "without_raw_zone": self.without_raw_zone or None,
        }

    @classmethod
    def read(cls, document: Document) -> Self:
        return cls(
            full=document.flag("full"),
            since=document.optional_integer("since"),
            until=document.optional_integer("until"),
            without_raw_zone=document.flag("without_raw_zone"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Run the checks that the flow declares over the raw zone, and keep the report."""

    name: ClassVar[str] = "quality"

    days: int | None = None
    """Only events of so many days."""

    def __post_init__(self) -> None:
        if self.days is not None and not 1 <= self.days <= MAX_DAYS:
            raise InvalidArgumentError(f"'days' is a number from 1 to {MAX_DAYS:,}.")

    def fields(self) -> dict[str, Any]:
        return {"days": self.days}

    @classmethod
    def read(cls, document: Document) -> Self:
        return cls(days=document.optional_integer("days"))


Work = Replay | Backfill | Redrive | Verify | Quality
KINDS: dict[str, type[Work]] = {
    kind.name: kind for kind in (Replay, Backfill, Redrive, Verify, Quality)
}


def parse_json_filter(text: str) -> tuple[str, str]:
    """
    >>> parse_json_filter("$.status=failed")
    ('$.status', 'failed')
    """
    path, separator, wanted = text.partition("=")
    if not separator:
        raise InvalidArgumentError(f"{text!r} must be written as PATH=TEXT, as in $.status=failed.")
    return path, wanted


def _check_times(since: int | None, until: int | None) -> None:
    if since is not None and until is not None and until < since:
        raise InvalidArgumentError("The range of time ends before it begins.")


def _check_listed(what: str, listed: tuple[Any, ...]) -> None:
    if len(listed) > MAX_LISTED:
        raise InvalidArgumentError(f"A run names at most {MAX_LISTED:,} {what}.")


def _keys_to_json(keys: tuple[bytes, ...]) -> dict[str, Any]:
    """Those that are text as `keys`, the others as `keys_base64`."""
    pairs = [key_to_json(key) for key in keys]
    return {
        "keys": [pair["key"] for pair in pairs if "key" in pair] or None,
        "keys_base64": [pair["key_base64"] for pair in pairs if "key_base64" in pair] or None,
    }


def _keys_in(document: Document) -> tuple[bytes, ...]:
    texts = [key_bytes(text) for text in document.texts("keys")]
    return (*texts, *map(key_from_base64, document.texts("keys_base64")))


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidArgumentError("The edited value is not base64.") from None
