"""The runs as they are now, in memory, followed by a thread of its own."""

from threading import Event, Lock, Thread
from time import monotonic, sleep

from holdfast.client.connection import Connection
from holdfast.client.table import Table
from holdfast.errors import NotFoundError, UnavailableError
from holdfast.flows.runs import RUNS_TOPIC, Run, RunBook

_TURN_S = 0.2


class RunsView:
    """Follows `holdfast.runs` from `start` to `stop`. Reading it blocks nobody."""

    def __init__(self, connection: Connection) -> None:
        self._book = RunBook()
        self._guard = Lock()
        self._table = Table(connection, RUNS_TOPIC, self._take)
        self._known = False  # stays: that the topic is made later makes nothing less known
        self._stopping = Event()
        self._thread = Thread(target=self._follow, name="runs", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

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
        while monotonic() < deadline and not self._stopping.is_set():
            with self._guard:
                if self._book.get(run_id) is not None:
                    return
            sleep(_TURN_S / 4)

    def _check(self) -> None:
        if not self._known:
            raise UnavailableError("The runs are being read from Kafka. Ask again soon.")

    def _follow(self) -> None:
        while not self._stopping.is_set():
            self._table.poll(_TURN_S)
            self._known |= self._table.complete
            if self._table.complete and self._table.next_offset == 0:
                self._stopping.wait(_TURN_S)  # there is no topic yet, and asking costs a request
        self._table.close()

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        with self._guard:
            self._book.take(key, value)
