"""Gates as processes that are killed, stopped and started again."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from tests.brokers import DIES_WITH_PARENT
from tests.integration.pipeline.world import World, eventually

from holdfast.pipeline.faults import VARIABLE

START_S = 90.0


class GateProcess:
    """`gate_process` for a flow. With `fault`, it stays at that point until the fault's file is
    gone: see `holdfast.pipeline.faults`."""

    def __init__(self, world: World, folder: Path, fault: str = "", most: int = 5_000) -> None:
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._fault = folder / "fault"
        self._out = (folder / "out").open("wb")
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if fault:
            env[VARIABLE] = f"{fault}={self._fault}"
        self._process = subprocess.Popen(
            [*DIES_WITH_PARENT, sys.executable, "-m", "tests.integration.pipeline.gate_process",
             world.kafka.bootstrap, world.flow.name, str(most)],
            stdout=self._out, stderr=subprocess.STDOUT, env=env,
        )  # fmt: skip

    def wait_until_running(self) -> Self:
        self._wait(lambda: "running" in self.text(), "the gate running")
        return self

    def wait_at_fault(self) -> Self:
        self._wait(self._fault.exists, "the fault's point")
        return self

    def leave_fault(self) -> None:
        self._fault.unlink()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def exit_code(self, timeout: float = START_S) -> int:
        return self._process.wait(timeout)

    def text(self) -> str:
        return (self._folder / "out").read_text(errors="replace")

    def _wait(self, condition: object, what: str) -> None:
        def holds() -> object:
            assert self._process.poll() is None, f"ended before {what}:\n{self.text()[-4000:]}"
            return condition()  # type: ignore[operator]

        eventually(holds, what, START_S)


@contextmanager
def gates() -> Iterator[list[GateProcess]]:
    """A list for processes, which are killed in the end."""
    started: list[GateProcess] = []
    try:
        yield started
    finally:
        for process in started:
            process.kill()
