"""Each outcome of a command is said in one sentence."""

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.cli.many_keys import report
from holdfast.cli.outcomes import sentence
from holdfast.cli.output import Output
from holdfast.flows.journal import Outcome


def effect(outcome: Outcome) -> Any:
    return SimpleNamespace(outcome=outcome, partition=4, cut=235, remaining=(), cuts={})


def receipt(name: str = "hold", key: bytes = b"customer-042") -> Any:
    command = SimpleNamespace(name=name, key=key, id="1")
    return SimpleNamespace(command=command, command_id="1", offset=7)


def test_a_hold_says_from_which_event_on() -> None:
    said = sentence(receipt(), effect(Outcome.HELD))
    assert said == "customer-042 is held from event 4:235 on."


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("name", ["hold", "release", "dead-letter"])
def test_every_outcome_is_a_whole_sentence(name: str, outcome: Outcome) -> None:
    said = sentence(receipt(name, b" a\xff"), effect(outcome))
    assert said.endswith(".")
    assert "{" not in said


def test_people_get_the_sentence_and_scripts_the_fields(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flow: Any = SimpleNamespace(effects=lambda receipts, wait: [effect(Outcome.HELD)])
    report(flow, [receipt()], 10, Output.TABLE)
    assert capsys.readouterr().out == "customer-042 is held from event 4:235 on.\n"
    report(flow, [receipt()], 10, Output.RAW)
    assert "cut\t235" in capsys.readouterr().out
