"""A process that is measured."""

import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.brokers import DIES_WITH_PARENT

STOP_DEADLINE_S = 60.0


class ChildFailedError(Exception):
    """A process did not come up, or ended by itself. Carries the end of its log."""


class Child:
    """Runs from `start` to `stop`, and never longer than the process that started it."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        listens: bool = False,
    ) -> None:
        """`listens`: to what is told to it, on its standard input."""
        self._command = command
        self._log = log
        self._folder = folder
        self._environment = environment
        self._input = subprocess.PIPE if listens else subprocess.DEVNULL
        self._process: subprocess.Popen[bytes] | None = None
        self._mark = 0

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    def start(self) -> Self:
        """Start, and do not wait for anything."""
        assert not self.running, "already running"
        self._mark = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*DIES_WITH_PARENT, *self._command],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=self._input,
                cwd=self._folder,
                env=self._environment,
            )
        return self

    def wait_for(self, said: str, timeout: float) -> re.Match[str]:
        """Wait until it has said something since this start that matches the pattern."""
        pattern = re.compile(said, re.MULTILINE)
        end = time.monotonic() + timeout
        while (found := pattern.search(self.said())) is None:
            self.check()
            if time.monotonic() > end:
                raise ChildFailedError(f"no {said!r} within {timeout:.0f} s{self._tail()}")
            time.sleep(0.02)
        return found

    def tell(self, line: str) -> None:
        """Say something to one that listens."""
        assert self._process is not None, "not started"
        assert self._process.stdin is not None, "does not listen"
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def check(self) -> None:
        """Raise if it has ended."""
        if not self.running:
            raise ChildFailedError(f"ended by itself{self._tail()}")

    def said(self) -> str:
        """Its output since this start."""
        return self._log.read_bytes()[self._mark :].decode(errors="replace")

    def stop(self, by: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to end and wait; kill it if it does not."""
        if self._process is None or not self.running:
            return
        self._process.send_signal(by)
        try:
            self._process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ChildFailedError(
                f"still there {STOP_DEADLINE_S:.0f} s after {by.name}{self._tail()}"
            ) from None

    def kill(self) -> None:
        """End it without a word to it. Nothing happens if it has ended already."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.stop()
        else:
            self.kill()

    def _tail(self) -> str:
        return "; its output ends:\n" + "\n".join(self.said().splitlines()[-30:])
