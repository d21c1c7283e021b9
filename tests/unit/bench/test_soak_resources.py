"""The resources of a process, as a soak measures them."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from bench.soak.resources import ProcessGoneError, Watched, disk_figures


def test_memory_handles_and_threads_of_a_process_are_counted(tmp_path: Path) -> None:
    watched = Watched("me", [psutil.Process()])
    before = watched.figures()
    files = [(tmp_path / str(n)).open("w") for n in range(20)]
    after = watched.figures()
    for file in files:
        file.close()
    assert after["me.handles"] - before["me.handles"] == 20
    assert after["me.memory_mb"] > 1
    assert after["me.threads"] >= 1
    assert "me.cpu_percent" not in before
    assert after["me.cpu_percent"] >= 0


def test_ended_process_is_reported() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        watched = Watched("child", [psutil.Process(child.pid)])
        watched.figures()
        child.kill()
        child.wait()
        with pytest.raises(ProcessGoneError, match="child"):
            watched.figures()


def test_disk_usage_counts_written_blocks_not_file_lengths(tmp_path: Path) -> None:
    folder = tmp_path / "broker" / "topic-0"
    folder.mkdir(parents=True)
    (folder / "written").write_bytes(os.urandom(1 << 20))
    os.truncate(folder / "written", 1 << 30)
    taken = disk_figures([tmp_path / "broker", tmp_path / "nowhere"])
    assert 1 <= taken["broker.disk_mb"] < 2
    assert taken["nowhere.disk_mb"] == 0
