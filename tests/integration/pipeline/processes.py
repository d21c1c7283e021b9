"""Gates as processes that are killed, stopped and started again."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Self

import psutil
from tests.brokers import DIES_WITH_PARENT
from tests.integration.pipeline.world import World, eventually

from holdfast.faults import VARIABLE

START_S = 300.0


class GateProcess:
    """A gate in a process, which takes batches in the driver or in tasks, with Spark or without.
    With `fault`, it stays at that point until the fault's file is gone: see
    `holdfast.faults`."""

    def __init__(
        self, world: World, folder: Path, fault: str = "", most: int = 5_000,
        path: Literal["driver", "tasks"] = "driver", spark: bool = False,
    ) -> None:  # fmt: skip
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._fault = folder / "fault"
        self._out = (folder / "out").open("wb")
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if fault:
            env[VARIABLE] = f"{fault}={self._fault}"
        module, more = "gate_process", [str(most), path]
        if spark:
            module, more = "spark_process", [str(folder), path]
        self._process = subprocess.Popen(
            [*DIES_WITH_PARENT, sys.executable, "-m", f"tests.integration.pipeline.{module}",
             world.kafka.bootstrap, world.flow.name,
             str(world.settings.request_timeout), *more],
            stdout=self._out, stderr=subprocess.STDOUT, env=env,
        )  # fmt: skip

    def wait_until_running(self) -> Self:
        self._wait(lambda: "running" in self.text(), "the gate running")
        return self

    def wait_at_fault(self, timeout: float = START_S) -> Self:
        self._wait(self._fault.exists, "the fault's point", timeout)
        return self

    def leave_fault(self) -> None:
        self._fault.write_bytes(b"")

    @property
    def pid_at_fault(self) -> int:
        """Of the process that is there: this one, or a worker of Spark's."""
        return int(self._fault.read_text())

    def kill(self) -> None:
        """This process and all that it has started."""
        for child in self.descendants():
            child.kill()
        self._process.kill()
        self._process.wait()

    def kill_all_but(self, *spared: psutil.Process) -> None:
        for process in [*self.descendants(), psutil.Process(self._process.pid)]:
            if process not in spared:
                process.kill()
        self._process.wait()

    def descendants(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self._process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def stop(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def exit_code(self, timeout: float = START_S) -> int:
        return self._process.wait(timeout)

    def peak_memory(self) -> int:
        """The most bytes of memory that it has had at a time."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def assert_running(self, when: str = "") -> None:
        assert self._process.poll() is None, f"ended{when}:\n{self.text()[-4000:]}"

    def text(self) -> str:
        return (self._folder / "out").read_text(errors="replace")

    def _wait(self, condition: Callable[[], object], what: str, timeout: float = START_S) -> None:
        def holds() -> object:
            self.assert_running(f" before {what}")
            return condition()

        eventually(holds, what, timeout)


@contextmanager
def gates() -> Iterator[list[GateProcess]]:
    """A list for processes, which are killed in the end."""
    started: list[GateProcess] = []
    try:
        yield started
    finally:
        for process in started:
            process.kill()
