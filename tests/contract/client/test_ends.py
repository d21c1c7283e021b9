"""Whichever way a producer ends: what was sent arrives, or its number is reported.

Each way is taken in a process of its own, against a broker that runs and one that has gone.
"""

import re
import signal
import subprocess
import sys
import time

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S

import holdfast

SENT = 30_000

PREPARED = """
import asyncio, gc, os, signal, sys, warnings
import holdfast

bootstrap, topic, gone = sys.argv[1], sys.argv[2], sys.argv[3] == "gone"

def send(sender):
    for n in range(int(sys.argv[4])):
        sender.send(topic, b"x" * 100)

def lose_broker():
    if gone:
        print("connected", flush=True)
        sys.stdin.readline()  # the test ends the broker meanwhile
"""

WAYS = {
    "an error in the client's block": """
with holdfast.connect(bootstrap) as client:
    lose_broker()
    send(client)
    raise LookupError("the user's own")
""",
    "an error in the producer's block": """
with holdfast.connect(bootstrap) as client, client.producer() as producer:
    lose_broker()
    send(producer)
    raise LookupError("the user's own")
""",
    "sys.exit": """
with holdfast.connect(bootstrap) as client:
    lose_broker()
    send(client)
    sys.exit(7)
""",
    "Ctrl-C": """
with holdfast.connect(bootstrap) as client:
    lose_broker()
    send(client)
    os.kill(os.getpid(), signal.SIGINT)
""",
    "the end of the interpreter": """
client = holdfast.connect(bootstrap)
lose_broker()
send(client)
""",
    "the garbage collector": """
def forget():
    client = holdfast.connect(bootstrap)
    lose_broker()
    send(client)

forget()
gc.collect()
""",
    "an error in asyncio": """
async def main():
    async with holdfast.connect(bootstrap).async_producer() as producer:
        lose_broker()
        for n in range(int(sys.argv[4])):
            await producer.send(topic, b"x" * 100)
        raise LookupError("the user's own")

asyncio.run(main())
""",
    "a cancellation in asyncio": """
async def main():
    async with asyncio.timeout(3600) as timeout:
        async with holdfast.connect(bootstrap).async_producer() as producer:
            lose_broker()
            for n in range(int(sys.argv[4])):
                await producer.send(topic, b"x" * 100)
            timeout.reschedule(0)
            await asyncio.sleep(3600)

asyncio.run(main())
""",
    "a cancellation of close in asyncio": """
async def main():
    async with asyncio.timeout(3600) as timeout:
        async with holdfast.connect(bootstrap).async_producer() as producer:
            lose_broker()
            for n in range(int(sys.argv[4])):
                await producer.send(topic, b"x" * 100)
            asyncio.get_running_loop().call_later(0.1 if gone else 120, timeout.reschedule, 0)

asyncio.run(main())
""",
}

BY_ERROR = [way for way in WAYS if "error" in way]


def start(way: str, broker: BrokerProcess, topic: str, state: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PREPARED + WAYS[way], broker.bootstrap, topic, state,
         str(SENT)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_everything_sent_arrives_whichever_way_the_producer_ends(
    client: holdfast.Client, kafka: BrokerProcess, topic: str, way: str
) -> None:
    client.topics.create(topic)
    child = start(way, kafka, topic, "there")
    _, errors = child.communicate(timeout=DEADLINE_S)
    (range_,) = client.topics.ranges(topic)
    assert range_.end == SENT, errors
    assert "acknowledged" not in errors
    if way in BY_ERROR:
        assert errors.rstrip().endswith("LookupError: the user's own")
    if way == "sys.exit":
        assert child.returncode == 7
    if way == "Ctrl-C":
        assert child.returncode == -signal.SIGINT


@pytest.mark.parametrize("way", WAYS)
def test_number_of_unacknowledged_records_is_reported(
    fresh_broker: BrokerProcess, topic: str, way: str
) -> None:
    with holdfast.connect(fresh_broker.bootstrap) as client:
        client.topics.create(topic)
    child = start(way, fresh_broker, topic, "gone")
    assert child.stdout is not None
    assert child.stdout.readline() == "connected\n"
    fresh_broker.kill()
    begun = time.monotonic()
    _, errors = child.communicate("go on\n", timeout=DEADLINE_S)
    assert time.monotonic() - begun < 60  # far below the 120 s for which a record is tried
    reported = re.findall(r"(\d+) records that were sent had not been acknowledged", errors)
    assert set(reported) == {str(SENT)}, errors
    if way in BY_ERROR:  # the report is a note on the user's error, which stays what it was
        assert "LookupError: the user's own\n" in errors
        assert "UndeliveredWarning" not in errors
    if way == "sys.exit":
        assert child.returncode == 7


def test_error_in_a_transaction_aborts_it_and_is_raised_unchanged(
    client: holdfast.Client, topic: str
) -> None:
    client.topics.create(topic)

    def fail() -> None:
        with client.producer(transactional_id=topic) as producer, producer.transaction():
            for _ in range(100):
                producer.send(topic, "undone")
            raise LookupError

    with pytest.raises(LookupError) as caught:
        fail()
    assert not getattr(caught.value, "__notes__", [])
    with client.consumer(topic) as consumer:
        assert list(consumer.records(until="end")) == []


def test_error_in_a_transaction_is_not_masked_if_the_broker_has_gone(
    fresh_broker: BrokerProcess, topic: str
) -> None:
    with holdfast.connect(fresh_broker.bootstrap, request_timeout=1) as client:
        client.topics.create(topic)

        def fail() -> None:
            with client.producer(transactional_id=topic) as producer, producer.transaction():
                producer.send(topic, "first").result()
                fresh_broker.kill()
                raise LookupError

        with pytest.raises(LookupError) as caught:
            fail()
    assert "could not be aborted" in "".join(caught.value.__notes__)


FORKED = """
import os, sys
import holdfast
from holdfast.errors import ConflictError

bootstrap, topic = sys.argv[1:]
with holdfast.connect(bootstrap) as client, client.consumer(topic, group=topic) as consumer:
    client.send(topic, "parent").result()
    for record in consumer.records(limit=1):
        pass
    child = os.fork()
    if child == 0:
        for use in (
            lambda: client.send(topic, "child"),
            lambda: client.topics.list(),
            lambda: client.producer(),
            lambda: next(consumer.records()),
            lambda: consumer.commit(),
            lambda: client.groups.describe(topic),
        ):
            try:
                use()
                print("no error")
            except ConflictError as error:
                assert f"process {os.getppid()} " in str(error), error
                assert f"process {os.getpid()}, a fork" in str(error), error
        with holdfast.connect(bootstrap) as own:
            own.send(topic, "child's own").result()
        sys.exit(5)  # through all the blocks, which end without a word
    _, status = os.waitpid(child, 0)
    client.send(topic, "parent again").result()
    print(os.waitstatus_to_exitcode(status))
"""


def test_client_used_after_a_fork_raises_at_once(
    client: holdfast.Client, kafka: BrokerProcess, topic: str
) -> None:
    client.topics.create(topic)
    ended = subprocess.run(
        [sys.executable, "-c", FORKED, kafka.bootstrap, topic],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert ended.stdout == "5\n", ended.stderr
    assert ended.returncode == 0
    with client.consumer(topic) as consumer:
        texts = [record.text() for record in consumer.records(until="end")]
    assert texts == ["parent", "child's own", "parent again"]
