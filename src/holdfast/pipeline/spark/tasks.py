"""Shared by the tasks of gate and runs, on the driver and in Spark's Python workers."""

import gc
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame

from holdfast.client import known_brokers
from holdfast.client.settings import ClientSettings

RESULTS = "result binary"
"""Spark schema of the rows that tasks return: pickled results."""

STEP_ROWS = 50_000
STEP_BYTES = 64 * 1024**2
"""Limits of one transaction: they bound memory, and the work that a crash repeats."""


def result_batch(result: Any) -> pa.RecordBatch:
    """One result, as a task yields it."""
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(result)])], ["result"])


def run_tasks(tasks: DataFrame) -> list[Any]:
    """Runs the job. Returns the results of its tasks."""
    rows: pa.Table = tasks.toArrow()
    return [pickle.loads(row) for row in rows["result"].to_pylist()]  # noqa: S301  # our workers'


def rows_by_transaction(
    batches: Iterable[pa.RecordBatch],
) -> Iterator[tuple[list[pa.RecordBatch], bool]]:
    """The rows of each transaction, and True with the last ones, which are empty
    only if there are no rows."""
    waiting: list[pa.RecordBatch] = []
    for batch in chain.from_iterable(map(_pieces, batches)):
        rows = batch.num_rows + sum(b.num_rows for b in waiting)
        if waiting and (rows > STEP_ROWS or sum(b.nbytes for b in waiting) >= STEP_BYTES):
            yield waiting, False
            waiting = []
        waiting.append(batch)
    yield waiting, True


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in as few even pieces as fit into a transaction; none if it is empty."""
    count = -(-batch.num_rows // STEP_ROWS)
    for number in range(count):
        start, end = (batch.num_rows * n // count for n in (number, number + 1))
        yield batch.slice(start, end - start)


class Closable(Protocol):
    def close(self) -> None: ...


W = TypeVar("W", bound=Closable)


class WorkerRegistry(Generic[W]):
    """Clients and producers that this process keeps from task to task, by flow or run."""

    def __init__(self, most: int) -> None:
        """`most`: how many are kept; the oldest is closed first."""
        self._most = most
        self._workers: dict[tuple[int, str, str], W] = {}

    def get(
        self,
        name: str,
        client: ClientSettings,
        brokers: Iterable[str],
        make: Callable[[], W],
    ) -> W:
        """This process's worker for a flow or a run. A worker from before a fork is not used: its
        connections belong to the parent."""
        known_brokers.learn(client.bootstrap, brokers)
        identity = (os.getpid(), name, client.bootstrap)
        if identity not in self._workers:
            while len(self._workers) >= self._most:
                oldest = next(iter(self._workers))
                worker = self._workers.pop(oldest)
                if oldest[0] == os.getpid():
                    worker.close()
            self._workers[identity] = make()
            # Spark collects garbage after every task, thirty milliseconds for modules and clients
            # alone. These stay, so the collector need not look at them.
            gc.freeze()
        return self._workers[identity]
