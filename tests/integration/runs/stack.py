"""A whole pipeline under test: gate, raw zone and runs, as the process that people start."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from deltalake import DeltaTable
from tests.brokers import DIES_WITH_PARENT, BrokerProcess
from tests.clients import producer, wait_until
from tests.conftest import unique_name

import holdfast
from holdfast.client.record import Record
from holdfast.flows.runs import Run, RunState
from holdfast.flows.work import Work
from holdfast.pipeline.faults import VARIABLE

PATIENCE_S = 150.0


class Stack:
    """A broker and a pipeline that is killed and started again."""

    def __init__(self, broker: BrokerProcess, folder: Path) -> None:
        self.broker = broker
        self.folder = folder
        self.client = holdfast.connect(broker.bootstrap)
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "pipeline.log"
        self._fault = folder / "fault"

    def start(self, fault: str = "") -> None:
        """Start, unless it runs. With a fault it stays at that point once it gets there."""
        if self._process is not None and self._process.poll() is None and not fault:
            return
        self.kill()
        self._fault.unlink(missing_ok=True)
        command = [
            sys.executable, "-m", "holdfast.cli", "pipeline", "--kafka", self.broker.bootstrap,
            "--data-dir", str(self.folder / "data"), "--lake", str(self.folder / "lake"),
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

    def wait_at_fault(self) -> None:
        def there() -> bool:
            assert self._process is not None
            assert self._process.poll() is None, self.said()
            return self._fault.exists()

        wait_until(there, f"the point at which it is killed:\n{self.said()}", PATIENCE_S)

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
        return self._log.read_text(errors="replace")[-6000:] if self._log.exists() else ""

    def flow(self, stem: str, partitions: int = 2) -> "FlowUnderTest":
        name = unique_name(stem).lower()
        self.client.flow(name).create(partitions=partitions)
        return FlowUnderTest(self, name, partitions)

    def finish(self, run: Run, state: RunState = RunState.DONE) -> Run:
        """The run, once it has ended in that state."""
        self.start()
        ended = self.client.runs.wait(run.id, timeout=PATIENCE_S)
        assert ended.state is state, f"{ended}\n{self.said()}"
        return ended


class FlowUnderTest:
    """One flow of a stack."""

    def __init__(self, stack: Stack, name: str, partitions: int) -> None:
        self.stack = stack
        self.name = name
        self.partitions = partitions
        self.handle = stack.client.flow(name)
        self.names = self.handle.names
        self.location = str(stack.folder / "lake" / "raw" / name)

    def send(self, events: Iterable[tuple[str | None, bytes | None]], **more: Any) -> None:
        client = producer(self.stack.broker, {"partitioner": "murmur2_random", "linger.ms": 5})
        for key, value in events:
            client.produce(self.names.events, value, key, **more)
            client.poll(0)
        assert client.flush(30) == 0

    def ask(self, work: Work, run_id: str | None = None) -> Run:
        return self.stack.client.runs.ask(
            self.name, work, actor="ana", run_id=run_id or f"{work.name}-{uuid.uuid4().hex[:8]}"
        )

    def run(self, work: Work) -> Mapping[str, Any]:
        """-> the result"""
        ended = self.stack.finish(self.ask(work))
        assert ended.progress is not None
        return ended.progress.result

    def records(self, topic: str) -> list[Record]:
        with self.stack.client.consumer(f"{self.name}.{topic}") as consumer:
            return list(consumer.records(until="end"))

    def wait_for(self, topic: str, count: int) -> list[Record]:
        def enough() -> list[Record]:
            found = self.records(topic)
            return found if len(found) >= count else []

        self.stack.start()
        found = wait_until(enough, f"{count} records in {topic}\n{self.stack.said()}", PATIENCE_S)
        assert len(found) == count
        return found

    def raw(self) -> list[Mapping[str, Any]]:
        if not DeltaTable.is_deltatable(self.location):
            return []
        rows: list[Mapping[str, Any]] = DeltaTable(self.location).to_pyarrow_table().to_pylist()
        return sorted(rows, key=lambda row: (row["topic"], row["partition"], row["offset"]))

    def wait_until_landed(self, count: int) -> None:
        self.stack.start()
        wait_until(
            lambda: len(self.raw()) >= count,
            f"{count} landed events\n{self.stack.said()}",
            PATIENCE_S,
        )


def replayed(records: Sequence[Record], run: str) -> list[Record]:
    """Those that the run has sent."""
    return [record for record in records if record.header("holdfast-replay-run") == run.encode()]
