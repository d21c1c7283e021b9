"""The pipeline and the worker as processes that are killed, stopped and started again.

Whoever starts them must live as long as they do (`DIES_WITH_PARENT`): the trial's own thread.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
from tests.brokers import DIES_WITH_PARENT

from holdfast.pipeline.spark.session import WORKER_DAEMON

REQUEST_TIMEOUT_S = 5.0
"""Timeout of clients: shorter than some faults, so that clients meet them."""


class Process:
    """A process, all that it has started, and what it says, in a file."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._log = log
        with log.open("ab") as file:
            self._begin = file.tell()
            self._process = subprocess.Popen(
                [*DIES_WITH_PARENT, sys.executable, *command],
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
            )
        self._known: list[psutil.Process] = []
        self._stopped: list[psutil.Process] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative if a signal has ended it."""
        return self._process.poll()

    def said(self) -> str:
        with self._log.open("rb") as file:
            file.seek(self._begin)
            return file.read().decode(errors="replace")

    def kill(self) -> None:
        """kill -9 of this process alone; what it has started may outlive it for a while."""
        self._family()
        self._process.kill()
        self._process.wait()

    def terminate(self, timeout: float) -> int:
        """SIGTERM, and wait. -> exit code"""
        self._family()
        self._process.terminate()
        return self._process.wait(timeout)

    def stop(self, *, whole: bool) -> None:
        """SIGSTOP, of this process or of all that it has started, too."""
        self._stopped = self._family() if whole else [psutil.Process(self.pid)]
        for process in self._stopped:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT. Nothing happens if it was not stopped."""
        for process in reversed(self._stopped):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)
        self._stopped = []

    def kill_descendant(self, position: float, meant: Callable[[Sequence[str]], bool]) -> str:
        """kill -9 of one of those that it has started whose command is meant, the one at that share
        of their list. Returns which; empty if there is none."""
        found = [p for p in self._family()[1:] if meant(_command(p))]
        if not found:
            return ""
        chosen = found[int(position * len(found))]
        with suppress(psutil.NoSuchProcess):
            chosen.kill()
        return f"{chosen.pid}, one of {len(found)}"

    def end(self) -> None:
        """kill -9 of everyone."""
        self.go_on()
        everyone = self._family()
        for process in [*everyone, *self._known]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()
        psutil.wait_procs(everyone[1:], 20)

    def _family(self) -> list[psutil.Process]:
        """This process and its descendants; they are remembered, for orphans cannot be found."""
        try:
            itself = psutil.Process(self.pid)
            family = [itself, *itself.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []
        self._known = list({*self._known, *family})
        return family


def _command(process: psutil.Process) -> Sequence[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return ()


def is_spark(command: Sequence[str]) -> bool:
    """Returns True for the command of Spark's JVM."""
    return Path(next(iter(command), "")).name == "java" and any(
        word.startswith("org.apache.spark.") for word in command
    )


def is_task_worker(command: Sequence[str]) -> bool:
    """Returns True for the command of a Python worker of Spark. The JVM's command names the same
    module among its settings."""
    return "-m" in command and command[list(command).index("-m") + 1 :][:1] == [WORKER_DAEMON]


class Pipeline(Process):
    """`holdfast pipeline` with gate and raw zone, as people start it."""

    def __init__(
        self, bootstrap: str, folder: Path, number: int, environment: Mapping[str, str]
    ) -> None:
        self.number = number
        self._ran = False
        # The folder for scratch is another for each, as on another machine; the lake is one.
        super().__init__(
            [
                "-m", "holdfast.cli", "pipeline", "--kafka", bootstrap,
                "--data-dir", str(folder / f"pipeline-{number}"), "--lake", str(folder / "lake"),
                "--spark-master", "local[2]",
            ],
            folder / f"pipeline-{number}.log",
            {
                **environment,
                "HOLDFAST_CLIENT_REQUEST_TIMEOUT": str(REQUEST_TIMEOUT_S),
                "HOLDFAST_PIPELINE_RAW_ZONE_SECONDS": "3",
            },
        )  # fmt: skip

    @property
    def runs(self) -> bool:
        """Returns True if it has reported so."""
        self._ran = self._ran or "Pipeline running on " in self.said()
        return self._ran

    def kill_spark(self) -> str:
        return self.kill_descendant(0.0, is_spark)

    def kill_task(self, position: float) -> str:
        """One of the workers that run tasks; the process that makes them is one of them."""
        return self.kill_descendant(position, is_task_worker)


class Worker(Process):
    """A `StreamProcessor` downstream: see `worker`."""

    def __init__(self, bootstrap: str, topic: str, folder: Path, number: int) -> None:
        super().__init__(
            [
                "-m", "tests.chaos.system.worker", bootstrap, topic, str(folder / "worker.txt"),
                str(number),
            ],
            folder / "worker.log",
        )  # fmt: skip
