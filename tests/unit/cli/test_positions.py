"""Places, durations and formats, as people type them."""

from datetime import datetime, timedelta

import pytest
import typer
from confluent_kafka import TIMESTAMP_CREATE_TIME, Message

from holdfast.cli.positions import parse_duration, parse_position
from holdfast.cli.record_format import compile_format, unescaped
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
        ("beginning", "start"),
        ("latest", "end"),
        ("0", 0),
        ("-10", -10),
        ("12345678901", 12345678901),
        ("90s", timedelta(seconds=90)),
        ("1.5h", timedelta(hours=1.5)),
        ("7d", timedelta(days=7)),
        ("2026-01-31", datetime(2026, 1, 31)),
        ("2026-01-31T12:30+01:00", datetime.fromisoformat("2026-01-31T12:30+01:00")),
    ],
)
def test_positions_are_parsed(text: str, place: object) -> None:
    assert parse_position(text, "--from") == place


@pytest.mark.parametrize("text", ["", "-0", "--1", "-", "begin", "5x", "2026-13-01", "٣"])
def test_invalid_position_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a position"):
        parse_position(text, "--from")


def test_durations() -> None:
    assert parse_duration("90", "-e") == parse_duration("90s", "-e") == timedelta(seconds=90)
    for text in ("soon", "", "-5m", "9" * 400 + "d"):
        with pytest.raises(typer.BadParameter, match="not a duration"):
            parse_duration(text, "-e")


@pytest.mark.parametrize(
    ("template", "rendered"),
    [
        (r"%t %p %o %k %s\n", b"orders 2 41 k v\xff\n"),
        (r"%K/%S %T %h", b"1/2 1000 a=1,b=NULL"),
        ("%R", b"\0\0\0\2"),
        (r"100%%\t\x41\\", b"100%\tA\\"),
        ("plain ü", "plain ü".encode()),
        ("", b""),
    ],
)
def test_formats_render_as_in_kcat(template: str, rendered: bytes) -> None:
    assert compile_format(template)(RECORD) == rendered


def test_null_and_empty_are_distinguished() -> None:
    record = Record.of(Message("t", 0, 0, None, None))
    assert compile_format("%k %K %s %S")(record) == b"NULL -1 NULL -1"
    assert compile_format("%k%s%R", b"-")(record) == b"--\xff\xff\xff\xff"


def test_delimiters_are_typed_as_in_a_format_without_its_tokens() -> None:
    assert unescaped(r"\x00|\t%k\\") == b"\0|\t%k\\"
    with pytest.raises(ValueError, match="means nothing"):
        unescaped(r"\0")


@pytest.mark.parametrize("template", ["%x", "%", r"\q", "abc\\"])
def test_unknown_format_token_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="means nothing"):
        compile_format(template)
