"""Long work, done in slices.

All requests share one event loop. A handler whose cost depends on the client is a generator: at
each `yield` it may be paused so that other requests run. It yields what it waits for:

- None: nothing. The work may continue at once, or be dropped if its client is gone.
- `STAY`: nothing either, but the work has begun a change and must not be dropped.
- A function without arguments that needs much memory (to decompress a batch). It runs on a thread,
  and the generator gets its result.
- `OnThread`: a function that needs time or the disk, but little memory. It runs on a thread too.
- A future: the generator gets its result.

The return value of the generator is the reply.

Many clients may send long requests at once. So each pass of the event loop runs only a few slices,
and only a few long works go on at a time: each keeps a part of its reply in memory.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable
from enum import Enum
from functools import partial
from types import GeneratorType
from typing import Any, NamedTuple, TypeVar

from holdfast.broker.context import HandlerFailed, PendingReply

log = logging.getLogger(__name__)

SLICE_SECONDS = 0.005
"""How long one request may run before others get their turn."""
BEGUN_PER_TURN = 50
"""Coroutines per step: each appends a record, which takes up to 0.1 ms."""
MOST_LONG = 8
"""Maximum long works that go on in turns, and maximum long replies that are encoded: each may keep
a reply about everything that the broker knows."""
MOST_HEAVY = 2
"""Maximum running works with decompressed data: each may keep up to 256 MiB until it ends."""

T = TypeVar("T")


class OnThread(NamedTuple):
    """A function that runs on a thread. The work is not dropped meanwhile."""

    run: Callable[[], Any]


class _Stay(Enum):
    STAY = "stay"


STAY = _Stay.STAY

Step = Callable[[], Any] | OnThread | asyncio.Future[Any] | _Stay | None
Work = Generator[Step, Any, T]


def finish(work: Work[T]) -> T:
    """Runs all of `work` at once, and returns its result. Such work cannot wait for a future."""
    result: Any = None
    error: Exception | None = None
    while True:
        try:
            step = work.send(result) if error is None else work.throw(error)
        except StopIteration as end:
            value: T = end.value
            return value
        result = error = None
        if step is not None and step is not STAY:
            assert not isinstance(step, asyncio.Future)
            try:
                result = step.run() if isinstance(step, OnThread) else step()
            except Exception as failure:
                error = failure


async def begin_in_turns(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs all concurrently and returns their results. Only a few start in each step."""
    tasks = []
    for number, coroutine in enumerate(coroutines, 1):
        tasks.append(asyncio.ensure_future(coroutine))
        if number % BEGUN_PER_TURN == 0:
            await asyncio.sleep(0)
    return await asyncio.gather(*tasks)


class Slices:
    """Slices for a coroutine: it calls `pause` between steps."""

    def __init__(self) -> None:
        self._until = time.perf_counter() + SLICE_SECONDS

    async def pause(self) -> None:
        """Lets others run if the slice is used up."""
        if time.perf_counter() > self._until:
            await asyncio.sleep(0)
            self._until = time.perf_counter() + SLICE_SECONDS


async def run_in_turns(work: Work[T]) -> T:
    """Runs work that belongs to no request, in slices, and returns its result."""
    slices = Slices()
    loop = asyncio.get_running_loop()
    result: Any = None
    error: Exception | None = None
    while True:
        try:
            step = work.send(result) if error is None else work.throw(error)
        except StopIteration as end:
            value: T = end.value
            return value
        result = error = None
        try:
            if step is None or step is STAY:
                await slices.pause()
            elif isinstance(step, asyncio.Future):
                result = await step
            else:
                run = step.run if isinstance(step, OnThread) else step
                result = await loop.run_in_executor(None, run)
        except Exception as failure:
            error = failure


class Workshop:
    """Runs works in slices, and at most a few long or heavy ones at once."""

    def __init__(self, on_turn: Callable[[float], None] = lambda seconds: None) -> None:
        self._heavy = 0
        self._queue: deque[_Task] = deque()
        self._on_turn = on_turn
        self._ready: deque[Callable[[], None]] = deque()
        """First slices, and those of works that have what they waited for."""
        self._long: deque[Callable[[], None]] = deque()
        """Next slices of long works, in turns."""
        self._waiting: deque[Callable[[], None]] = deque()
        """Next slices of long works that wait until others have ended."""
        self._encoding = 0
        self._used = 0.0
        """Seconds that works have used in this pass of the loop."""
        self._is_scheduled = False

    def answer(self, response: Any) -> Any:
        """The result of a handler. For work: its result, or a `PendingReply`."""
        if response.__class__ is not GeneratorType:
            return response
        task = _Task(self, response)
        self.run(task.run)
        reply = task.reply
        if not reply.answered or isinstance(reply.response, HandlerFailed):
            return reply
        return reply.response

    def run(self, piece: Callable[[], None]) -> None:
        """Runs a slice: now, if works have used little of this pass of the loop, or later."""
        if self._used <= SLICE_SECONDS and not self._ready:
            piece()
        else:
            self._ready.append(piece)
            self._schedule()

    def run_in_turn(self, piece: Callable[[], None], is_begun: bool) -> None:
        """Runs the next slice of a long work, in turns with those of others. `is_begun`: it was
        among them before."""
        if is_begun or self._has_room():
            self._long.append(piece)
        else:
            self._waiting.append(piece)
        self._schedule()

    def encode(self, function: Callable[[], T]) -> "asyncio.Future[T]":
        """Encodes a long reply on a thread. Further long works wait until few are encoded."""

        def on_done(_: object) -> None:
            self._encoding -= 1
            self._schedule()

        self._encoding += 1
        future = asyncio.get_running_loop().run_in_executor(None, function)
        future.add_done_callback(on_done)
        return future

    def _has_room(self) -> bool:
        return len(self._long) < MOST_LONG and self._encoding < MOST_LONG

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._pass)

    def _pass(self) -> None:
        """One pass of the event loop: some first slices, and one of a long work. The loop reads the
        sockets before the next pass."""
        self._is_scheduled = False
        self._used = 0.0
        try:
            while self._ready and self._used <= SLICE_SECONDS:
                self._ready.popleft()()
            while self._waiting and self._has_room():
                self._long.append(self._waiting.popleft())
            if self._long:
                self._long.popleft()()
        finally:
            if self._ready or self._long or (self._waiting and self._has_room()):
                self._schedule()

    def enter(self, task: "_Task") -> bool:
        """Returns True if the task may do heavy work now; otherwise it is resumed later."""
        if self._heavy >= MOST_HEAVY:
            self._queue.append(task)
            return False
        self._heavy += 1
        return True

    def leave(self) -> None:
        self._heavy -= 1
        while self._queue and self._heavy < MOST_HEAVY:
            self._heavy += 1
            self._queue.popleft().entered()

    def turn_taken(self, seconds: float) -> None:
        self._on_turn(seconds)
        self._used += seconds
        if self._used > SLICE_SECONDS:
            self._schedule()  # it begins to count again


class _Task:
    """One running work."""

    def __init__(self, workshop: Workshop, work: Work[Any]) -> None:
        self._workshop = workshop
        self._work = work
        self._aside: Callable[[], Any] | None = None
        self._is_heavy = False
        self._is_begun = False
        self._abandoned = False
        self.reply = PendingReply(is_working=True)
        self.reply.on_abandon = self._abandon

    def run(self) -> None:
        """Starts or continues the work."""
        if not self._is_abandoned():
            self._go_on()

    def _go_on(self, result: Any = None, error: BaseException | None = None) -> None:
        """Runs one slice."""
        started = time.perf_counter()
        try:
            while True:
                step = self._work.send(result) if error is None else self._work.throw(error)
                result = error = None
                if step is not None and step is not STAY:
                    self._count(started)
                    self._wait_for(step)
                elif time.perf_counter() - started >= SLICE_SECONDS:
                    self._count(started)
                    self.reply.is_long = True
                    next_slice = self.run if step is None else self._go_on
                    self._workshop.run_in_turn(next_slice, self._is_begun)
                    self._is_begun = True
                else:
                    continue
                return
        except StopIteration as end:
            self._count(started)
            self._end(end.value)
        except Exception as failure:
            log.exception("A request failed")
            self._end(HandlerFailed(failure))
        finally:
            self._workshop.turn_taken(time.perf_counter() - started)

    def _count(self, started: float) -> None:
        self.reply.seconds += time.perf_counter() - started

    def _wait_for(self, step: Callable[[], Any] | OnThread | asyncio.Future[Any]) -> None:
        self._is_begun = False
        if isinstance(step, asyncio.Future):
            self._leave()
            step.add_done_callback(self._aside_done)
        elif isinstance(step, OnThread):
            self.reply.is_long = True
            future = asyncio.get_running_loop().run_in_executor(None, step.run)
            future.add_done_callback(self._aside_done)
        else:
            self.reply.is_long = True
            self._aside = step
            if self._is_heavy or self._workshop.enter(self):
                self.entered()

    def entered(self) -> None:
        """Runs the pending function on a thread."""
        assert self._aside is not None
        self._is_heavy = True
        if self._is_abandoned():
            return
        future = asyncio.get_running_loop().run_in_executor(None, self._aside)
        self._aside = None
        future.add_done_callback(self._aside_done)

    def _aside_done(self, future: "asyncio.Future[Any]") -> None:
        if future.cancelled():
            self._end(None)
        elif (error := future.exception()) is not None:
            self._workshop.run(partial(self._go_on, error=error))
        else:
            self._workshop.run(partial(self._go_on, future.result()))

    def _abandon(self) -> None:
        self._abandoned = True

    def _is_abandoned(self) -> bool:
        """Returns True if the client is gone: then the work ends."""
        if self._abandoned:
            self._work.close()
            self._end(None)
        return self._abandoned

    def _leave(self) -> None:
        if self._is_heavy:
            self._is_heavy = False
            self._workshop.leave()

    def _end(self, response: Any) -> None:
        self._leave()
        if isinstance(response, PendingReply):
            self.reply.is_long = self.reply.is_long or response.is_long
            self.reply.on_abandon = response.abandon
            response.then(self.reply.answer)
        else:
            self.reply.answer(response)
