"""Checks of quality, as a flow declares them: one line of text each.

| line | promise |
|---|---|
| `required order.id` | the field is there, and not null |
| `range total 0..10000` | a number within these bounds; either may be left out |
| `unique order status` | no two events have the same values in these fields |
| `fresh 10m` | the newest event is not older |
| `volume 50..200 7` | the last day has 50 to 200 % of the mean of the seven days before it |

Fields are named by their path in the JSON value, with dots between.
"""

import math
import re
from dataclasses import dataclass

from holdfast.errors import InvalidArgumentError

MAX_CHECKS = 100
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*")
_DURATION = re.compile(r"(\d+)([smhd])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_MOST_DAYS = 365


@dataclass(frozen=True, slots=True)
class Required:
    """The field is there in every event."""

    field: str


@dataclass(frozen=True, slots=True)
class Range:
    """The field is a number within bounds, where it is there."""

    field: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Unique:
    """No two events agree in all of these fields."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fresh:
    """The newest event is at most so old."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Volume:
    """The last 24 hours have so many per cent of the mean of the days before them."""

    low: float
    high: float
    days: int


Check = Required | Range | Unique | Fresh | Volume


def parse_check(text: str) -> Check:
    """What a line promises.

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
        f"{text!r} is no check: write 'required FIELD', 'range FIELD LOW..HIGH', "
        "'unique FIELD ...', 'fresh 10m' or 'volume LOW..HIGH DAYS'."
    )


def check_field(name: str) -> str:
    """The name itself, if it can be a field's path."""
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
        raise InvalidArgumentError(f"{words!r} in {text!r} is no range: write LOW..HIGH.")
    return bounds


def _seconds(word: str, text: str) -> int:
    match = _DURATION.fullmatch(word)
    if match is None or int(match[1]) == 0:
        raise InvalidArgumentError(
            f"{word!r} in {text!r} is no duration: write 90s, 10m, 2h or 7d."
        )
    return int(match[1]) * _UNITS[match[2]]
