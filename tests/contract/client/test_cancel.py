"""Reads of asyncio end when they are told to, on a topic where nothing comes, over both brokers."""

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S

import holdfast
from holdfast.client.async_consumer import AsyncConsumer
from holdfast.client.consumer_engine import POLL_SECONDS, ConsumerEngine
from holdfast.errors import ConflictError

ENOUGH = 10.0
"""Promised are 0.2 s; a machine that is busy with other things takes longer. A read that cannot be
cancelled takes for ever."""


PROMISED = 0.2
"""Seconds within which a cancelled call ends. A busy machine takes longer, so tests count polls."""

polls: list[object] = []


@pytest.fixture(autouse=True)
def counted_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    refill = ConsumerEngine._refill

    def counted(engine: ConsumerEngine) -> None:
        polls.append(engine)
        refill(engine)

    polls.clear()
    monkeypatch.setattr(ConsumerEngine, "_refill", counted)


@contextmanager
def within_one_poll() -> Iterator[None]:
    """The block ends while at most one poll begins, beside the one that was running."""
    before = len(polls)
    yield
    assert len(polls) - before <= 1
    assert 2 * POLL_SECONDS < PROMISED


@pytest.fixture
def idle(client: holdfast.Client, topic: str) -> str:
    client.topics.create(topic)
    return topic


async def read(consumer: AsyncConsumer) -> None:
    async for record in consumer:
        raise AssertionError(f"{record} on an idle topic")


async def reading(consumer: AsyncConsumer) -> "asyncio.Task[None]":
    """A read that waits for a record by now."""
    task = asyncio.create_task(read(consumer))
    await asyncio.sleep(0.5)
    return task


async def cancel(consumer: AsyncConsumer) -> None:
    task = await reading(consumer)
    with within_one_poll():
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def time_out(consumer: AsyncConsumer) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await read(consumer)


async def fail_in_a_task_group(consumer: AsyncConsumer) -> None:
    async def fail() -> None:
        await asyncio.sleep(0.5)
        raise LookupError

    async def both() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read(consumer))
            tasks.create_task(fail())

    with pytest.raises(ExceptionGroup) as caught:
        await both()
    assert [type(error) for error in caught.value.exceptions] == [LookupError]


async def close_the_iteration(consumer: AsyncConsumer) -> None:
    records = consumer.records()
    task = asyncio.create_task(anext(records, None))
    await asyncio.sleep(0.5)
    with within_one_poll():
        await records.aclose()
        assert await task is None


async def close_the_consumer(consumer: AsyncConsumer) -> None:
    task = await reading(consumer)
    with within_one_poll():
        await consumer.close()
        await task


async def cancel_a_run(consumer: AsyncConsumer) -> None:
    async def handle(record: holdfast.Record) -> None:
        raise AssertionError

    task = asyncio.create_task(consumer.run(handle))
    await asyncio.sleep(0.5)
    with within_one_poll():
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("grouped", [False, True], ids=["alone", "in a group"])
@pytest.mark.parametrize(
    "end",
    [
        cancel,
        time_out,
        fail_in_a_task_group,
        close_the_iteration,
        close_the_consumer,
        cancel_a_run,
    ],
)
def test_read_on_an_idle_topic_ends_at_once(
    client: holdfast.Client,
    idle: str,
    end: Callable[[AsyncConsumer], Awaitable[None]],
    grouped: bool,
) -> None:
    async def main() -> float:
        consumer = client.async_consumer(idle, group=idle if grouped else None)
        async with consumer:
            await end(consumer)
            with within_one_poll():  # and nothing reads on
                await asyncio.sleep(2 * POLL_SECONDS)
            ended = monotonic()
        return monotonic() - ended

    begun = monotonic()
    closing = asyncio.run(main())
    assert monotonic() - begun < 0.5 + ENOUGH
    print(f"closed {closing:.3f} s after the read had ended")


INTERRUPTED = """
import asyncio, sys
import holdfast

async def main():
    client = holdfast.connect(sys.argv[1])
    consumer = client.async_consumer(sys.argv[2], group=sys.argv[2])
    if sys.argv[3] == "with":
        async with consumer:
            print("reads", flush=True)
            async for record in consumer:
                pass
    else:
        print("reads", flush=True)
        async for record in consumer:
            pass

asyncio.run(main())
"""


@pytest.mark.parametrize("closed", ["with", "without"])
def test_ctrl_c_ends_a_read_and_the_process(kafka: BrokerProcess, idle: str, closed: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, kafka.bootstrap, idle, closed],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "reads\n"
    sleep(1.0)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=DEADLINE_S)
    assert child.returncode == -signal.SIGINT, errors
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_cancelled_reads_lose_no_record_and_commit_none(
    client: holdfast.Client, idle: str, group: str
) -> None:
    """Reads are cancelled over and over while records come: some have them in hand already."""
    ended = threading.Event()

    def send() -> None:
        for n in range(300):
            client.send(idle, str(n)).result()
            sleep(0.005)
        ended.set()

    async def main() -> list[int]:
        seen: list[int] = []
        async with client.async_consumer(idle, group=group) as consumer:
            records = consumer.records()
            await asyncio.sleep(0)
            while len(seen) < 300:
                try:
                    async with asyncio.timeout(0.003):
                        seen.append(int((await anext(records)).text()))
                except TimeoutError:
                    pass
        return seen

    sender = threading.Thread(target=send)
    sender.start()
    seen = asyncio.run(main())
    sender.join()
    assert seen == list(range(300))
    # The last one was handed out, and nobody asked for more: it is not done.
    assert client.groups.describe(group).lag[0].committed == 299


def test_consumer_reads_on_after_a_cancelled_read_and_a_cancelled_run(
    client: holdfast.Client, idle: str, group: str
) -> None:
    handled: list[str] = []

    async def handle(record: holdfast.Record) -> None:
        handled.append(record.text())

    async def main() -> list[str]:
        async with client.async_consumer(idle, group=group) as consumer:
            await cancel(consumer)
            await cancel_a_run(consumer)
            client.send(idle, "one").result()
            await consumer.run(handle, limit=1)
            client.send(idle, "two").result()
            return [record.text() async for record in consumer.records(limit=1)]

    assert asyncio.run(main()) == ["two"]
    assert handled == ["one"]
    assert client.groups.describe(group).lag[0].committed == 2


def test_closed_consumer_refuses_everything(client: holdfast.Client, idle: str) -> None:
    async def main() -> None:
        consumer = client.async_consumer(idle)
        async with consumer:
            pass
        await consumer.close()
        with pytest.raises(ConflictError):
            await consumer.seek(0)
        with pytest.raises(ConflictError):
            await anext(consumer.records())

    asyncio.run(main())
