"""Lists for people fit a terminal of 80 columns."""

import json
import sys

import pytest

from holdfast.cli import held, watching
from holdfast.cli.output import Output, show
from holdfast.clock import now_ms
from holdfast.flows.holds import StandingHold
from holdfast.flows.status import Entry, KeyState, KeyStatus

HOUR = 3_600_000


def status(key: bytes) -> KeyStatus:
    now = now_ms()
    holds = (
        StandingHold("1", 1, "ana", "payment disputed by the customer's bank, see ticket 4711",
                     now + 2 * HOUR + 30_000, "fraud-team"),
        StandingHold("2", 2, "ben", "fraud", None, "support"),
    )  # fmt: skip
    entry = Entry(key, KeyState.HELD, "", "ana", now - HOUR, 0, 0, -1, events=12_345, bytes=9)
    return KeyStatus.of(key, {0: entry.with_holds(holds)})


class FakeFlow:
    """A flow with two held keys, of which one has a long name."""

    name = "orders"
    is_guard = False

    def held(self) -> list[KeyStatus]:
        return [status(b"customer-7"), status(b"tenant-12/" + b"long" * 30)]

    def describe(self) -> "FakeFlow":
        return self


def printed(capsys: pytest.CaptureFixture[str], output: Output) -> str:
    held._show_keys(FakeFlow(), None, output)  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_held_keys_fit_80_columns_with_one_line_a_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line for line in printed(capsys, Output.TABLE).splitlines() if line.strip()]
    assert len(lines) == 2 + 2  # heads, a rule, two keys
    assert max(map(len, lines)) <= 80
    assert "customer-7" in lines[2]
    assert "1h ago" in lines[2]
    assert "never" in lines[2]


def test_wide_table_has_whole_texts_and_times(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert "see ticket 4711" in printed(capsys, Output.WIDE)
    assert "+00:00" in printed(capsys, Output.WIDE)


def test_short_rows_are_for_people_only(capsys: pytest.CaptureFixture[str]) -> None:
    rows, short = [{"flow": "orders", "created": "2026"}], [{"flow": "orders"}]
    show(rows, Output.RAW, short=short)
    assert capsys.readouterr().out == "orders\t2026\n"
    show(rows, Output.JSON, short=short)
    assert json.loads(capsys.readouterr().out) == rows


def test_watch_prints_again_in_a_pipe_only_if_the_list_has_changed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = iter(["a", "a", "b"])

    def end_after_three(seconds: float) -> None:
        if not turns:
            raise KeyboardInterrupt
        turns.pop()

    turns = [1, 2]
    monkeypatch.setattr(watching, "sleep", end_after_three)
    with pytest.raises(KeyboardInterrupt):
        watching.repeat(True, lambda: print(next(lists)))
    assert capsys.readouterr().out == "a\nb\n"
    assert not sys.stdout.isatty()


def test_each_row_for_scripts_is_one_line_whatever_a_key_or_an_error_contains(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(
        [{"key": "a\tb", "error": "refused\r\nTraceback"}, {"key": "c", "error": None}], Output.RAW
    )
    assert capsys.readouterr().out.splitlines() == ["a\\tb\trefused\\r\\nTraceback", "c\t-"]
