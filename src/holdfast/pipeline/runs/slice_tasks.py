"""Many slices at once, in Spark's tasks. This module runs in Spark's Python workers.

A worker keeps its senders from window to window. The driver says which worker had a slice last; any
other worker makes a new sender for it.
"""

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter

import pyarrow as pa

from holdfast import faults
from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.errors import HoldfastError
from holdfast.pipeline.runs.slices import SendOptions, Slice, SliceProgress, SliceSender
from holdfast.pipeline.spark.tasks import WorkerRegistry, result_batch, rows_by_transaction

_RUNS_KEPT = 2
"""A worker keeps the senders of this many runs: of one flow's replay, and of another's."""


@dataclass(frozen=True, slots=True)
class WindowJob:
    """The input of all tasks of one window."""

    client: ClientSettings
    brokers: tuple[str, ...]
    """The brokers that the driver knows."""
    options: SendOptions
    slices: Mapping[int, Slice]
    workers: Mapping[int, str]
    """The worker that had a slice last."""


@dataclass(frozen=True, slots=True)
class SliceResult:
    """The progress of a task with a slice."""

    number: int
    worker: str
    sent: SliceProgress | None = None
    error: HoldfastError | None = None


def run_task(job: WindowJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Send the rows, which are sorted by slice and offset."""
    faults.name_points("run-")
    worker = _workers.get(job.options.run, job.client, job.brokers, Worker)
    results: dict[int, SliceResult] = {}
    for number, rows in slice_transactions(batches):
        if number not in results or results[number].error is None:
            results[number] = worker.send(job, number, rows)
    for result in results.values():
        yield result_batch(result)


def slice_transactions(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each transaction, and the number of their slice."""
    by_slice = chain.from_iterable(map(_by_slice, batches))
    for number, group in groupby(by_slice, key=itemgetter(0)):
        for rows, _ in rows_by_transaction(rows for _, rows in group):
            yield number, pa.Table.from_batches(rows)


def _by_slice(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    numbers = batch.column("slice").to_numpy()
    start = 0
    while start < len(numbers):
        end = int(numbers.searchsorted(numbers[start], side="right"))
        yield int(numbers[start]), batch.slice(start, end - start)
        start = end


@dataclass(slots=True)
class Worker:
    """The senders of one process for one run."""

    id: str = field(default_factory=lambda: f"{os.getpid()}-{uuid.uuid4()}")
    _senders: dict[int, SliceSender] = field(default_factory=dict)

    def send(self, job: WindowJob, number: int, rows: pa.Table) -> SliceResult:
        try:
            sender = self._sender(job, number)
            return SliceResult(number, self.id, sender.send(rows))
        except HoldfastError as error:
            self._forget(number)
            return SliceResult(number, self.id, error=error)
        except BaseException:
            self._forget(number)
            raise

    def close(self) -> None:
        for number in list(self._senders):
            self._forget(number)

    def _sender(self, job: WindowJob, number: int) -> SliceSender:
        known = self._senders.get(number)
        if known is not None and job.workers.get(number) == self.id:
            return known
        self._forget(number)
        sender = SliceSender(Connection(job.client), job.options, job.slices[number])
        self._senders[number] = sender
        return sender

    def _forget(self, number: int) -> None:
        sender = self._senders.pop(number, None)
        if sender is not None:
            sender.close()


_workers: WorkerRegistry[Worker] = WorkerRegistry(_RUNS_KEPT)
