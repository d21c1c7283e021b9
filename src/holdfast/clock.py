"""The wall clock of this machine, in milliseconds since 1970; times and durations as text."""

import re
from datetime import UTC, datetime, timedelta
from time import time_ns

from holdfast.errors import InvalidArgumentError

_LAST_SECOND = 253_402_300_799
"""The end of the year 9999, the last that Python can format."""
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def now_ms() -> int:
    """The wall clock, which can be wrong and can jump. Time spans need `time.monotonic`."""
    return time_ns() // 1_000_000


def from_ms(ms: int) -> datetime:
    """Milliseconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def utc_text(ms: int) -> str:
    """A time for people, such as `2026-11-16 18:30:00 UTC`."""
    seconds = max(0, min(ms // 1000, _LAST_SECOND))  # a broken clock can show any number
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def parse_duration(text: str) -> timedelta:
    """Returns the duration that people write as 90s, 10m, 2h or 7d.

    >>> parse_duration("1.5h")
    datetime.timedelta(seconds=5400)
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd])", text)
    try:
        if match is not None:
            return timedelta(seconds=float(match[1]) * _UNITS[match[2]])
    except OverflowError:
        pass
    raise InvalidArgumentError(f"{text!r} is not a duration: write 90s, 10m, 2h or 7d.")


def duration_text(ms: float) -> str:
    """A duration for people, by its two largest units.

    >>> duration_text(800), duration_text(29_000), duration_text(7_800_000)
    ('0.8s', '29s', '2h 10m')
    """
    seconds = max(0.0, ms / 1000)
    if seconds < 10:
        return f"{seconds:.1f}s"
    units = list(_UNITS.items())
    at = next(at for at, (_, length) in enumerate(units) if seconds >= length)
    (unit, length), *below = units[at:]
    first, rest = divmod(int(seconds), length)
    if unit in "ms" or not rest // below[0][1]:
        return f"{first}{unit}"
    return f"{first}{unit} {rest // below[0][1]}{below[0][0]}"
