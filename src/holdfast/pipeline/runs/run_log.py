"""`holdfast.runs` as the pipeline sees it: what is asked of one flow, and what it answers."""

from threading import Lock

from holdfast.client.connection import Connection
from holdfast.client.producer import Producer
from holdfast.client.table import Table
from holdfast.flows.runs import (
    RUNS_TOPIC,
    Run,
    RunBook,
    RunProgress,
    encode_progress,
)

_CONFIRMED_S = 30.0


class RunLog:
    """The runs of one flow. One thread polls it; any may ask and publish."""

    def __init__(self, connection: Connection, flow: str) -> None:
        self._flow = flow
        self._book = RunBook()
        self._guard = Lock()
        self._table = Table(connection, RUNS_TOPIC, self._take)
        self._producer = Producer(connection, delivery_timeout=_CONFIRMED_S)

    def poll(self, timeout: float) -> None:
        self._table.poll(timeout)

    def first(self, work: str) -> Run | None:
        """The first run of that work that has not ended."""
        if not self._table.complete:
            return None  # what comes last may say that it has ended
        with self._guard:
            for run in self._book:
                request = run.request
                if (request.flow, request.work.name) == (self._flow, work) and not run.state.ended:
                    return run
        return None

    def get(self, run_id: str) -> Run | None:
        with self._guard:
            return self._book.get(run_id)

    def publish(self, progress: RunProgress, *, confirmed: bool) -> None:
        """Say how far a run is; `confirmed` returns once the broker has it."""
        key, value = encode_progress(progress)
        delivery = self._producer.send(RUNS_TOPIC, value, key)
        if confirmed:
            delivery.result()
        self._take(key, value)

    def close(self) -> None:
        self._table.close()
        self._producer.close()

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        with self._guard:
            self._book.take(key, value)
