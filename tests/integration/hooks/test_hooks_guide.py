"""The commands and the code of the guide to hooks work as they stand there."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.brokers import EmbeddedBroker
from tests.integration.hooks.test_deliveries import Receiver, receiver

from holdfast.cli import main
from holdfast.hooks.delivery import sign

GUIDE = (Path(__file__).parents[3] / "docs/guides/hooks.md").read_text()
__all__ = ["receiver"]  # a fixture


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_commands_work_in_the_order_of_the_guide(
    embedded_broker: EmbeddedBroker, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    [console] = blocks("console")
    [slack] = re.findall(r"^holdfast hook add .*$", GUIDE, re.MULTILINE)
    lines = [line.removeprefix("$ ") for line in console.splitlines()]
    *others, removal = lines
    for line in [*others, slack, removal, "holdfast hook rm slack"]:
        words = re.sub(r"https://\S+", receiver.url, line).split()[1:]
        assert main([*words, "-b", embedded_broker.bootstrap]) == 0, capsys.readouterr().err
    assert len(receiver.requests) == 1  # that of the test


def test_receiver_of_the_guide_accepts_genuine_requests_only() -> None:
    [code] = blocks("python")
    names: dict[str, Any] = {}
    exec(code, names)
    now = int(names["time"].time())
    signature = sign("secret", b"{}", now)
    assert names["is_genuine"]("secret", signature, b"{}")
    assert not names["is_genuine"]("other", signature, b"{}")
    assert not names["is_genuine"]("secret", signature, b"{ }")
    assert not names["is_genuine"]("secret", sign("secret", b"{}", now - 3600), b"{}")
