"""The part that executes the runs of one flow."""

import logging
from collections.abc import Mapping
from threading import Event, Thread
from time import monotonic
from typing import Any

from pyspark.sql import SparkSession

from holdfast.client.connection import Connection
from holdfast.errors import HoldfastError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import KINDS, Backfill, Quality, Redrive, Refresh, Replay, Verify
from holdfast.flows.runs import Run, RunState
from holdfast.pipeline.raw_zone.zone import table_location
from holdfast.pipeline.runs.auditing import AuditRun
from holdfast.pipeline.runs.backfill import Filler, FindZone, TopicBackfill
from holdfast.pipeline.runs.execution import Execution, RunCancelled, RunInterrupted
from holdfast.pipeline.runs.files import FileBackfill
from holdfast.pipeline.runs.redrive import RedriveRun
from holdfast.pipeline.runs.refresh import RefreshRun
from holdfast.pipeline.runs.replay import ReplayRun
from holdfast.pipeline.runs.run_log import RunLog
from holdfast.pipeline.spark.errors import root_cause
from holdfast.pipeline.spark.session import RUNS_POOL, use_pool

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 2.0
_STOP_SECONDS = 20.0


RunExecutor = ReplayRun | TopicBackfill | FileBackfill | RedriveRun | AuditRun | RefreshRun


class RunsPart:
    """Executes the runs of a flow, one run of each kind at a time.

    A run that fails has ended, and its record contains the reason. A run that waits for a broker is
    retried without a limit. After a crash, interrupted runs continue when the part starts again.
    """

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        lake: str,
        find: FindZone,
        log: RunLog,
    ) -> None:
        """`find` returns the raw zone, if it runs. `log` has the runs of all flows."""
        self._session = session
        self._connection = connection
        self._flow = flow
        self._lake = lake
        self._location = table_location(lake, flow.name)
        self._find = find
        self._log = log
        self._woken = Event()
        self._stopping = Event()
        self._working: dict[str, Thread] = {}
        self._error: Exception | None = None
        self._thread = Thread(target=self._serve, name=f"{flow.name}.runs", daemon=True)

    def start(self) -> None:
        self._log.listen(self._woken.set)
        self._woken.set()
        self._thread.start()

    def change(self, flow: FlowDefinition) -> None:
        self._flow = flow

    def failure(self) -> Exception | None:
        return self._error

    def settled(self) -> bool:
        return True

    def trouble(self) -> str | None:
        return None  # a run's record contains what it waits for

    def measure(self) -> None:
        return

    def stop(self) -> None:
        self._stopping.set()
        self._log.forget(self._woken.set)
        self._woken.set()
        self._session.sparkContext.cancelJobGroup(self._job_group)
        deadline = monotonic() + _STOP_SECONDS
        for thread in (self._thread, *list(self._working.values())):
            if thread.is_alive():
                thread.join(max(0.0, deadline - monotonic()))

    @property
    def _job_group(self) -> str:
        return f"holdfast.runs.{self._flow.name}"

    def _serve(self) -> None:
        try:
            while not self._stopping.is_set():
                self._woken.wait()
                self._woken.clear()
                for kind in KINDS:
                    self._start_next(kind)
        except Exception as error:
            self._error = error

    def _start_next(self, kind: str) -> None:
        if kind in self._working:
            return
        run = self._log.first(self._flow.name, kind)
        if run is not None and not self._stopping.is_set():
            name = f"{self._flow.name}.{kind}"
            self._working[kind] = Thread(target=self._work, args=(run,), name=name, daemon=True)
            self._working[kind].start()

    def _work(self, run: Run) -> None:
        marks = {"flow": self._flow.name, "run": run.id}
        try:
            use_pool(self._session, RUNS_POOL)
            self._session.sparkContext.setJobGroup(self._job_group, f"Run {run.id}", False)
            log.info("Run %s starts or continues", run.id, extra=marks)
            self._carry_out(Execution(run, self._log, self._stopping))
        except RunInterrupted:
            log.info("Run %s is interrupted and will continue later", run.id, extra=marks)
        except Exception as error:
            if self._stopping.is_set():
                return  # its Spark jobs were cancelled
            # The run's record could not be written: the run starts again.
            log.error("Run %s: %s", run.id, root_cause(error), extra=marks)
            self._stopping.wait(_AGAIN_SECONDS)
        finally:
            self._working.pop(run.request.spec.name, None)
            self._woken.set()

    def _carry_out(self, execution: Execution) -> None:
        """Execute the run until it is done, cancelled or failed, and record that."""
        state, note = RunState.DONE, ""
        result: Mapping[str, Any] = {}
        work = self._of(execution)
        try:
            execution.check()
            result = self._until_done(execution)
        except RunCancelled:
            state, note = RunState.CANCELLED, "It was cancelled. Finished work is not undone."
        except RunInterrupted:
            raise
        except Exception as error:
            execution.check()  # a job that was cancelled with the part is not a failed run
            state, note = RunState.FAILED, root_cause(error)
        execution.end(state, result, note)
        log.info("Run %s is %s: %s", execution.run.id, state, note or result)
        if isinstance(work, ReplayRun):
            work.clean_up()

    def _until_done(self, execution: Execution) -> Mapping[str, Any]:
        while True:
            try:
                return self._of(execution).carry_out()
            except HoldfastError as error:
                if not error.transient:
                    raise
                execution.wait(_AGAIN_SECONDS, f"Trying again: {error}")

    def _of(self, execution: Execution) -> RunExecutor:
        work = execution.run.request.spec
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
            case Refresh():
                return RefreshRun(session, flow, self._lake, execution)
