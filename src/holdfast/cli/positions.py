"""Positions in a topic, and durations."""

from contextlib import suppress
from datetime import datetime, timedelta

import typer

from holdfast import clock
from holdfast.client.positions import Where
from holdfast.errors import InvalidArgumentError

POSITIONS = (
    "start, end, an offset, -N (the last N records of each partition), a time (2026-01-31T12:00), "
    "or a duration ago (90s, 10m, 2h, 7d)"
)
_OTHER_WORDS = {"beginning": "start", "earliest": "start", "latest": "end"}
"""Words of other tools."""


def parse_position(text: str, option: str) -> Where:
    """An offset, records from the end, a time, a duration ago, or an end.

    >>> parse_position("42", "--from"), parse_position("10m", "--from")
    (42, datetime.timedelta(seconds=600))
    """
    match _OTHER_WORDS.get(text, text):
        case "start":
            return "start"
        case "end":
            return "end"
    if text.isascii() and text.removeprefix("-").isdigit() and text != "-0":
        return int(text)
    with suppress(InvalidArgumentError):
        return clock.parse_duration(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a position: give {POSITIONS}", param_hint=option
        ) from None


def parse_duration(text: str, option: str) -> timedelta:
    """A duration such as 90s, 10m, 2h or 7d; a bare number is seconds."""
    try:
        return clock.parse_duration(f"{text}s" if text[-1:].isdigit() else text)
    except InvalidArgumentError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
