"""The commands of the guide to installing work as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.jars import SPARK, VARIABLE, jar_folder, listed

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "install.md"


def commands(words: str) -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if words in block]
    return [line.removeprefix("$ ") for line in block.splitlines()]


def run(command: str, folder: Path, **variables: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path, **variables},
        check=True, timeout=120,
    )  # fmt: skip


def test_jars_are_fetched_by_each_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    present = str(jar_folder(SPARK))
    for number, command in enumerate(commands("holdfast jars")):
        folder = tmp_path / str(number)
        for source in ("https://maven.example.com/central", "/media/usb/jars"):
            command = command.replace(source, present)
        run(command, tmp_path, **{VARIABLE: str(folder), "HOLDFAST_JARS_REPOSITORY": present})
        assert {p.name for p in (folder / SPARK).glob("*.jar")} == {jar.name for jar in listed()}


def test_units_are_written_and_removed(tmp_path: Path) -> None:
    for command in commands("holdfast service"):
        run(command, tmp_path, XDG_CONFIG_HOME=str(tmp_path))
    assert list((tmp_path / "systemd" / "user").iterdir()) == []
