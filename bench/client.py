"""The client against bare confluent-kafka, and the command line against a bare Python start.

`produce`: SDK `send` against a bare loop that does the same: same librdkafka settings, same
records, a callback that looks at every delivery report. `consume`: iteration over records in a
group against a bare `consume(n)` loop, same librdkafka settings, both committing at the end.
`cli_start`: `holdfast --help` against `python -c pass`, in wall time.

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
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.brokers import ApacheKafka, EmbeddedBroker

import holdfast

BARS = {"produce": 0.8, "consume": 0.8, "cli_start": 4.0}
PARTITIONS = 6
VALUE = b"x" * 200
BATCH = 1000
PRODUCER = {"acks": "all", "enable.idempotence": True, "partitioner": "murmur2_random"}
CONSUMER = {
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "partition.assignment.strategy": "cooperative-sticky",
    "fetch.queue.backoff.ms": 10,
    "fetch.wait.max.ms": 100,
}


def bare_produce(bootstrap: str, topic: str, keys: list[bytes]) -> float:
    producer = Producer({"bootstrap.servers": bootstrap, **PRODUCER})
    failed = 0

    def report(error: KafkaError | None, _: Any) -> None:
        nonlocal failed
        if error is not None:
            failed += 1

    begun = time.perf_counter()
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
    return len(keys) / (time.perf_counter() - begun)


def sdk_produce(client: holdfast.Client, topic: str, keys: list[bytes]) -> float:
    with client.producer() as producer:
        begun = time.perf_counter()
        for key in keys:
            producer.send(topic, VALUE, key=key)
        producer.flush()
        return len(keys) / (time.perf_counter() - begun)


def bare_consume(bootstrap: str, topic: str, count: int) -> float:
    group = str(uuid.uuid4())
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, **CONSUMER})
    consumer.subscribe([topic])
    read = size = 0
    begun = 0.0
    while read < count:
        for message in consumer.consume(BATCH, 1.0):
            if message.error() is not None:
                continue
            if not read:
                begun = time.perf_counter()
            size += len(message.value())
            read += 1
    consumer.commit(asynchronous=False)
    took = time.perf_counter() - begun
    consumer.close()
    return read / took


def sdk_consume(client: holdfast.Client, topic: str, count: int) -> float:
    read = size = 0
    begun = 0.0
    with client.consumer(topic, group=str(uuid.uuid4())) as consumer:
        for record in consumer.records(limit=count):
            if not read:
                begun = time.perf_counter()
            size += len(record.value)
            read += 1
        consumer.commit()
        return read / (time.perf_counter() - begun)


def start(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def alternate(
    bare: Callable[[], float], ours: Callable[[], float], rounds: int
) -> tuple[float, float]:
    """Medians of both, run in turns so that a change of the machine's mood hits both."""
    bare(), ours()
    pairs = [(bare(), ours()) for _ in range(rounds)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


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
                theirs, mine = alternate(bare, ours, arguments.rounds)
                results[name] = round(mine / theirs, 2)
                print(f"{name}: bare {theirs:,.0f}/s, SDK {mine:,.0f}/s, ratio {results[name]}")
    program = str(Path(sys.executable).parent / "holdfast")
    python, help_ = alternate(
        lambda: start([sys.executable, "-c", "pass"]), lambda: start([program, "--help"]), 30
    )
    results["cli_start"] = round(help_ / python, 2)
    print(f"cli_start: python {python * 1e3:.1f} ms, holdfast --help {help_ * 1e3:.1f} ms")
    met = {
        name: value <= BARS[name] if name == "cli_start" else value >= BARS[name]
        for name, value in results.items()
    }
    print(json.dumps({**results, "bars": BARS, "met": all(met.values())}))


if __name__ == "__main__":
    main()
