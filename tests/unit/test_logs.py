"""A line is a line, and a flood is bounded."""

import json
import logging

import pytest

from holdfast.logs import LINES_PER_SECOND, Bounded, JsonLine, OneLine


def record(message: str, *args: object, line: int = 1) -> logging.LogRecord:
    return logging.LogRecord("x", logging.INFO, "file.py", line, message, args, None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n2026 INFO forged", "a\\n2026 INFO forged"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("carriage\rreturn\ttab", "carriage\\rreturn\\ttab"),
        ("c1 \x9b31m", "c1 \\x9b31m"),
        ("Grüße 🎉", "Grüße 🎉"),
    ],
)
def test_client_text_cannot_forge_a_log_line(text: str, shown: str) -> None:
    assert OneLine("%(message)s").format(record("%s", text)) == shown


def test_a_traceback_keeps_its_lines() -> None:
    try:
        raise ValueError("what")
    except ValueError as error:
        failed = logging.LogRecord(
            "x", logging.ERROR, "f", 1, "failed", (), (ValueError, error, error.__traceback__)
        )
    assert OneLine("%(message)s").format(failed).count("\n") > 1


def test_a_json_line_contains_the_extra_fields() -> None:
    made = record("%s\nends", "Flow orders")
    made.flow = "orders"
    line = JsonLine().format(made)
    assert "\n" not in line
    fields = json.loads(line)
    assert fields.pop("time") == made.created
    assert fields == {
        "level": "INFO",
        "logger": "x",
        "message": "Flow orders\nends",
        "flow": "orders",
    }


def test_a_flood_from_one_log_statement_is_limited_and_counted() -> None:
    now = [100.0]
    bounded = Bounded(lambda: now[0])
    written = sum(bounded.filter(record("%s", "x", line=1)) for _ in range(1_000))
    assert written == LINES_PER_SECOND
    assert bounded.filter(record("other", line=2))
    now[0] += 1
    next_one = record("%s", "x", line=1)
    assert bounded.filter(next_one)
    assert next_one.getMessage() == f"x (and {1_000 - LINES_PER_SECOND} like this, left out)"
    again = record("%s", "x", line=1)
    assert bounded.filter(again)
    assert again.getMessage() == "x"
