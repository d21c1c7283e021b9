"""The commands of the README work as written."""

import re
from pathlib import Path

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import run_in_shell

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)


def test_first_steps_work_in_order(
    embedded_broker: EmbeddedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    (shell,) = [block for block in blocks("") if block.startswith("holdfast topic create")]
    ran = run_in_shell(embedded_broker, shell)
    assert ran.returncode == 0, ran.stderr
    assert '1:0 customer-7 {"id":1}' in ran.stdout
    (python,) = blocks("python")
    address = "localhost:9092"
    assert address in python
    exec(python.replace(address, embedded_broker.bootstrap), {})
    assert capsys.readouterr().out.count("customer-7") == 2


def test_every_make_target_that_documents_name_exists() -> None:
    makefile = (README.parent / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md", "DESIGN.md"):
        named = re.findall(r"`make ([a-z]+)", (README.parent / document).read_text())
        assert set(named) <= targets, document
