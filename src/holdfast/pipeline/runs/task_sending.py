"""A replay in Spark's tasks, a slice each, as fast as they can."""

from dataclasses import dataclass, field
from functools import partial

from holdfast.errors import HoldfastError
from holdfast.pipeline.runs.replay_progress import PAUSE_SECONDS, Sending, rows_of
from holdfast.pipeline.runs.slice_tasks import SliceResult, WindowJob, run_task
from holdfast.pipeline.runs.windows import Window
from holdfast.pipeline.spark.errors import root_cause
from holdfast.pipeline.spark.tasks import RESULTS, run_tasks

_ATTEMPTS = 5
"""Failed jobs in a row, after which the run fails. A broker that is away does not count."""


@dataclass(slots=True)
class TaskSending(Sending):
    """Sends windows in Spark's tasks, as fast as they can."""

    _workers: dict[int, str] = field(default_factory=dict)

    def close(self) -> None:
        """Workers keep their senders for a later window."""

    def send(self, window: Window) -> None:
        """Retry until all of the window is sent. An attempt continues where the last one ended."""
        failures = 0
        while True:
            try:
                self._run(window)
                return
            except HoldfastError as error:
                self._workers.clear()
                if not error.transient:
                    raise
                self.execution.wait(PAUSE_SECONDS, f"It is tried again: {error}")
            except Exception as error:  # Spark's: a worker that died, a job that was stopped
                self._workers.clear()
                self.execution.check()
                failures += 1
                if failures == _ATTEMPTS:
                    raise
                self.execution.wait(
                    PAUSE_SECONDS * failures, f"It is tried again: {root_cause(error)}"
                )

    def _run(self, window: Window) -> None:
        slices = self.state.slices
        job = WindowJob(
            self.connection.settings,
            self.connection.brokers,
            self.options,
            {number: slices[number] for number in window},
            dict(self._workers),
        )
        rows = rows_of(self.rows, slices, window)
        # By the number itself: by its hash some tasks would get two slices, and others none.
        shared = rows.repartitionById(len(window), "slice")
        tasks = shared.sortWithinPartitions("slice", "offset")
        self._follow(run_tasks(tasks.mapInArrow(partial(run_task, job), RESULTS)))

    def _follow(self, results: list[SliceResult]) -> None:
        for result in results:
            if result.sent is not None:
                self.state.sent[result.number] = result.sent
                self._workers[result.number] = result.worker
        for result in results:
            if result.error is not None:
                raise result.error
