"""Spans of time in filters: `since` and `until`, as people write them."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from holdfast.clock import now_ms, parse_duration
from holdfast.control.filters import FilterError
from holdfast.errors import InvalidArgumentError

SPAN_FORM = "a time such as 2026-01-31T12:00Z, or a duration before now such as 2h"
PRESETS = (("15m", "15 min"), ("1h", "1 h"), ("24h", "24 h"), ("7d", "7 d"))
"""Values of `since` that pages offer, with their titles."""

_ZONE = re.compile(r"([+-])(\d\d):(\d\d)")


@dataclass(frozen=True, slots=True)
class Span:
    """Times in milliseconds since 1970; `until` is not included. None: without an end."""

    since: int | None = None
    until: int | None = None

    @classmethod
    def parse(cls, since: str | None, until: str | None, *, zone: str = "") -> "Span":
        """The span, or FilterError. `zone` (`+02:00`) is that of times that name none."""
        chosen = _zone(zone)
        span = cls(_time("since", since, chosen), _time("until", until, chosen))
        if span.since is not None and span.until is not None and span.since >= span.until:
            raise FilterError("until", "The end of the span is not after its beginning.")
        return span


ALWAYS = Span()


def _time(name: str, text: str | None, zone: tzinfo) -> int | None:
    if not text:
        return None
    try:
        return now_ms() - round(parse_duration(text).total_seconds() * 1000)
    except InvalidArgumentError:
        pass  # a time, then
    try:
        moment = datetime.fromisoformat(text)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        return max(0, round(aware.timestamp() * 1000))
    except (ValueError, OverflowError):
        raise FilterError(name, f"{text!r} is not a time: write {SPAN_FORM}.") from None


def _zone(text: str) -> tzinfo:
    match = _ZONE.fullmatch(text)
    if not match:
        if text:
            raise FilterError("zone", f"{text!r} is not a time zone: write it as in +02:00.")
        return UTC
    offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
    if offset >= timedelta(days=1):
        raise FilterError("zone", f"{text!r} is not a time zone: it is a day or more.")
    return timezone(-offset if match[1] == "-" else offset)
