"""The consumer for asyncio: the same promises, without blocking the loop.

Calls of librdkafka run on one thread, in the order of their requests. A read is many short calls,
so a cancelled task ends at once and the next call starts within the time of a poll.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Any, Self, TypeVar

from confluent_kafka import TopicPartition

from holdfast.client.consumer import Bound, Consumer
from holdfast.client.consumer_engine import ConsumerEngine
from holdfast.client.failure import FailurePolicy
from holdfast.client.positions import Where
from holdfast.client.record import Record, records_of
from holdfast.errors import ConflictError

T = TypeVar("T")


class AsyncConsumer:
    """Reads records from asyncio. The promises are those of `Consumer`.

    >>> _ = client.send(topic, "hello").result()
    >>> async def main():
    ...     async with client.async_consumer(topic, group="async-readme") as consumer:
    ...         async for record in consumer.records(until="end"):
    ...             print(record.text())
    >>> asyncio.run(main())
    hello

    Any call can be cancelled. The next read returns the records that a cancelled read had fetched.
    """

    def __init__(self, make: Callable[[], Consumer]) -> None:
        self._make = make
        self._consumer: Consumer | None = None
        self._stopped = False
        self._closed = False
        # One thread, for calls of librdkafka and for its callbacks.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="holdfast-consumer")

    def __aiter__(self) -> AsyncIterator[Record]:
        return self.records()

    def records(self, *, until: Bound | None = None, limit: int | None = None) -> "AsyncRecords":
        """The records from here on; with a bound, those before it."""
        return AsyncRecords(self, until, limit)

    async def run(
        self,
        handler: Callable[[Record], Coroutine[Any, Any, object]],
        *,
        dead_letter: str | None = None,
        policy: FailurePolicy | None = None,
        until: Bound | None = None,
        limit: int | None = None,
    ) -> None:
        """Await `handler` for each record, one after the other; see `Consumer.run`."""
        consumer = await self.started()
        loop = asyncio.get_running_loop()

        handling: list[Future[object]] = []

        def handle(record: Record) -> object:
            future = asyncio.run_coroutine_threadsafe(handler(record), loop)
            handling[:] = [future]
            if consumer.engine.stopped:  # the run was cancelled before `handling` was set
                future.cancel()
            try:
                return future.result()
            except CancelledError:  # not an error of the record: it ends the run
                raise asyncio.CancelledError from None

        running = self.submit(
            lambda: consumer.run(
                handle, dead_letter=dead_letter, policy=policy, until=until, limit=limit
            )
        )
        try:
            await asyncio.shield(asyncio.wrap_future(running))
        except asyncio.CancelledError:
            consumer.stop()
            for future in handling:
                future.cancel()
            if not self._closed:
                self.submit(self._resume)
            raise

    async def seek(
        self, where: Where, *, topic: str | None = None, partition: int | None = None
    ) -> None:
        """See `Consumer.seek`."""
        consumer = await self.started()
        await self.call(lambda: consumer.seek(where, topic=topic, partition=partition))

    async def commit(self) -> None:
        """See `Consumer.commit`."""
        consumer = await self.started()
        await self.call(consumer.commit)

    async def handed_out(self) -> tuple[list[TopicPartition], Any]:
        """See `Consumer.handed_out`."""
        consumer = await self.started()
        return await self.call(consumer.handed_out)

    def stop(self) -> None:
        """See `Consumer.stop`."""
        self._stopped = True
        if self._consumer is not None:
            self._consumer.stop()

    async def close(self) -> None:
        """Commit processed records and leave the group. A pending read ends without a record."""
        if self._closed:
            return
        self.stop()
        closing = self.submit(self._close)
        self._closed = True
        self._thread.shutdown(wait=False)
        # Shielded: if this is cancelled, the consumer still closes.
        await asyncio.shield(asyncio.wrap_future(closing))

    async def __aenter__(self) -> Self:
        await self.started()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # For this module and transactions

    @property
    def closed(self) -> bool:
        return self._closed

    async def started(self) -> Consumer:
        if self._consumer is None:
            await self.call(self._start)
        assert self._consumer is not None
        return self._consumer

    async def call(self, function: Callable[[], T]) -> T:
        """Run a call in the consumer's thread."""
        return await asyncio.wrap_future(self.submit(function))

    def submit(self, function: Callable[[], T]) -> "Future[T]":
        """Start a call in the consumer's thread."""
        if self._closed:
            raise ConflictError("This consumer is closed.")
        return self._thread.submit(function)

    def _start(self) -> None:
        # Set here and not by the caller, which may be cancelled before this ends.
        if self._consumer is None:
            self._consumer = self._make()

    def _close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()

    def _resume(self) -> None:
        """After a cancelled run: only `stop` and `close` end a consumer permanently."""
        if self._consumer is not None and not self._stopped:
            self._consumer.engine.resume()


class AsyncRecords:
    """Records as they arrive. A cancelled read takes none: the next read continues."""

    def __init__(self, consumer: AsyncConsumer, until: Bound | None, limit: int | None) -> None:
        self._consumer = consumer
        self._until = until
        self._left = limit
        self._engine: ConsumerEngine | None = None
        self._chunk: Iterator[Record] = iter(())
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        if self._engine is not None and monotonic() >= self._engine.serve_at:
            self._engine.cut()
        record = next(self._chunk, None)
        if record is None:
            record = await self._read()
        if self._left is not None:
            self._left -= 1
        return record

    async def aclose(self) -> None:
        """End the iteration; a read in progress ends without a record."""
        self._ended = True

    async def _read(self) -> Record:
        """Returns the first record of the next chunk; `_chunk` has the rest."""
        engine = self._engine or await self._begin()
        if self._left == 0:
            engine.settle()
            self._ended = True
        while not self._ended and not self._consumer.closed:
            # One poll at a time: a close, or another call, can run between two of them.
            reading = self._consumer.submit(partial(engine.more, self._left, patient=False))
            try:
                messages = await asyncio.wrap_future(reading)
            except asyncio.CancelledError:
                if not reading.cancelled() and not self._consumer.closed:
                    self._consumer.submit(engine.take_back)
                raise
            if messages is None:
                break
            if self._ended:  # by `aclose`, during the read
                await self._consumer.call(engine.take_back)
                break
            self._chunk = records_of([messages])
            record = next(self._chunk, None)
            if record is not None:
                return record
        self._ended = True
        raise StopAsyncIteration

    async def _begin(self) -> ConsumerEngine:
        consumer = await self._consumer.started()
        await self._consumer.call(lambda: consumer.bound(self._until))
        self._engine = consumer.engine
        return self._engine
