"""Rows by transaction, and workers that are kept between tasks."""

import os

import pyarrow as pa
import pytest

from holdfast.client.settings import ClientSettings
from holdfast.pipeline.spark import tasks
from holdfast.pipeline.spark.tasks import WorkerRegistry, rows_by_transaction

CLIENT = ClientSettings(bootstrap="127.0.0.1:1")


class Clients:
    """The clients of a worker: here only a record of being closed."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def batch(count: int) -> pa.RecordBatch:
    return pa.record_batch({"offset": pa.array(range(count))})


def test_rows_are_cut_at_the_limit_of_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "STEP_ROWS", 10)
    cut = list(rows_by_transaction([batch(4), batch(25), batch(0), batch(3)]))
    assert [sum(b.num_rows for b in rows) for rows, _ in cut] == [4, 8, 8, 9, 3]
    assert [last for _, last in cut] == [False, False, False, False, True]


def test_range_without_rows_yields_one_empty_last_transaction() -> None:
    assert list(rows_by_transaction([])) == [([], True)]


def test_a_worker_is_kept_for_its_flow() -> None:
    registry: WorkerRegistry[Clients] = WorkerRegistry(2)
    first = registry.get("orders", CLIENT, (), Clients)
    assert registry.get("payments", CLIENT, (), Clients) is not first
    assert registry.get("orders", CLIENT, (), Clients) is first


def test_the_oldest_worker_is_closed_when_there_are_too_many() -> None:
    registry: WorkerRegistry[Clients] = WorkerRegistry(2)
    kept = [registry.get(f"run-{n}", CLIENT, (), Clients) for n in range(3)]
    assert [worker.closed for worker in kept] == [True, False, False]


def test_a_forked_process_neither_uses_nor_closes_the_workers_of_its_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry: WorkerRegistry[Clients] = WorkerRegistry(1)
    parents = registry.get("orders", CLIENT, (), Clients)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert registry.get("orders", CLIENT, (), Clients) is not parents
    assert not parents.closed
