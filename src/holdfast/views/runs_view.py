"""The runs as they are now, in memory, followed by a thread of its own."""

from threading import Lock
from time import monotonic, sleep

from holdfast.client.connection import Connection
from holdfast.errors import NotFoundError, UnavailableError
from holdfast.flows.runs import RUNS_TOPIC, Run, RunBook
from holdfast.views.followed_table import FollowedTable

_LOOK_S = 0.05


class RunsView:
    """Follows `holdfast.runs` from `start` to `stop`. Reading it blocks nobody."""

    def __init__(self, connection: Connection) -> None:
        self._book = RunBook()
        self._guard = Lock()
        self._table = FollowedTable(connection, RUNS_TOPIC, self._take)

    def start(self) -> None:
        self._table.start()

    def stop(self) -> None:
        self._table.stop()

    def list(self, flow: str | None = None) -> list[Run]:
        """All runs, or those of a flow; the newest first."""
        self._check()
        with self._guard:
            runs = [run for run in self._book if flow in (None, run.request.flow)]
        return runs[::-1]

    def get(self, run_id: str) -> Run:
        """The run of that id, or NotFoundError."""
        self._check()
        with self._guard:
            run = self._book.get(run_id)
        if run is None:
            raise NotFoundError(f"There is no run {run_id!r}.")
        return run

    def wait_for(self, run_id: str, timeout: float = 5.0) -> None:
        """Return once the run is seen here, or the time has passed."""
        deadline = monotonic() + timeout
        while monotonic() < deadline and not self._table.stopping.is_set():
            with self._guard:
                if self._book.get(run_id) is not None:
                    return
            sleep(_LOOK_S)

    def _check(self) -> None:
        if not self._table.known:
            raise UnavailableError("The runs are being read from Kafka. Ask again soon.")

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        with self._guard:
            self._book.take(key, value)
