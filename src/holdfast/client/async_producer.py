"""The producer for asyncio: the same promises, without blocking the loop."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from confluent_kafka import KafkaError, KafkaException, Message

from holdfast.client import undelivered
from holdfast.client.delivery import UNDONE, Delivered
from holdfast.client.encoding import Headers, Key, Value
from holdfast.client.kafka_errors import translate
from holdfast.client.producer import Producer
from holdfast.client.transaction import Transaction

if TYPE_CHECKING:
    from holdfast.client.async_consumer import AsyncConsumer

T = TypeVar("T")

log = logging.getLogger("holdfast.client")


class AsyncProducer:
    """Sends records from asyncio.

    >>> async def main():
    ...     async with client.async_producer() as producer:
    ...         delivery = await producer.send(topic, {"id": 7}, key="customer-7")
    ...         return (await delivery).offset
    >>> asyncio.run(main())
    0

    Leaving the `async with` block waits for all acknowledgements. After an error or a cancellation
    it waits while acknowledgements arrive, and reports the number of records without one.
    """

    def __init__(self, make: Callable[[], Producer]) -> None:
        self._make = make
        self._producer: Producer | None = None
        self._starting = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._settled: deque[tuple[asyncio.Future[Delivered], KafkaError | None, Message]] = deque()
        self._waking = False
        self._unsettled = 0
        self._failed = 0
        self._all_settled = asyncio.Event()
        self._all_settled.set()
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
        """Send one record, once the queue has room. Returns a future of the acknowledgement."""
        producer = self._producer or await self._started()
        loop = asyncio.get_running_loop()
        delivery: asyncio.Future[Delivered] = loop.create_future()
        settle = partial(self._settle, delivery)
        while True:
            try:
                producer.enqueue(topic, value, key, headers, timestamp, partition, settle)
            except BufferError:
                await asyncio.sleep(0.01)
            except KafkaException as error:
                raise translate(error, f"Sending to {topic!r}") from None
            else:
                if not self._unsettled:
                    self._all_settled.clear()
                self._unsettled += 1
                return delivery

    async def flush(self) -> None:
        """Return once every record sent so far is acknowledged, or has failed."""
        await self._all_settled.wait()

    def transaction(self) -> "AsyncTransaction":
        """Records sent inside the `async with` block become visible together, or not at all.

        An error or a cancellation inside the block aborts it. Needs
        `client.async_producer(transactional_id=…)`.
        """
        return AsyncTransaction(self)

    async def close(self) -> None:
        """Flush, and stop the polling thread. If this is cancelled, the number of unacknowledged
        records is reported."""
        try:
            await self.flush()
        except BaseException as error:
            if self._producer is not None:
                self._producer.report(error)
            self._closed.set()
            raise
        if self._failed:
            log.warning("%d records that were sent did not arrive.", self._failed)
        await self._end()

    async def __aenter__(self) -> Self:
        await self._started()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            await self.close()
            return
        try:
            await self._flush_until_quiet()
        finally:
            if self._producer is not None:
                self._producer.report(error)
        await self._end()

    async def begin(self) -> Transaction:
        """Begin a transaction; `AsyncTransaction` ends it."""
        transaction = (await self._started()).transaction()
        transaction.__enter__()  # makes no request, so it does not block the loop
        return transaction

    async def _flush_until_quiet(self) -> None:
        """As `undelivered.flush_until_quiet`, without blocking the loop."""
        left = self._unsettled + 1
        while 0 < self._unsettled < left:
            left = self._unsettled
            try:
                async with asyncio.timeout(undelivered.QUIET_SECONDS):
                    await self._all_settled.wait()
            except TimeoutError:
                pass  # continues if some were acknowledged in that time

    async def _end(self) -> None:
        self._closed.set()
        if self._poller.ident is not None:
            await asyncio.to_thread(self._poller.join)

    async def _started(self) -> Producer:
        async with self._starting:
            if self._producer is None:
                self._loop = asyncio.get_running_loop()
                # A transactional producer waits for its coordinator.
                self._producer = await asyncio.to_thread(self._make)
                self._poller.start()
        return self._producer

    def _poll(self) -> None:
        assert self._producer is not None
        while not self._closed.is_set():
            try:
                self._producer.poll(0.1)
            except Exception:  # without this thread no delivery is reported
                log.exception("A delivery report could not be handled")
                self._closed.wait(0.1)

    def _settle(
        self, delivery: "asyncio.Future[Delivered]", error: KafkaError | None, message: Message
    ) -> None:
        """librdkafka's delivery report. Several threads may poll, and call this, at once.

        The report is appended before the flag is read, and `_resolve` clears the flag before it
        takes reports. So a pending `_resolve` takes this report, or a new one is scheduled.
        """
        self._settled.append((delivery, error, message))
        if not self._waking:
            self._waking = True
            assert self._loop is not None
            try:
                self._loop.call_soon_threadsafe(self._resolve)
            except RuntimeError:
                pass  # the loop has ended, so nothing waits

    def _resolve(self) -> None:
        """Runs on the loop: settle the futures of reported deliveries."""
        self._waking = False
        while self._settled:
            delivery, error, message = self._settled.popleft()
            self._unsettled -= 1
            undone = error is not None and error.code() in UNDONE
            if error is not None and not undone:
                self._failed += 1
            if delivery.done():  # its task was cancelled
                continue
            if error is None:
                delivery.set_result(Delivered.of(message))
            else:
                delivery.set_exception(translate(error, "Delivering a record"))
                if undone:
                    delivery.exception()  # discarded by an abort: asyncio must not warn
        if not self._unsettled:
            self._all_settled.set()


class AsyncTransaction:
    """All or nothing: committed when the `async with` block ends, aborted when it raises or is
    cancelled."""

    def __init__(self, producer: AsyncProducer) -> None:
        self._producer = producer
        self._transaction: Transaction | None = None

    async def send_offsets(self, consumer: "AsyncConsumer") -> None:
        """Commit the consumer's position in this transaction, the current record included.

        See `Transaction.send_offsets`.
        """
        assert self._transaction is not None, "only inside the block"
        offsets, metadata = await consumer.handed_out()
        send = self._transaction.send_positions
        await _to_the_end(lambda: send(offsets, metadata))

    async def __aenter__(self) -> Self:
        self._transaction = await self._producer.begin()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        assert self._transaction is not None
        leave = self._transaction.__exit__
        await _to_the_end(lambda: leave(kind, error, trace))


async def _to_the_end(call: Callable[[], T]) -> T:
    """Run a librdkafka call in a thread. A cancellation waits for its end: librdkafka refuses
    the next call while a commit is under way."""
    running = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        running.exception()
        raise
