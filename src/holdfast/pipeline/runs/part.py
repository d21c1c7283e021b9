"""The runs of one flow as a part of the pipeline."""

import logging
from collections.abc import Mapping
from threading import Event, Thread
from time import monotonic
from typing import Any

from pyspark.sql import SparkSession

from holdfast.client.connection import Connection
from holdfast.errors import HoldfastError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.runs import Run, RunState
from holdfast.flows.work import KINDS, Backfill, Quality, Redrive, Replay, Verify
from holdfast.pipeline.query_errors import said_by
from holdfast.pipeline.raw_zone import table_location
from holdfast.pipeline.runs.auditing import AuditRun
from holdfast.pipeline.runs.backfill import Filler, FindZone, TopicBackfill
from holdfast.pipeline.runs.execution import Execution, RunCancelled, RunInterrupted
from holdfast.pipeline.runs.files import FileBackfill
from holdfast.pipeline.runs.redrive import RedriveRun
from holdfast.pipeline.runs.replay import ReplayRun
from holdfast.pipeline.runs.run_log import RunLog
from holdfast.pipeline.session import RUNS_POOL, use_pool

log = logging.getLogger(__name__)

_POLL_S = 0.3
_AGAIN_S = 2.0
_STOP_S = 20.0


Carrying = ReplayRun | TopicBackfill | FileBackfill | RedriveRun | AuditRun


class RunsPart:
    """Carries out what is asked of a flow, one run of each kind at a time.

    A run that fails is done with, and its record says why; one that waits for a broker is tried
    again for as long as it takes. What a crash interrupts goes on when the part starts again.
    """

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        lake: str,
        find: FindZone,
    ) -> None:
        """`find` gives the raw zone, while there is one."""
        self._session = session
        self._connection = connection
        self._flow = flow
        self._lake = lake
        self._location = table_location(lake, flow.name)
        self._find = find
        self._log: RunLog | None = None
        self._stopping = Event()
        self._working: dict[str, Thread] = {}
        self._error: Exception | None = None
        self._thread = Thread(target=self._serve, name=f"{flow.name}.runs", daemon=True)

    def start(self) -> None:
        self._log = RunLog(self._connection, self._flow.name)
        self._thread.start()

    def change(self, flow: FlowDefinition) -> None:
        self._flow = flow

    def failure(self) -> Exception | None:
        return self._error

    def settled(self) -> bool:
        return True

    def trouble(self) -> str | None:
        return None  # what a run waits for is said in its record

    def measure(self) -> None:
        return

    def stop(self) -> None:
        self._stopping.set()
        self._session.sparkContext.cancelJobGroup(self._job_group)
        deadline = monotonic() + _STOP_S
        for thread in (self._thread, *self._working.values()):
            if thread.is_alive():
                thread.join(max(0.0, deadline - monotonic()))
        if self._log is not None and not self._thread.is_alive():
            self._log.close()

    @property
    def _job_group(self) -> str:
        return f"holdfast.runs.{self._flow.name}"

    def _serve(self) -> None:
        assert self._log is not None
        try:
            while not self._stopping.is_set():
                self._log.poll(_POLL_S)
                self._stopping.wait(_POLL_S)
                for kind in KINDS:
                    self._take_up(kind)
        except Exception as error:
            self._error = error

    def _take_up(self, kind: str) -> None:
        assert self._log is not None
        thread = self._working.get(kind)
        if thread is not None and thread.is_alive():
            return
        run = self._log.first(kind)
        if run is not None and not self._stopping.is_set():
            name = f"{self._flow.name}.{kind}"
            self._working[kind] = Thread(target=self._work, args=(run,), name=name, daemon=True)
            self._working[kind].start()

    def _work(self, run: Run) -> None:
        assert self._log is not None
        marks = {"flow": self._flow.name, "run": run.id}
        use_pool(self._session, RUNS_POOL)
        self._session.sparkContext.setJobGroup(self._job_group, f"Run {run.id}", False)
        execution = Execution(run, self._log, self._stopping)
        log.info("The run %s begins, or goes on", run.id, extra=marks)
        try:
            self._carry_out(execution)
        except RunInterrupted:
            log.info("The run %s is interrupted, and goes on later", run.id, extra=marks)
        except Exception as error:
            if self._stopping.is_set():
                return  # Spark's jobs were stopped under it
            # The run's record could not be written: it is taken up again.
            log.error("The run %s: %s", run.id, said_by(error), extra=marks)
            self._stopping.wait(_AGAIN_S)

    def _carry_out(self, execution: Execution) -> None:
        """To its end, whichever that is."""
        state, note = RunState.DONE, ""
        result: Mapping[str, Any] = {}
        work = self._of(execution)
        try:
            execution.check()
            result = self._until_done(execution)
        except RunCancelled:
            state, note = RunState.CANCELLED, "It was cancelled. What it has done stays done."
        except RunInterrupted:
            raise
        except Exception as error:
            execution.check()  # a job that was stopped with the part is no failure of the run
            state, note = RunState.FAILED, said_by(error)
        execution.end(state, result, note)
        log.info("The run %s is %s: %s", execution.run.id, state, note or result)
        if isinstance(work, ReplayRun):
            work.clean_up()

    def _until_done(self, execution: Execution) -> Mapping[str, Any]:
        while True:
            try:
                return self._of(execution).carry_out()
            except HoldfastError as error:
                if not error.transient:
                    raise
                execution.wait(_AGAIN_S, f"It is tried again: {error}")

    def _of(self, execution: Execution) -> Carrying:
        work = execution.run.request.work
        session, connection, flow = self._session, self._connection, self._flow
        match work:
            case Redrive():
                return RedriveRun(connection, flow, execution)
            case Backfill():
                filler = Filler(session, flow, self._location, self._find)
                if work.files:
                    return FileBackfill(filler, execution)
                return TopicBackfill(connection, filler, execution)
            case Replay():
                return ReplayRun(session, connection, flow, self._location, execution)
            case Verify() | Quality():
                return AuditRun(session, connection, flow, self._lake, execution)
