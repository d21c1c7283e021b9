"""`holdfast up` as a process for tests."""

import re
import subprocess
import sys
from pathlib import Path

import psutil
from tests.brokers import DIES_WITH_PARENT, free_ports
from tests.clients import wait_until

UP_WITHIN_S = 400.0
"""A deadline, not a measure: two starts of Spark beside whatever else runs."""


class Up:
    """One `holdfast up`, and what it has said so far."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self._log = folder / "up.log"
        names = ("--broker-port", "--metrics-port", "--web-port")
        ports = [f"{name}={port}" for name, port in zip(names, free_ports(3), strict=True)]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_PARENT, sys.executable, "-m", "holdfast.cli", "up", *ports, *flags],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
            )

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def wait_for(self, pattern: str, times: int = 1) -> None:
        def there() -> bool:
            assert self.process.poll() is None, self.said()
            return len(re.findall(pattern, self.said(), re.MULTILINE)) >= times

        try:
            wait_until(there, f"{times} x {pattern!r}", UP_WITHIN_S)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.said()}") from None

    def child(self, name: str) -> psutil.Process:
        """The process that runs a command of ours."""
        children = psutil.Process(self.process.pid).children()
        (found,) = [c for c in children if name in c.cmdline()[:4]]
        return found

    def stop(self) -> None:
        """End it, if it has not ended yet."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def kill(self) -> None:
        """Kills it and all its children."""
        if self.process.poll() is not None:
            return
        try:
            parent = psutil.Process(self.process.pid)
            everyone = [parent, *parent.children(recursive=True)]
        except psutil.NoSuchProcess:  # it has ended since: the test's own error is to be seen
            return
        for process in everyone:  # the parent first, so that it restarts no child
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.process.wait(30)
        psutil.wait_procs(everyone[1:], 30)
