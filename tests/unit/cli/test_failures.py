"""With `-o json`, every way to fail is one JSON object on standard error."""

import json
import sys

import pytest

from holdfast.cli import main
from holdfast.cli.failures import wants_json

NOWHERE = ("-b", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (("topic", "ls", *NOWHERE), "unreachable", 4),
        (("held", "orders", *NOWHERE), "unreachable", 4),
        (("health", *NOWHERE), "unreachable", 4),
        (("status", *NOWHERE), "unreachable", 4),
        (("audit", *NOWHERE), "unreachable", 4),
        (("consume", "t", *NOWHERE), "unreachable", 4),
        (("hold", "orders"), "usage", 2),
        (("hold", "orders", "k", "--expires", "soon"), "usage", 2),
        (("topic", "lz"), "usage", 2),
        (("group", "reset", "g"), "usage", 2),
        (("toppic", "ls"), "usage", 2),
        (("dead-letter", "orders", "k", "--server", "http://127.0.0.1:1"), "unreachable", 4),
    ],
)
@pytest.mark.parametrize("form", [("-o", "json"), ("--output=json",)])
def test_error_is_json_if_the_output_is(
    arguments: tuple[str, ...], kind: str, code: int, form: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert main([*arguments, *form]) == code
    printed, said = capsys.readouterr()
    assert printed == ""
    error = json.loads(said)["error"]
    assert (error["kind"], error["exit_code"]) == (kind, code)
    assert error["message"]


def test_error_is_text_unless_json_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topic", "ls", *NOWHERE, "-o", "raw"]) == 4
    assert capsys.readouterr().err.startswith("holdfast topic: ")


def test_missing_extra_is_json_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delitem(sys.modules, "holdfast.cli.pipeline", raising=False)
    assert main(["pipeline", "-o", "json"]) in (1, 2)
    assert json.loads(capsys.readouterr().err)["error"]["message"]


def test_words_after_two_dashes_are_keys() -> None:
    assert not wants_json(["hold", "orders", "--", "-o", "json"])
