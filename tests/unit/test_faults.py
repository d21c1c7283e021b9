"""Fault points: where a test stops a process."""

import os
import subprocess
import sys
from pathlib import Path

from tests.clients import wait_until

from holdfast.faults import VARIABLE

PROGRAM = """
from holdfast import faults
for _ in range(3):
    faults.reach("here")
    print("passed", flush=True)
faults.name_points("task-")
faults.reach("here")
"""


def test_the_process_waits_at_the_nth_passing_of_the_point_until_released(
    tmp_path: Path,
) -> None:
    file = tmp_path / "fault"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, VARIABLE: f"here@2={file}"},
        stdout=subprocess.PIPE,
    )
    wait_until(lambda: file.exists() and file.read_text() == str(process.pid), "the point")
    assert process.poll() is None
    file.write_bytes(b"")
    out, _ = process.communicate(timeout=30)
    assert out.split() == [b"passed"] * 3
    assert process.returncode == 0


def test_a_later_process_passes_a_released_point(tmp_path: Path) -> None:
    file = tmp_path / "fault"
    file.touch()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, VARIABLE: f"here@2={file}"},
        stdout=subprocess.PIPE, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [b"passed"] * 3


def test_a_second_process_at_the_point_does_not_release_the_first(tmp_path: Path) -> None:
    """An empty file releases; so the second must replace the file, not empty and fill it."""
    file = tmp_path / "fault"
    file.write_text("1")
    with file.open() as of_the_first:
        second = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, VARIABLE: f"here@1={file}"},
            stdout=subprocess.DEVNULL,
        )
        wait_until(lambda: file.read_text() == str(second.pid), "the second at the point")
        assert of_the_first.read() == "1"
    file.write_bytes(b"")
    assert second.wait(30) == 0
