"""The runs as they are now, in memory, followed by a thread of its own."""

from holdfast.client.compacted_topic import FollowedTopic
from holdfast.client.connection import Connection
from holdfast.errors import NotFoundError
from holdfast.flows.runs import RUNS_TOPIC, Run, RunBook


class RunsView(FollowedTopic):
    """Follows `holdfast.runs` from `start` to `stop`."""

    def __init__(self, connection: Connection) -> None:
        self._book = RunBook()
        super().__init__(connection, RUNS_TOPIC, self._book.take)

    def list(self, flow: str | None = None) -> list[Run]:
        """All runs, or those of a flow; the newest first."""
        self.check("The runs")
        with self.lock:
            runs = [run for run in self._book if flow in (None, run.request.flow)]
        return runs[::-1]

    def get(self, run_id: str) -> Run:
        """The run of that id, or NotFoundError."""
        self.check("The runs")
        with self.lock:
            run = self._book.get(run_id)
        if run is None:
            raise NotFoundError(f"There is no run {run_id!r}.")
        return run

    def wait_for(self, run_id: str, timeout: float = 5.0) -> None:
        """Return once the run is visible here, or after `timeout` seconds."""
        self.wait_until(lambda: self._book.get(run_id) is not None, timeout)
