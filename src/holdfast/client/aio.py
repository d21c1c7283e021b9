"""Producer and consumer for asyncio: the same promises, without blocking the loop."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from datetime import datetime
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Any, Self, TypeVar

from confluent_kafka import KafkaError, KafkaException, Message

from holdfast.client.consumer import Bound, Consumer
from holdfast.client.delivery import Delivered
from holdfast.client.encoding import Headers, Key, Value
from holdfast.client.failure import FailurePolicy
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Where
from holdfast.client.producer import Producer
from holdfast.client.record import Record, records_of

T = TypeVar("T")


class AsyncProducer:
    """Sends records from asyncio.

    >>> async def main():
    ...     async with client.async_producer() as producer:
    ...         delivery = await producer.send(topic, {"id": 7}, key="customer-7")
    ...         return (await delivery).offset
    >>> asyncio.run(main())
    0
    """

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._loop: asyncio.AbstractEventLoop | None = None
        self._settled: deque[tuple[asyncio.Future[Delivered], KafkaError | None, Message]] = deque()
        self._closed = threading.Event()
        self._poller = threading.Thread(target=self._poll, name="holdfast-poll", daemon=True)

    async def send(
        self,
        topic: str,
        value: Value = None,
        key: Key = None,
        headers: Headers | None = None,
        timestamp: datetime | int | None = None,
        partition: int = -1,
    ) -> "asyncio.Future[Delivered]":
        """Hand over one record, once there is room; what it returns awaits the acknowledgement."""
        loop = self._started()
        delivery: asyncio.Future[Delivered] = loop.create_future()

        def settle(error: KafkaError | None, message: Message) -> None:
            self._settled.append((delivery, error, message))
            if len(self._settled) == 1:  # one wake-up takes in all that came since the last
                loop.call_soon_threadsafe(self._resolve)

        while True:
            try:
                self._producer.enqueue(topic, value, key, headers, timestamp, partition, settle)
                return delivery
            except BufferError:
                await asyncio.sleep(0.01)
            except KafkaException as error:
                raise translate(error, f"Sending to {topic!r}") from None

    async def flush(self) -> None:
        """Return once every record sent so far is acknowledged, or has failed."""
        await asyncio.to_thread(self._producer.flush)
        self._resolve()

    async def close(self) -> None:
        """Flush, and end."""
        await self.flush()
        self._closed.set()
        if self._poller.ident is not None:
            await asyncio.to_thread(self._poller.join)

    async def __aenter__(self) -> Self:
        self._started()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._poller.start()
        return self._loop

    def _poll(self) -> None:
        while not self._closed.is_set():
            self._producer.poll(0.1)

    def _resolve(self) -> None:
        """On the loop: pass on what librdkafka reported."""
        while self._settled:
            delivery, error, message = self._settled.popleft()
            if delivery.done():  # its task was cancelled
                continue
            if error is None:
                delivery.set_result(Delivered.of(message))
            else:
                delivery.set_exception(translate(error, "Delivering a record"))


class AsyncConsumer:
    """Reads records from asyncio. The promises are those of `Consumer`.

    >>> _ = client.send(topic, "hello").result()
    >>> async def main():
    ...     async with client.async_consumer(topic, group="async-readme") as consumer:
    ...         async for record in consumer.records(until="end"):
    ...             print(record.text())
    >>> asyncio.run(main())
    hello
    """

    def __init__(self, make: Callable[[], Consumer]) -> None:
        self._make = make
        self._consumer: Consumer | None = None
        # One thread: librdkafka is used, and calls back, on no other.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="holdfast-consumer")

    def __aiter__(self) -> AsyncIterator[Record]:
        return self.records()

    async def records(
        self, *, until: Bound | None = None, limit: int | None = None
    ) -> AsyncIterator[Record]:
        """The records from here on; with a bound, those before it."""
        consumer = await self._started()
        feed, left = consumer.feed, limit
        await self._call(lambda: consumer.bound(until))
        while left is None or left > 0:
            messages = await self._call(partial(feed.more, left))
            if messages is None:
                return
            for record in records_of([messages]):
                yield record
                if monotonic() >= feed.serve_at:
                    feed.cut()
            if left is not None:
                left -= feed.handed
        feed.settle()

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
        consumer = await self._started()
        loop = asyncio.get_running_loop()

        handling: list[Future[object]] = []

        def handle(record: Record) -> object:
            future = asyncio.run_coroutine_threadsafe(handler(record), loop)
            handling[:] = [future]
            if consumer.feed.stopped:  # the run was cancelled before it could be seen above
                future.cancel()
            try:
                return future.result()
            except CancelledError:  # not an error of the record: it must end the run
                raise asyncio.CancelledError from None

        running = self._call(
            lambda: consumer.run(
                handle, dead_letter=dead_letter, policy=policy, until=until, limit=limit
            )
        )
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            consumer.stop()
            for future in handling:
                future.cancel()
            raise

    async def seek(
        self, where: Where, *, topic: str | None = None, partition: int | None = None
    ) -> None:
        """See `Consumer.seek`."""
        consumer = await self._started()
        await self._call(lambda: consumer.seek(where, topic=topic, partition=partition))

    async def commit(self) -> None:
        """See `Consumer.commit`."""
        consumer = await self._started()
        await self._call(consumer.commit)

    def stop(self) -> None:
        """See `Consumer.stop`."""
        if self._consumer is not None:
            self._consumer.stop()

    async def close(self) -> None:
        """Commit what is done and leave the group."""
        if self._consumer is not None:
            await self._call(self._consumer.close)
        self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        await self._started()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _started(self) -> Consumer:
        if self._consumer is None:
            self._consumer = await self._call(self._make)
        return self._consumer

    def _call(self, function: Callable[[], T]) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(self._thread, function)
