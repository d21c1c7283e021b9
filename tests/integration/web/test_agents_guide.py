"""The commands of the guide to agents work as they stand there."""

import json
import re
import socket
from pathlib import Path

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import run_in_shell
from tests.integration.web.instances import Instance

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "agents.md"
_WAIT = "curl -s -o /dev/null --retry 60 --retry-delay 1 --retry-connrefused {url}"


def commands() -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_commands_work_in_the_order_of_the_guide(
    guarded: Instance, guarded_broker: EmbeddedBroker, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    port = free_port()
    lines = []
    for line in commands():
        lines += (
            [line, _WAIT.format(url=f"http://127.0.0.1:{port}/")] if line.endswith("&") else [line]
        )
    script = "\n".join(["trap 'kill $(jobs -p)' EXIT", *lines])
    script = script.replace("https://holdfast.example.com", str(guarded.base_url).rstrip("/"))
    script = script.replace("localhost:9092", guarded_broker.bootstrap).replace("8610", str(port))
    ran = run_in_shell(guarded_broker, script)
    assert ran.returncode == 0, ran.stderr
    answers = [
        json.loads(line) for line in re.findall(r"\{\"jsonrpc.*?\}(?=\n|$|\{\"jsonrpc)", ran.stdout)
    ]
    assert "explain_key" in {tool["name"] for tool in answers[0]["result"]["tools"]}
    assert answers[-1]["result"]["structuredContent"]["name"] == "night-agent"
