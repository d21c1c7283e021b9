"""A replay in Spark's tasks, a slice each, as fast as they can."""

import pickle
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

from holdfast.client.connection import Connection
from holdfast.errors import ConflictError, HoldfastError, UnavailableError
from holdfast.pipeline.query_errors import said_by
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.reached import PAUSE_S, Reached, rows_of
from holdfast.pipeline.runs.slice_tasks import OUTCOME, Job, Outcome, run_task
from holdfast.pipeline.runs.slices import Sending
from holdfast.pipeline.runs.windows import Window, Windows

_ATTEMPTS = 5
"""Failed jobs in a row, after which the run fails. A broker that is away does not count."""


class TaskSending:
    """Sends windows in Spark's tasks, as fast as they can."""

    def __init__(self, connection: Connection, execution: Execution, rows: DataFrame) -> None:
        self._connection = connection
        self._execution = execution
        self._rows = rows
        self._workers: dict[int, str] = {}

    def send(self, sending: Sending, state: Reached, windows: Windows) -> None:
        while (window := windows.take()) is not None:
            before = state.events
            self._insist(sending, state, window)
            windows.learn(state.events - before)
            self._execution.reach(state.events)

    def _insist(self, sending: Sending, state: Reached, window: Window) -> None:
        """Until all of the window was sent. An attempt goes on where the one before it ended."""
        failures = 0
        while True:
            try:
                self._run(sending, state, window)
                return
            except HoldfastError as error:
                self._workers.clear()
                if not error.transient:
                    raise
                self._execution.wait(PAUSE_S, f"It is tried again: {error}")
            except Exception as error:  # Spark's: a worker that died, a job that was stopped
                self._workers.clear()
                self._execution.check()
                failures += 1
                if failures == _ATTEMPTS:
                    raise
                self._execution.wait(PAUSE_S * failures, f"It is tried again: {said_by(error)}")

    def _run(self, sending: Sending, state: Reached, window: Window) -> None:
        job = Job(
            self._connection.settings,
            sending,
            {number: state.slices[number] for number in window},
            dict(self._workers),
        )
        rows = rows_of(self._rows, state.slices, window)
        # By the number itself: by its hash some tasks would get two slices, and others none.
        shared = rows.repartitionById(len(window), "slice")
        tasks = shared.sortWithinPartitions("slice", "offset")
        gathered: pa.Table = tasks.mapInArrow(partial(run_task, job), OUTCOME).toArrow()
        self._follow(state, [pickle.loads(row) for row in gathered["outcome"].to_pylist()])  # noqa: S301

    def _follow(self, state: Reached, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.sent is not None:
                state.sent[outcome.number] = outcome.sent
                self._workers[outcome.number] = outcome.worker
        for outcome in outcomes:
            if outcome.error:
                kind = UnavailableError if outcome.transient else ConflictError
                raise kind(outcome.error)
