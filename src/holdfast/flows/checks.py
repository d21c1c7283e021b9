"""Checks of quality, as a flow declares them: one line of text each.

| line | promise |
|---|---|
| `required order.id` | the field exists and is not null |
| `range total 0..10000` | a number within these bounds; either may be left out |
| `unique order status` | no two events have the same values in these fields |
| `fresh 10m` | the newest event is not older |
| `volume 50..200 7` | the last day has 50 to 200 % of the mean of the seven days before it |

Fields are named by their path in the JSON value, with dots between.
"""

import math
import re
from dataclasses import dataclass

from holdfast.clock import parse_duration
from holdfast.errors import InvalidArgumentError

MAX_CHECKS = 100
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*")
_MOST_DAYS = 365


@dataclass(frozen=True, slots=True)
class Required:
    """The field exists in every event."""

    field: str


@dataclass(frozen=True, slots=True)
class Range:
    """The field, where it exists, is a number within bounds."""

    field: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Unique:
    """No two events have the same values in all of these fields."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fresh:
    """The newest event is at most this old."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Volume:
    """The last 24 hours have a percentage within bounds of the mean of the days before."""

    low: float
    high: float
    days: int


Check = Required | Range | Unique | Fresh | Volume


def parse_check(text: str) -> Check:
    """The check in a line.

    >>> parse_check("range total 0..")
    Range(field='total', low=0.0, high=inf)
    """
    kind, *words = text.split() or [""]
    match kind, words:
        case "required", [name]:
            return Required(_field(name, text))
        case "range", [name, bounds]:
            return Range(_field(name, text), *_bounds(bounds, text))
        case "unique", [_, *_]:
            return Unique(tuple(_field(name, text) for name in words))
        case "fresh", [duration]:
            return Fresh(_seconds(duration, text))
        case "volume", [bounds]:
            return Volume(*_bounds(bounds, text), days=7)
        case "volume", [bounds, days] if days.isdigit() and 1 <= int(days) <= _MOST_DAYS:
            return Volume(*_bounds(bounds, text), days=int(days))
    raise InvalidArgumentError(
        f"{text!r} is not a check: write 'required FIELD', 'range FIELD LOW..HIGH', "
        "'unique FIELD ...', 'fresh 10m' or 'volume LOW..HIGH DAYS'."
    )


def check_field(name: str) -> str:
    """Returns the name if it is the path of a field."""
    return _field(name, name)


def _field(name: str, text: str) -> str:
    if not _FIELD.fullmatch(name):
        raise InvalidArgumentError(
            f"{name!r} in {text!r} names no field: write its path with dots, as in order.total."
        )
    return name


def _bounds(words: str, text: str) -> tuple[float, float]:
    low, dots, high = words.partition("..")
    try:
        bounds = float(low or "-inf"), float(high or "inf")
    except ValueError:
        dots = ""
    if not dots or math.isnan(bounds[0]) or math.isnan(bounds[1]) or bounds[0] > bounds[1]:
        raise InvalidArgumentError(f"{words!r} in {text!r} is not a range: write LOW..HIGH.")
    return bounds


def _seconds(word: str, text: str) -> int:
    seconds = int(parse_duration(word).total_seconds())
    if seconds < 1:
        raise InvalidArgumentError(f"{word!r} in {text!r} is not a positive duration.")
    return seconds
