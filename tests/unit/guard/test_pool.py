"""Handlers that never return are reported with their stack. None starts during an outage."""

import asyncio
from collections.abc import Callable
from threading import Event as Flag
from typing import Any

import pytest

from holdfast.guard.pool import Pool, TaskPool, ThreadPool
from holdfast.guard.schedule import Job, Schedule

DEADLINE_SECONDS = 60.0


def running(pool: Pool, started: Flag) -> Job:
    """A job whose handler has started, and does not return."""
    job = Job(b"key", 0, None)  # type: ignore[arg-type]
    schedule = Schedule()
    schedule.add(job)
    pool.run(schedule, DEADLINE_SECONDS, started.is_set)
    assert job.running
    return job


def blocks(started: Flag, end: Flag) -> Callable[[Any], None]:
    def wait_for_ever(event: object) -> None:
        started.set()
        end.wait(DEADLINE_SECONDS)

    return wait_for_ever


def test_stack_of_a_thread_that_does_not_return() -> None:
    started, end = Flag(), Flag()
    pool = ThreadPool(blocks(started, end), 4, None)
    job = running(pool, started)
    assert "in wait_for_ever" in pool.stack_of(job)
    end.set()
    pool.close()


@pytest.mark.parametrize("kind", ["awaits", "blocks the loop"])
def test_stack_of_a_coroutine_that_does_not_return(kind: str) -> None:
    started, end = Flag(), Flag()

    async def never_ends(event: object) -> None:
        if kind == "blocks the loop":
            blocks(started, end)(event)
        started.set()
        await asyncio.Event().wait()

    pool = TaskPool(never_ends, 4, None)
    job = running(pool, started)
    assert "in never_ends" in pool.stack_of(job)
    end.set()
    pool.close()


@pytest.mark.parametrize("kind", [ThreadPool, TaskPool])
def test_no_quick_handler_starts_once_an_outage_is_found(kind: Callable[..., Pool]) -> None:
    async def fails_later(event: object) -> None:
        raise ValueError("no")

    def fails(event: object) -> None:
        raise ValueError("no")

    pool = kind(fails if kind is ThreadPool else fails_later, 4, None)
    ended = 0

    def count(job: Job) -> None:
        nonlocal ended
        ended += 1

    pool.on_result = count
    schedule = Schedule()
    for number in range(5_000):
        schedule.add(Job(b"key-%d" % number, number, None))  # type: ignore[arg-type]
    pool.run(schedule, DEADLINE_SECONDS, lambda: ended >= 20)
    assert sum(job.begun is not None for job in schedule.jobs) <= 24
    pool.close()
