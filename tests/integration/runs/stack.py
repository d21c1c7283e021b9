"""The pipeline as the process that people start: gate, raw zone and runs, killed and started."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
from tests.brokers import DIES_WITH_PARENT, BrokerProcess
from tests.clients import wait_until
from tests.conftest import unique_name
from tests.integration.runs.lake import PATIENCE_S, Flow

import holdfast
from holdfast.client.record import Record
from holdfast.faults import VARIABLE


class Stack:
    """A broker, and a pipeline with a lake of its own."""

    def __init__(self, broker: BrokerProcess, folder: Path) -> None:
        self.broker = broker
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "pipeline.log"
        self._fault = folder / "fault"

    def start(self, fault: str = "") -> None:
        """Start (again). With a fault it stays at that point once it gets there."""
        self.kill()
        self._fault.unlink(missing_ok=True)
        command = [
            sys.executable, "-m", "holdfast.cli", "pipeline", "--kafka", self.broker.bootstrap,
            "--data-dir", str(self._folder / "data"), "--lake", str(self._folder / "lake"),
            "--spark-master", "local[2]",
        ]  # fmt: skip
        settings = {"HOLDFAST_PIPELINE_RAW_ZONE_SECONDS": "0.5"}
        if fault:
            settings[VARIABLE] = f"{fault}={self._fault}"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*DIES_WITH_PARENT, *command],
                stdout=log,
                stderr=log,
                env={**os.environ, **settings},
            )

    def wait_at_fault(self, but_not: int = 0) -> int:
        """Returns the id of the running process, once it is not `but_not`."""

        def there() -> int:
            assert self._process is not None
            assert self._process.poll() is None, self.said()
            text = self._fault.read_text() if self._fault.exists() else ""
            return int(text) if text and int(text) != but_not else 0

        return wait_until(there, "the point at which it is killed", PATIENCE_S)

    def kill(self) -> None:
        """kill -9, with all that it has started."""
        if self._process is None or self._process.poll() is not None:
            return
        children = psutil.Process(self._process.pid).children(recursive=True)
        for child in children:
            child.kill()
        self._process.kill()
        self._process.wait()
        psutil.wait_procs(children, 20)

    def said(self) -> str:
        return self._log.read_text(errors="replace")[-6000:]

    def flow(self) -> Flow:
        name = unique_name("flow").lower()
        with holdfast.connect(self.broker.bootstrap) as client:
            client.flow(name).create(partitions=2)
        return Flow(self.broker.bootstrap, self.broker, self._folder / "lake", name)

    def wait_for(self, flow: Flow, topic: str, count: int) -> list[Record]:
        """Waits for exactly this many records of a topic, and returns them."""

        def enough() -> list[Record]:
            assert self._process is not None
            assert self._process.poll() is None, self.said()
            found = flow.records(topic)
            return found if len(found) >= count else []

        found = wait_until(enough, f"{count} records in {topic}", PATIENCE_S)
        assert len(found) == count
        return found

    def holdfast(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """A command of the command line."""
        return run_holdfast([*arguments, "--bootstrap", self.broker.bootstrap])


def run_holdfast(arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "holdfast.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
