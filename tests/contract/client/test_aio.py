"""The asyncio variants, over both brokers."""

import asyncio

import pytest

import holdfast
from holdfast.errors import RecordTooLargeError


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
