"""The options of each kind of run: replay, backfill, redrive, verify, quality, refresh.

Ranges of offsets are written `partition:start-end`, from `start` up to, and without, `end`.
"""

import base64
import binascii
import dataclasses
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from holdfast.errors import InvalidArgumentError
from holdfast.flows.documents import FORMS, Document, Form, read_fields, write_fields
from holdfast.flows.keys import key_bytes, key_from_base64, key_to_json
from holdfast.flows.options import option

MAX_RATE = 100_000.0
"""Events a second. A higher limit would have no effect."""
MAX_LISTED = 10_000
"""Keys, ranges, files or letters of one run: its record lists them."""
ORDER_CAVEAT = (
    "A redriven event goes behind the newer ones of its key: those have passed already, or wait in "
    "front of it."
)
MAX_DAYS = 36_500

Milliseconds = Annotated[int | None, "milliseconds since 1970"]
"""A time in the options of a run."""

_RANGE = re.compile(r"(\d{1,9}):(\d{1,18})-(\d{1,18})?")
_LETTER = re.compile(r"(\d{1,9}):(\d{1,18})")


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Offsets of one partition; without an end, up to the end at the start of the run."""

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
    """The position of a dead letter in `<flow>.dlq`."""

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
                f"{text!r} is not a position in a topic: write PARTITION:OFFSET, for example 2:41."
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spec:
    """Writes the options of a run to its record, and reads them, by the types of the fields."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            most = field.metadata["option"].limits.get("max_length")
            if most is not None and len(value or ()) > most:
                what = "characters" if isinstance(value, str) else "entries"
                raise InvalidArgumentError(f"{field.name!r} has at most {most:,} {what}.")
        self._check()

    def _check(self) -> None:
        """Refuses options that contradict each other."""

    def fields(self) -> dict[str, Any]:
        """The options as fields of a record; None for those without a value."""
        return write_fields(self, _FORMS)

    @classmethod
    def read(cls, document: Document) -> Self:
        return cls(**read_fields(cls, document, _FORMS))


_LISTED = {"max_length": MAX_LISTED}


def _keys_option() -> Any:
    return option((), "Only events of this key.", "--key", "-k", metavar="KEY", limits=_LISTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Timed(_Spec):
    since: Milliseconds = option(None, "Only events of this time and later.", metavar="TIME")
    until: Milliseconds = option(None, "Only events before this time.", metavar="TIME")

    def _check(self) -> None:
        if self.since is not None and self.until is not None and self.until < self.since:
            raise InvalidArgumentError("The range of time ends before it begins.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranged(_Timed):
    offsets: tuple[OffsetRange, ...] = option(
        (),
        "Only these offsets of a partition; END is not included, and may be left out.",
        metavar="P:START-END",
        example="0:1000-2000",
        limits=_LISTED,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(_Ranged):
    """Send events of the raw zone through `<flow>.events` again: those that match all filters."""

    name = "replay"

    keys: tuple[bytes, ...] = _keys_option()
    where: str = option(
        "",
        "A Spark SQL filter over key, value, headers, timestamp, partition, offset.",
        metavar="SQL",
        example="get_json_object(value, '$.amount') > 100",
        limits={"max_length": 4_000},
    )
    json_filters: tuple[tuple[str, str], ...] = option(
        (),
        "The text that a JSON path of the value must find.",
        "--json",
        metavar="PATH=TEXT",
        example="$.status=failed",
        limits={"max_length": 100},
    )
    rate: float | None = option(
        None,
        "Maximum of events per second, of the whole run; without it, as fast as possible.",
        limits={"gt": 0, "le": MAX_RATE},
    )
    with_replayed: bool = option(False, "Also events of earlier replays.")
    dry_run: bool = option(False, "Only show what would be sent, with a sample.")

    def _check(self) -> None:
        _Timed._check(self)  # slots leave super() without its class
        for key in self.keys:
            key_bytes(key)
        for path, _ in self.json_filters:
            if not path.startswith("$"):
                raise InvalidArgumentError(
                    f"{path!r} is not a JSON path: it begins with '$', for example $.customer.id."
                )
        if self.rate is not None and not (math.isfinite(self.rate) and 0 < self.rate <= MAX_RATE):
            raise InvalidArgumentError(
                f"A rate is above 0 and at most {MAX_RATE:,.0f} events a second, not {self.rate}. "
                "Leave it out for as fast as possible."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill(_Ranged):
    """Land missing events in the raw zone, from `<flow>.events` or from files."""

    name = "backfill"

    files: tuple[str, ...] = option(
        (),
        "Parquet or JSON lines, by a path that the pipeline can read; patterns are fine.",
        "--file",
        "-f",
        metavar="PATH",
        limits=_LISTED,
    )
    key_from: str = option(
        "", "Where files have the key: a column, or a JSON path.", limits={"max_length": 1_000}
    )
    time_from: str = option(
        "",
        "Where files have the time: a column, or a JSON path. Without it, the time of landing.",
        limits={"max_length": 1_000},
    )

    def _check(self) -> None:
        _Timed._check(self)  # slots leave super() without its class
        if self.files and (self.offsets or self.since is not None or self.until is not None):
            raise InvalidArgumentError(
                "A backfill takes files, or a range of the topic, not both at once."
            )
        if (self.key_from or self.time_from) and not self.files:
            raise InvalidArgumentError("The source of key and time can only be given for files.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrive(_Spec):
    """Send dead letters through `<flow>.events` again: those that match all filters."""

    name = "redrive"

    letters: tuple[Coordinate, ...] = option(
        (),
        "A dead letter by its offset in FLOW.dlq.",
        "--letter",
        "-l",
        metavar="P:OFFSET",
        example="2:41",
        limits=_LISTED,
    )
    reason: str = option(
        "",
        "All with a reason, such as invalid, overflow or dead-lettered.",
        example="invalid",
        limits={"max_length": 500},
    )
    message: str = option(
        "",
        "All with a message, as `holdfast dlq groups` prints it: … stands for a number or a quoted "
        "text.",
        example="The field … is missing.",
        limits={"max_length": 3_000},
    )
    keys: tuple[bytes, ...] = _keys_option()
    everything: bool = option(False, "All dead letters.", "--all")
    value: bytes | None = option(
        None, "Another value for the one letter that is given.", limits={"max_length": 512 * 1024}
    )
    again: bool = option(False, "Also letters that were redriven before.")

    def _check(self) -> None:
        chosen = bool(self.letters or self.reason or self.message or self.keys)
        if chosen == self.everything:
            raise InvalidArgumentError(
                "Choose dead letters by their positions, a reason, a message or keys, or choose "
                "all of them."
            )
        if self.value is not None and len(self.letters) != 1:
            raise InvalidArgumentError("An edited value goes with exactly one letter.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify(_Timed):
    """Account for every event. Continues after the last verified events, unless it is limited."""

    name = "verify"

    full: bool = option(False, "Start at the first event, whatever was verified before.")
    without_raw_zone: bool = option(False, "Do not check the raw zone.", "--no-raw-zone/--raw-zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality(_Spec):
    """Run the checks that the flow declares over the raw zone, and keep the report."""

    name = "quality"

    days: int | None = option(
        None,
        "Check only the events of this number of days.",
        limits={"ge": 1, "le": MAX_DAYS},
    )

    def _check(self) -> None:
        if self.days is not None and not 1 <= self.days <= MAX_DAYS:
            raise InvalidArgumentError(f"'days' is a number from 1 to {MAX_DAYS:,}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh(_Spec):
    """Move newly landed events into the flow's silver table, and from there into gold."""

    name = "refresh"

    rebuild: bool = option(
        False, "Build the tables again from the raw zone, after a change of schema or event id."
    )


RunSpec = Replay | Backfill | Redrive | Verify | Quality | Refresh
KINDS: dict[str, type[RunSpec]] = {
    kind.name: kind for kind in (Replay, Backfill, Redrive, Verify, Quality, Refresh)
}


def parse_json_filter(text: str) -> tuple[str, str]:
    """
    >>> parse_json_filter("$.status=failed")
    ('$.status', 'failed')
    """
    path, separator, value = text.partition("=")
    if not separator:
        raise InvalidArgumentError(f"{text!r} must be written as PATH=TEXT, as in $.status=failed.")
    return path, value


def _keys_to_json(name: str, keys: tuple[bytes, ...]) -> dict[str, Any]:
    """Keys that are text as `keys`, the others as `keys_base64`."""
    pairs = [key_to_json(key) for key in keys]
    return {
        name: [pair["key"] for pair in pairs if "key" in pair] or None,
        f"{name}_base64": [p["key_base64"] for p in pairs if "key_base64" in p] or None,
    }


def _keys_in(document: Document, name: str) -> tuple[bytes, ...]:
    texts = [key_bytes(text) for text in document.texts(name)]
    return (*texts, *map(key_from_base64, document.texts(f"{name}_base64")))


def _value_to_json(name: str, value: bytes | None) -> dict[str, Any]:
    return {f"{name}_base64": None if value is None else base64.b64encode(value).decode()}


def _value_in(document: Document, name: str) -> bytes | None:
    text = document.optional_text(f"{name}_base64")
    try:
        return None if text is None else base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidArgumentError("The edited value is not base64.") from None


def _listed(parse: Callable[[str], Any], write: Callable[[Any], str] = str) -> Form:
    return Form(
        lambda document, name: tuple(map(parse, document.texts(name))),
        lambda name, values: {name: list(map(write, values)) or None},
    )


_FORMS: dict[Any, Form] = {
    **FORMS,
    Milliseconds: FORMS[int | None],
    tuple[OffsetRange, ...]: _listed(OffsetRange.parse),
    tuple[Coordinate, ...]: _listed(Coordinate.parse),
    tuple[tuple[str, str], ...]: _listed(parse_json_filter, "=".join),
    tuple[bytes, ...]: Form(_keys_in, _keys_to_json),
    bytes | None: Form(_value_in, _value_to_json),
}
