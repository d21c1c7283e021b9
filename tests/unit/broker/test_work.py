"""Long works in slices: others go first, heavy ones wait for each other, all of them end."""

import asyncio
import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

from holdfast.broker.context import HandlerFailed, PendingReply
from holdfast.broker.work import (
    BEGUN_PER_TURN,
    MOST_HEAVY,
    MOST_LONG,
    SLICE_SECONDS,
    STAY,
    OnThread,
    Work,
    Workshop,
    begin_in_turns,
)


async def result_of(reply: PendingReply) -> Any:
    done = asyncio.get_running_loop().create_future()
    reply.then(done.set_result)
    return await asyncio.wait_for(done, 30)


def short() -> Work[str]:
    yield None
    return "done"


def long(steps: int = 3) -> Work[str]:
    for _ in range(steps):
        time.sleep(SLICE_SECONDS)
        yield None
    return "done"


async def test_short_request_is_answered_in_the_same_turn() -> None:
    assert Workshop().answer(short()) == "done"
    assert Workshop().answer("no work at all") == "no work at all"


async def test_other_requests_run_during_a_long_one() -> None:
    turns: list[None] = []
    running = True

    def other() -> None:
        turns.append(None)
        if running:
            asyncio.get_running_loop().call_soon(other)

    reply = Workshop().answer(long(steps=5))
    assert isinstance(reply, PendingReply)
    assert reply.is_working
    other()
    assert await result_of(reply) == "done"
    running = False
    assert len(turns) >= 4


async def test_many_long_requests_do_not_block_the_event_loop() -> None:
    slices: list[None] = []
    passes: list[int] = []
    begun: set[int] = set()
    most_begun = 0

    def work(number: int) -> Work[str]:
        nonlocal most_begun
        for step in range(3):
            slices.append(None)
            if step:
                begun.add(number)
                most_begun = max(most_begun, len(begun))
            time.sleep(SLICE_SECONDS)
            yield None
        begun.discard(number)
        return "done"

    def note_pass() -> None:
        passes.append(len(slices))
        if len(slices) < 3 * len(replies):
            asyncio.get_running_loop().call_soon(note_pass)

    workshop = Workshop()
    replies = [workshop.answer(work(number)) for number in range(50)]
    note_pass()
    assert await asyncio.gather(*map(result_of, replies)) == ["done"] * 50
    assert max(after - before for before, after in itertools.pairwise([0, *passes])) <= 3
    assert most_begun <= MOST_LONG + 1


async def test_long_requests_wait_while_large_replies_are_encoded() -> None:
    workshop = Workshop()
    encoded = threading.Event()
    encoding = [workshop.encode(lambda: encoded.wait(30)) for _ in range(MOST_LONG)]
    reply = workshop.answer(long())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not reply.answered
    encoded.set()
    assert await result_of(reply) == "done"
    assert await asyncio.gather(*encoding) == [True] * MOST_LONG


async def test_function_that_is_yielded_runs_on_a_thread_and_its_error_comes_back() -> None:
    def fail() -> None:
        raise ValueError("no")

    def work() -> Work[tuple[int, str]]:
        number = yield lambda: 7
        try:
            yield fail
        except ValueError as error:
            return number, str(error)
        raise AssertionError

    assert await result_of(Workshop().answer(work())) == (7, "no")


async def test_few_heavy_requests_run_at_once_and_all_end() -> None:
    workshop = Workshop()
    inside = most = 0

    def heavy() -> Work[str]:
        nonlocal inside, most
        yield lambda: None
        inside += 1
        most = max(most, inside)
        for _ in range(3):
            time.sleep(SLICE_SECONDS)
            yield None
        inside -= 1
        return "done"

    replies = [workshop.answer(heavy()) for _ in range(6)]
    replies[4].abandon()  # it waits for its turn, and its client is gone
    results = await asyncio.gather(*map(result_of, replies))
    assert results == ["done"] * 4 + [None, "done"]
    assert most == MOST_HEAVY


async def test_reading_request_without_its_client_ends() -> None:
    ended: list[str] = []

    def work() -> Work[None]:
        try:
            while True:
                time.sleep(SLICE_SECONDS)
                yield None
        finally:
            ended.append("ended")

    reply = Workshop().answer(work())
    reply.abandon()
    assert await result_of(reply) is None
    assert ended == ["ended"]


async def test_failed_request_is_answered_with_an_error() -> None:
    def at_once() -> Work[None]:
        yield None
        raise ValueError("no")

    def later() -> Work[None]:
        yield from long(2)
        raise ValueError("no")

    works: list[Callable[[], Work[None]]] = [at_once, later]
    for work in works:
        assert isinstance(await result_of(Workshop().answer(work())), HandlerFailed)


async def test_request_may_wait_for_a_future_and_a_thread() -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    loop_thread = threading.get_ident()

    def work() -> Work[tuple[int, bool]]:
        number = yield future
        thread = yield OnThread(threading.get_ident)
        return number, thread == loop_thread

    reply = Workshop().answer(work())
    assert isinstance(reply, PendingReply)
    future.set_result(7)
    assert await result_of(reply) == (7, False)


async def test_changing_request_finishes_without_its_client() -> None:
    done: list[str] = []

    def work() -> Work[str]:
        yield OnThread(lambda: time.sleep(SLICE_SECONDS))
        for step in "abc":
            time.sleep(SLICE_SECONDS)
            done.append(step)
            yield STAY
        yield None
        time.sleep(SLICE_SECONDS)
        yield None
        raise AssertionError("given up before")

    reply = Workshop().answer(work())
    assert isinstance(reply, PendingReply)
    reply.abandon()
    assert await result_of(reply) is None
    assert done == ["a", "b", "c"]


async def test_coroutines_begin_over_several_turns_and_all_end() -> None:
    begun: list[int] = []
    turns: list[int] = []
    running = True

    def note_turn() -> None:
        turns.append(len(begun))
        if running:
            asyncio.get_running_loop().call_soon(note_turn)

    async def one(number: int) -> int:
        begun.append(number)
        await asyncio.sleep(0)
        return number

    note_turn()
    assert await begin_in_turns(map(one, range(1_000))) == list(range(1_000))
    running = False
    most = max(after - before for before, after in itertools.pairwise(turns))
    assert most <= 2 * BEGUN_PER_TURN
