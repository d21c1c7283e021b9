"""Many slices at once, in Spark's tasks. What is here runs in Spark's Python workers.

A worker keeps its senders from window to window; the driver says which worker had a slice last, and
any other begins anew with it.
"""

import os
import pickle
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.errors import HoldfastError
from holdfast.pipeline import faults
from holdfast.pipeline.runs.slices import Sending, Sent, Slice, SliceSender
from holdfast.pipeline.steps import STEP_BYTES, STEP_ROWS

OUTCOME = "outcome binary"
"""Schema, as Spark writes it, of what tasks give back: pickled `Outcome`s."""

_RUNS_KEPT = 2
"""Of so many runs a worker keeps senders: of one flow's replay, and of another's beside it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What all tasks of one window are told."""

    client: ClientSettings
    sending: Sending
    slices: Mapping[int, Slice]
    workers: Mapping[int, str]
    """Who had a slice last."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a task has come with a slice."""

    number: int
    worker: str
    sent: Sent | None = None
    error: str = ""
    transient: bool = False


def run_task(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Send the rows, which are sorted by slice and offset."""
    faults.name_points("run-")
    worker = _worker(job)
    outcomes: dict[int, Outcome] = {}
    for number, rows in portions(batches):
        if number not in outcomes or not outcomes[number].error:
            outcomes[number] = worker.send(job, number, rows)
    for outcome in outcomes.values():
        yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(outcome)])], ["outcome"])


def portions(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """The rows in portions of a transaction each, and the number of their slice."""
    waiting: list[pa.RecordBatch] = []
    current = -1
    for batch in batches:
        for number, rows in _by_slice(batch):
            full = sum(b.num_rows for b in waiting) >= STEP_ROWS
            large = sum(b.nbytes for b in waiting) >= STEP_BYTES
            if waiting and (number != current or full or large):
                yield current, pa.Table.from_batches(waiting)
                waiting = []
            current = number
            waiting.append(rows)
    if waiting:
        yield current, pa.Table.from_batches(waiting)


def _by_slice(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    numbers = batch.column("slice").to_numpy()
    start = 0
    while start < len(numbers):
        end = int(numbers.searchsorted(numbers[start], side="right"))
        yield int(numbers[start]), batch.slice(start, end - start)
        start = end


@dataclass(slots=True)
class _Worker:
    """The senders of one process for one run."""

    id: str = field(default_factory=lambda: f"{os.getpid()}-{uuid.uuid4()}")
    _senders: dict[int, SliceSender] = field(default_factory=dict)

    def send(self, job: Job, number: int, rows: pa.Table) -> Outcome:
        try:
            sender = self._sender(job, number)
            return Outcome(number, self.id, sender.send(rows))
        except HoldfastError as error:
            self._forget(number)
            text = f"{type(error).__name__}: {error}"
            return Outcome(number, self.id, None, text, error.transient)
        except BaseException:
            self._forget(number)
            raise

    def close(self) -> None:
        for number in list(self._senders):
            self._forget(number)

    def _sender(self, job: Job, number: int) -> SliceSender:
        known = self._senders.get(number)
        if known is not None and job.workers.get(number) == self.id:
            return known
        self._forget(number)
        sender = SliceSender(Connection(job.client), job.sending, job.slices[number])
        self._senders[number] = sender
        return sender

    def _forget(self, number: int) -> None:
        sender = self._senders.pop(number, None)
        if sender is not None:
            sender.close()


_workers: dict[tuple[int, str, str], _Worker] = {}


def _worker(job: Job) -> _Worker:
    """This process's, also if it was forked from one that had some."""
    identity = (os.getpid(), job.sending.run, job.client.bootstrap)
    if identity not in _workers:
        while len(_workers) >= _RUNS_KEPT:
            oldest = next(iter(_workers))
            left = _workers.pop(oldest)
            if oldest[0] == os.getpid():
                left.close()
        _workers[identity] = _Worker()
    return _workers[identity]
