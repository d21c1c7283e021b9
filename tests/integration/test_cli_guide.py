"""The commands of the guide to the command line work as they stand there."""

import re
from pathlib import Path

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import run_in_shell

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "cli.md"


def commands() -> list[str]:
    """The lines that are typed, but for the one that starts a broker."""
    blocks = re.findall(r"^```console\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [line for line in lines if not line.startswith("holdfast broker")]


def test_commands_work_in_the_order_of_the_guide(
    embedded_broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order.json").write_text('{"id":3}')
    # The broker of all tests has flows and topics of other guides.
    script = "\n".join(commands()).replace("| jq .value", "")
    script = re.sub(r"\b(orders|payments|billing)\b", r"guide-\1", script)
    ran = run_in_shell(embedded_broker, f"holdfast topic create guide-payments\n{script}")
    assert ran.returncode == 0, ran.stderr
    assert '"payload":"paid"' in ran.stdout
    assert "guide-orders [0] offset " in ran.stdout
