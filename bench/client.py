"""The client against bare confluent-kafka, and the command line against a bare Python start.

`produce`: SDK `send` against a bare loop that does the same: same librdkafka settings, same
records, a callback that looks at every delivery report. `consume`: iteration over records in a
group against a bare `consume(n)` loop, same librdkafka settings, both committing as often, and both
measured once they are under way: a `consume(n)` returns only when n records were fetched, so a
clock that begins at the first record would spare it that fetch. `cli_start`: `holdfast --help`
against `python -c pass`, in wall time.

The processor time of the measured thread is told, too: others who use the machine change it less.
Runs alternate and the median counts. The broker is the embedded one, or Apache Kafka with
`--apache`, or a running one with `--bootstrap`. The last line is JSON.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from confluent_kafka import Consumer, KafkaError, Producer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.brokers import ApacheKafka, EmbeddedBroker

import holdfast

T = TypeVar("T")

BARS = {"produce": 0.8, "consume": 0.8, "cli_start": 4.0}
PARTITIONS = 6
VALUE = b"x" * 200
BATCH = 1000
COMMIT_COUNT = 100_000
PRODUCER = {"acks": "all", "enable.idempotence": True, "partitioner": "murmur2_random"}
CONSUMER = {
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "partition.assignment.strategy": "cooperative-sticky",
    "fetch.queue.backoff.ms": 10,
    "fetch.wait.max.ms": 100,
}


class Speed(NamedTuple):
    """Records a second, and the processor time that one record took of the measured thread."""

    rate: float
    processor_ns: float


class Clock:
    """Begins to run when it is made."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.thread_time()

    def speed(self, records: int) -> Speed:
        wall, processor = time.perf_counter() - self._wall, time.thread_time() - self._processor
        return Speed(records / wall, processor / records * 1e9)


def bare_produce(bootstrap: str, topic: str, keys: list[bytes]) -> Speed:
    producer = Producer({"bootstrap.servers": bootstrap, **PRODUCER})
    failed = 0

    def report(error: KafkaError | None, _: Any) -> None:
        nonlocal failed
        if error is not None:
            failed += 1

    clock = Clock()
    for key in keys:
        while True:
            try:
                producer.produce(topic, VALUE, key, on_delivery=report)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    producer.flush()
    assert not failed
    return clock.speed(len(keys))


def sdk_produce(client: holdfast.Client, topic: str, keys: list[bytes]) -> Speed:
    with client.producer() as producer:
        clock = Clock()
        for key in keys:
            producer.send(topic, VALUE, key=key)
        producer.flush()
        return clock.speed(len(keys))


def bare_consume(bootstrap: str, topic: str, count: int) -> Speed:
    group = str(uuid.uuid4())
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, **CONSUMER})
    consumer.subscribe([topic])
    clock = Clock()
    warm_up = count // 10
    read, size = -warm_up, 0
    commit_at = read + COMMIT_COUNT
    while read < count:
        for message in consumer.consume(BATCH, 1.0):
            if message.error() is not None:
                continue
            if not read:
                clock = Clock()
            size += len(message.value() or b"")
            read += 1
        if read >= commit_at:
            consumer.commit(asynchronous=False)
            commit_at = read + COMMIT_COUNT
    consumer.commit(asynchronous=False)
    speed = clock.speed(read)
    consumer.close()
    return speed


def sdk_consume(client: holdfast.Client, topic: str, count: int) -> Speed:
    clock = Clock()
    warm_up = count // 10
    read, size = -warm_up, 0
    group = str(uuid.uuid4())
    with client.consumer(topic, group=group, commit_count=COMMIT_COUNT) as consumer:
        for record in consumer.records(limit=warm_up + count):
            if not read:
                clock = Clock()
            size += len(record.value or b"")
            read += 1
        consumer.commit()
        return clock.speed(read)


def start(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def alternate(bare: Callable[[], T], ours: Callable[[], T], rounds: int) -> tuple[list[T], list[T]]:
    """Both, run in turns so that a change of the machine's mood hits both."""
    bare(), ours()
    pairs = [(bare(), ours()) for _ in range(rounds)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def median(speeds: list[Speed]) -> Speed:
    return Speed(*map(statistics.median, zip(*speeds, strict=True)))


def broker(arguments: argparse.Namespace, folder: Path) -> AbstractContextManager[Any]:
    if arguments.bootstrap:
        return nullcontext(SimpleNamespace(bootstrap=arguments.bootstrap))
    return ApacheKafka(folder) if arguments.apache else EmbeddedBroker(folder, {"flush": "os"})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--apache", action="store_true")
    parser.add_argument("--bootstrap")
    arguments = parser.parse_args()
    results: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, broker(arguments, Path(folder)) as running:
        with holdfast.connect(running.bootstrap) as client:
            topic = f"bench-{uuid.uuid4().hex[:8]}"
            client.topics.create(topic, partitions=PARTITIONS)
            keys = [b"key-%d" % (i % 10_000) for i in range(arguments.records)]
            for name, bare, ours in (
                ("produce", lambda: bare_produce(running.bootstrap, topic, keys),
                 lambda: sdk_produce(client, topic, keys)),
                ("consume", lambda: bare_consume(running.bootstrap, topic, len(keys)),
                 lambda: sdk_consume(client, topic, len(keys))),
            ):  # fmt: skip
                theirs, mine = map(median, alternate(bare, ours, arguments.rounds))
                results[name] = round(mine.rate / theirs.rate, 2)
                print(
                    f"{name}: bare {theirs.rate:,.0f}/s ({theirs.processor_ns:.0f} ns of its "
                    f"thread a record), SDK {mine.rate:,.0f}/s ({mine.processor_ns:.0f} ns), "
                    f"ratio {results[name]}"
                )
    program = str(Path(sys.executable).parent / "holdfast")
    starts = alternate(
        lambda: start([sys.executable, "-c", "pass"]), lambda: start([program, "--help"]), 30
    )
    python, help_ = map(statistics.median, starts)
    results["cli_start"] = round(help_ / python, 2)
    print(f"cli_start: python {python * 1e3:.1f} ms, holdfast --help {help_ * 1e3:.1f} ms")
    met = {
        name: value <= BARS[name] if name == "cli_start" else value >= BARS[name]
        for name, value in results.items()
    }
    print(json.dumps({**results, "bars": BARS, "met": all(met.values())}))


if __name__ == "__main__":
    main()
