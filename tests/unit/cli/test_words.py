"""Places, durations and formats, as people type them."""

from datetime import datetime, timedelta

import pytest
import typer
from confluent_kafka import TIMESTAMP_CREATE_TIME, Message

from holdfast.cli.places import parse_duration, parse_place
from holdfast.cli.record_format import compile_format
from holdfast.client.record import Record

RECORD = Record.of(
    Message("orders", 2, 41, b"k", b"v\xff", [("a", b"1"), ("b", None)],
            timestamp=(TIMESTAMP_CREATE_TIME, 1_000))
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("start", "start"),
        ("end", "end"),
        ("0", 0),
        ("12345678901", 12345678901),
        ("90s", timedelta(seconds=90)),
        ("1.5h", timedelta(hours=1.5)),
        ("7d", timedelta(days=7)),
        ("2026-01-31", datetime(2026, 1, 31)),
        ("2026-01-31T12:30+01:00", datetime.fromisoformat("2026-01-31T12:30+01:00")),
    ],
)
def test_places(text: str, place: object) -> None:
    assert parse_place(text, "--from") == place


@pytest.mark.parametrize("text", ["", "-1", "begin", "5x", "2026-13-01", "٣"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="none of"):
        parse_place(text, "--from")


def test_durations() -> None:
    assert parse_duration("90", "-e") == parse_duration("90s", "-e") == timedelta(seconds=90)
    with pytest.raises(typer.BadParameter, match="not a duration"):
        parse_duration("soon", "-e")


@pytest.mark.parametrize(
    ("template", "rendered"),
    [
        (r"%t %p %o %k %s\n", b"orders 2 41 k v\xff\n"),
        (r"%K/%S %T %h", b"1/2 1000 a=1,b=NULL"),
        (r"100%%\t\x41\\", b"100%\tA\\"),
        ("plain ü", "plain ü".encode()),
        ("", b""),
    ],
)
def test_formats_render_as_in_kcat(template: str, rendered: bytes) -> None:
    assert compile_format(template)(RECORD) == rendered


def test_a_null_is_told_from_empty() -> None:
    record = Record.of(Message("t", 0, 0, None, None))
    assert compile_format("%k %K %s %S")(record) == b"NULL -1 NULL -1"


@pytest.mark.parametrize("template", ["%x", "%", r"\q", "abc\\"])
def test_a_format_that_means_nothing_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="means nothing"):
        compile_format(template)
