"""Clocks that jump: a process sees the jump at once, and waits as long as it meant to."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.chaos.system.clock import Clock, build_library

LOOK = """
import sys, threading, time
while (line := sys.stdin.readline()):
    began = time.monotonic()
    threading.Event().wait(0.05)
    time.sleep(0.05)
    print(time.time(), time.monotonic() - began, flush=True)
"""


def test_changed_clock_is_seen_at_once_and_waits_keep_their_length(tmp_path: Path) -> None:
    library = build_library(tmp_path)
    if library is None:
        pytest.skip("there is no C compiler to build the clock with")
    clock = Clock(library, tmp_path / "clock")
    process = subprocess.Popen(
        [sys.executable, "-c", LOOK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **clock.environment},
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for ahead in (0.0, 3600.0, -3600.0, 0.0):
            clock.set(ahead)
            process.stdin.write("look\n")
            process.stdin.flush()
            shown, waited = map(float, process.stdout.readline().split())
            # Far less than an hour, however busy the machine is.
            assert abs(shown - ahead - time.time()) < 600
            assert 0.1 <= waited < 600
        process.stdin.close()
