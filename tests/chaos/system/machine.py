"""The processes of one run: started, looked after as a supervisor would, and ended."""

import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.brokers import EmbeddedBroker
from tests.chaos.system.clock import Clock, build_library
from tests.chaos.system.history import ClockSet, History
from tests.chaos.system.processes import Pipeline, Worker
from tests.small_disk import CannotMountError, leave_no_room, mount, resize

from holdfast.pipeline.parts.ticket import REPLACED, START_AGAIN

DISK = "4g"
"""More than a run needs. It is memory, taken as it is used."""
RESTART_AFTER_S = 0.3
ENDS_WITHIN_S = 120.0
TURN_S = 0.05
_KILLED = -9
_ENDED_WELL = {START_AGAIN, _KILLED}
"""How a pipeline may end that nobody has replaced, ..."""
_REPLACED_WELL = {REPLACED, START_AGAIN, _KILLED}
"""... and one that was replaced. It lets `START_AGAIN` be: Spark may fall first."""


class Machine:
    """Broker, pipeline and worker. For one thread, which must outlive them."""

    def __init__(self, folder: Path, downstream: str, history: History, *, own_disk: bool) -> None:
        """`downstream`: the topic that the worker reads."""
        self.folder = folder
        self.history = history
        self.own_disk = own_disk
        library = build_library(folder)
        self.broker_clock = Clock(library, folder / "broker-clock")
        self.pipeline_clock = Clock(library, folder / "pipeline-clock")
        # Quick to take note of who is gone, as background work of minutes would hardly be met.
        self.broker = EmbeddedBroker(
            folder / "broker",
            {"housekeeping_seconds": 1},
            environment=self.broker_clock.environment,
        )
        self.pipelines: list[Pipeline] = []
        """The last one is the one that should run; others before it are about to be replaced."""
        self.worker: Worker | None = None
        self._downstream = downstream
        self._pipelines_started = self._workers_started = 0
        self._start_at: dict[str, float] = {}

    @property
    def pipeline(self) -> Pipeline:
        return self.pipelines[-1]

    def start(self) -> None:
        """The broker serves when this returns; the others are on their way."""
        self.broker.start()

    def start_pipeline(self) -> Pipeline:
        self._pipelines_started += 1
        pipeline = Pipeline(
            self.broker.bootstrap,
            self.folder,
            self._pipelines_started,
            self.pipeline_clock.environment,
        )
        self.pipelines.append(pipeline)
        return pipeline

    def start_worker(self) -> None:
        self._workers_started += 1
        self.worker = Worker(
            self.broker.bootstrap, self._downstream, self.folder, self._workers_started
        )

    def set_pipeline_clock(self, ahead: float) -> None:
        self.history.clock.append(ClockSet(time.monotonic(), ahead))
        self.pipeline_clock.set(ahead)

    def fill_disk(self) -> None:
        leave_no_room(self.broker.data_dir)

    def empty_disk(self) -> None:
        resize(self.broker.data_dir, DISK)

    def look_after(self) -> None:
        """Start again what has ended."""
        if not self.broker.running:
            self._again("broker", self.broker.launch)
        if self.pipeline.exit_code == REPLACED and any(
            before.exit_code is None for before in self.pipelines[:-1]
        ):
            # One that was stopped before it had taken its flows came last to them, and stays.
            self._bury(self.pipeline, _REPLACED_WELL)
        if self.pipeline.exit_code is not None:
            self._again("pipeline", self._follow_pipeline)
        if self.worker is not None and self.worker.exit_code is not None:
            self._again("worker", self.start_worker)
        for replaced in self.pipelines[:-1]:
            if replaced.exit_code is not None:
                self._bury(replaced, _REPLACED_WELL)

    def run_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look_after()
            time.sleep(TURN_S)

    def run_until(self, condition: Callable[[], object], what: str, timeout: float) -> None:
        """Look after all until it holds; TimeoutError says what did not come."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"not within {timeout:.0f} s: {what}")
            self.run_for(0.2)

    def _again(self, name: str, start: Callable[[], object]) -> None:
        due = self._start_at.setdefault(name, time.monotonic() + RESTART_AFTER_S)
        if time.monotonic() >= due:
            del self._start_at[name]
            start()

    def _follow_pipeline(self) -> None:
        """A new one in the place of the one that has ended."""
        self._bury(self.pipeline, _ENDED_WELL)
        self.start_pipeline()

    def _bury(self, ended: Pipeline, well: Collection[int]) -> None:
        self.pipelines.remove(ended)
        if ended.exit_code not in well:
            self.history.breaches.append(
                f"pipeline {ended.number} ended with code {ended.exit_code}"
            )
        ended.end()  # what it has started, if that is still there

    def end_well(self) -> None:
        """Ask worker and pipeline to end; the broker stays. They must do so with code 0."""
        assert self.worker is not None
        for name, process in (("worker", self.worker), ("pipeline", self.pipeline)):
            try:
                code: object = process.terminate(ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                code = None
            if code != 0:
                self.history.breaches.append(f"the {name}, asked to end, ended with code {code}")

    def keep_data(self) -> None:
        """Copy the broker's data, whose disk goes with the machine."""
        shutil.copytree(self.broker.data_dir, self.folder / "broker-data")

    def end(self) -> None:
        """kill -9 of everyone that is left."""
        for process in [*self.pipelines, *([self.worker] if self.worker else [])]:
            process.end()
        self.broker.kill()


@contextmanager
def machine(folder: Path, downstream: str, history: History) -> Iterator[Machine]:
    """A machine with a disk of its own for the broker, where one can be had."""
    (folder / "broker").mkdir(parents=True)
    try:
        with mount(folder / "broker" / "data", DISK):
            yield from _until_its_end(Machine(folder, downstream, history, own_disk=True))
    except CannotMountError:
        yield from _until_its_end(Machine(folder, downstream, history, own_disk=False))


def _until_its_end(made: Machine) -> Iterator[Machine]:
    try:
        yield made
    finally:
        made.end()
