"""The units of systemd, as systemd reads them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli import main
from holdfast.cli.service import Part, unit


@pytest.fixture
def units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "systemd" / "user"


def test_units_are_written_shown_and_removed(
    units: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["service", "install"]) == 0
    assert "enable --now holdfast-up.service" in capsys.readouterr().err
    assert main(["service", "show"]) == 0
    assert capsys.readouterr().out == (units / "holdfast-up.service").read_text()
    assert main(["service", "install", "broker", "web"]) == 0
    assert len(list(units.iterdir())) == 3
    assert main(["service", "uninstall"]) == 0
    assert list(units.iterdir()) == []
    assert main(["service", "uninstall"]) == 1


def test_a_unit_runs_this_python_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/opt/a $java")
    lines = unit(Part.PIPELINE, tmp_path / "50%").splitlines()
    assert f'ExecStart="{sys.executable}" "-m" "holdfast" "pipeline"' in lines
    assert f"WorkingDirectory={tmp_path}/50%%" in lines
    assert 'Environment="JAVA_HOME=/opt/a $java"' in lines
    assert "After=holdfast-broker.service" in lines


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_finds_nothing_wrong_with_the_units(units: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a folder, 50%"
    folder.mkdir()
    assert main(["service", "install", *Part, "--folder", str(folder)]) == 0
    files = sorted(map(str, units.iterdir()))
    assert len(files) == len(Part)
    verified = subprocess.run(
        ["systemd-analyze", "--user", "verify", *files],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (verified.returncode, verified.stderr) == (0, "")
