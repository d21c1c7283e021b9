"""The asyncio variants, over both brokers."""

import asyncio
import threading
from collections import deque
from functools import partial
from typing import Any

import pytest
from confluent_kafka import KafkaError
from tests.clients import DEADLINE_S

import holdfast
from holdfast.errors import ConflictError, HoldfastError, RecordTooLargeError


def committed(client: holdfast.Client, group: str) -> int | None:
    return client.groups.describe(group).lag[0].committed


def test_records_go_out_and_come_in_while_the_loop_runs(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)

    async def main() -> tuple[list[int], list[str]]:
        async with client.async_producer(kafka={"queue.buffering.max.messages": 100}) as producer:
            deliveries = [await producer.send(topic, str(i)) for i in range(1_000)]
            offsets = [(await delivery).offset for delivery in deliveries]
        async with client.async_consumer(topic, group=group) as consumer:
            texts = [record.text() async for record in consumer.records(until="end")]
        return offsets, texts

    offsets, texts = asyncio.run(main())
    assert offsets == list(range(1_000))
    assert texts == [str(i) for i in range(1_000)]
    assert committed(client, group) == 1_000


def test_a_failed_delivery_raises_where_it_is_awaited(client: holdfast.Client, topic: str) -> None:
    client.topics.create(topic, config={"max.message.bytes": "1000"})

    async def main() -> None:
        async with client.async_producer() as producer:
            good = await producer.send(topic, "fits")
            assert (await good).offset == 0
            bad = await producer.send(topic, "x" * 5_000)
            with pytest.raises(RecordTooLargeError):
                await bad

    asyncio.run(main())


def test_run_awaits_handlers_in_order_retries_and_dead_letters(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    client.topics.create(f"{topic}.dlq")
    for i in range(10):
        client.send(topic, "bad" if i == 4 else str(i))
    client.close()
    handled: list[int] = []
    failures = [ConnectionError(), TimeoutError()]

    async def handle(record: holdfast.Record) -> None:
        await asyncio.sleep(0)
        if record.offset == 2 and failures:
            raise failures.pop()
        handled.append(int(record.text()))

    async def main() -> None:
        async with client.async_consumer(topic, group=group) as consumer:
            await consumer.run(handle, dead_letter=f"{topic}.dlq", until="end")

    asyncio.run(main())
    assert handled == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert committed(client, group) == 10
    with client.consumer(f"{topic}.dlq") as consumer:
        (letter,) = consumer.records(until="end")
    assert letter.header("holdfast-source") == b"0:4"


def test_a_cancelled_run_leaves_the_record_in_hand_uncommitted(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    for i in range(5):
        client.send(topic, str(i))
    client.close()

    async def main() -> None:
        reached = asyncio.Event()

        async def handle(record: holdfast.Record) -> None:
            if record.offset == 3:
                reached.set()
                await asyncio.sleep(3600)

        async with client.async_consumer(topic, group=group) as consumer:
            task = asyncio.create_task(consumer.run(handle, dead_letter=f"{topic}.dlq"))
            await asyncio.wait_for(reached.wait(), 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert committed(client, group) == 3
    assert f"{topic}.dlq" not in [t.name for t in client.topics.list()]


def test_leaving_the_loop_leaves_the_record_uncommitted(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    for i in range(5):
        client.send(topic, str(i))
    client.close()

    async def main() -> None:
        async with client.async_consumer(topic, group=group) as consumer:
            await consumer.seek(1)
            async for record in consumer:
                if record.offset == 3:
                    break

    asyncio.run(main())
    assert committed(client, group) == 3


def texts(client: holdfast.Client, topic: str) -> list[str]:
    with client.consumer(topic) as consumer:
        return [record.text() for record in consumer.records(until="end")]


def test_a_transaction_commits_records_and_offsets_together(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    client.topics.create(f"{topic}-out")
    for i in range(3):
        client.send(topic, str(i)).result()

    async def main() -> None:
        async with (
            client.async_producer(transactional_id=topic) as producer,
            client.async_consumer(topic, group=group, auto_commit=False) as consumer,
        ):
            async for record in consumer.records(limit=3):
                async with producer.transaction() as transaction:
                    await producer.send(f"{topic}-out", record.value)
                    await transaction.send_offsets(consumer)

    asyncio.run(main())
    assert texts(client, f"{topic}-out") == ["0", "1", "2"]
    assert committed(client, group) == 3


@pytest.mark.parametrize("how", ["error", "cancellation"])
def test_a_transaction_that_is_left_early_is_aborted_and_another_can_follow(
    client: holdfast.Client, topic: str, how: str
) -> None:
    client.topics.create(topic)

    async def leave_early(producer: holdfast.AsyncProducer) -> None:
        async with producer.transaction():
            await (await producer.send(topic, "undone"))
            await producer.send(topic, "undone, too")
            if how == "error":
                raise LookupError
            await asyncio.sleep(3600)

    async def main() -> None:
        async with client.async_producer(transactional_id=topic) as producer:
            task = asyncio.create_task(leave_early(producer))
            if how == "error":
                with pytest.raises(LookupError):
                    await task
            else:
                await asyncio.sleep(0.5)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            async with producer.transaction():
                await producer.send(topic, "done")

    asyncio.run(main())
    assert texts(client, topic) == ["done"]


def test_a_transaction_needs_a_transactional_producer(client: holdfast.Client) -> None:
    async def main() -> None:
        async with client.async_producer() as producer:
            with pytest.raises(ConflictError):
                await producer.transaction().__aenter__()

    asyncio.run(main())


def test_deliveries_reported_by_two_threads_at_once_are_all_passed_on(
    client: holdfast.Client, topic: str
) -> None:
    """Each thread adds its report before the other decides whether the loop has to be woken."""
    client.topics.create(topic)
    both_added = threading.Barrier(2)

    class Reports(deque[Any]):
        def append(self, report: Any) -> None:
            super().append(report)
            both_added.wait(DEADLINE_S)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with client.async_producer() as producer:
            await (await producer.send(topic, "starts it"))
            producer._settled = Reports()
            producer._unsettled += 2
            producer._all_settled.clear()
            error = KafkaError(KafkaError._MSG_TIMED_OUT)
            deliveries = [loop.create_future() for _ in range(2)]
            for delivery in deliveries:
                report = partial(producer._settle, delivery, error, None)  # type: ignore[arg-type]
                threading.Thread(target=report).start()
            async with asyncio.timeout(30):
                await producer.flush()
            assert all(isinstance(each.exception(), HoldfastError) for each in deliveries)

    asyncio.run(main())
