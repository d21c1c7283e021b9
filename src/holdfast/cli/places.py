"""Places in a topic and durations, as people write them."""

import re
from datetime import datetime, timedelta

import typer

from holdfast.client.positions import Where

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

PLACES = "start, end, an offset, a time (2026-01-31T12:00), or a duration ago (90s, 10m, 2h, 7d)"


def parse_place(text: str, option: str) -> Where:
    """An offset, a time, a duration ago, or an end.

    >>> parse_place("42", "--from"), parse_place("10m", "--from"), parse_place("end", "--from")
    (42, datetime.timedelta(seconds=600), 'end')
    """
    if text == "start":
        return "start"
    if text == "end":
        return "end"
    if text.isascii() and text.isdigit():
        return int(text)
    duration = _duration(text)
    if duration is not None:
        return duration
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is none of: {PLACES}", param_hint=option) from None


def parse_duration(text: str, option: str) -> timedelta:
    """A duration such as 90s, 10m, 2h or 7d; a bare number is seconds."""
    duration = _duration(f"{text}s" if re.fullmatch(r"\d+(\.\d+)?", text) else text)
    if duration is None:
        raise typer.BadParameter(
            f"{text!r} is not a duration: write 90s, 10m, 2h or 7d", param_hint=option
        )
    return duration


def _duration(text: str) -> timedelta | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    return None if match is None else timedelta(seconds=float(match[1]) * _UNITS[match[2]])
