"""confluent-kafka and the shell as tests use them: short ways to send, read, wait, and run."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec
from tests.brokers import BrokerProcess

import holdfast
from holdfast.client.record import Record
from holdfast.client.source import headers_of

DEADLINE_S = 120.0
"""Where waiting longer cannot help. Not a measure: beside other load everything takes longer."""

KEPT = {"retention.ms": "-1"}
"""Topics of records with times of long ago need it, or retention takes them."""

Config = Mapping[str, Any]
Isolation = Literal["read_committed", "read_uncommitted"]
T = TypeVar("T")


def wait_until(condition: Callable[[], T | None], what: str, timeout: float = DEADLINE_S) -> T:
    """The first true value of `condition`; fails with `what` when the deadline passes."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {timeout} s: {what}; last value {value!r}"
        time.sleep(0.02)


def connection(broker: BrokerProcess) -> dict[str, Any]:
    """Where to connect; a broker that was away is found again soon."""
    return {"bootstrap.servers": broker.bootstrap, "reconnect.backoff.max.ms": 300}


def admin(broker: BrokerProcess) -> AdminClient:
    return AdminClient(connection(broker))


def done(futures: Mapping[Any, Any]) -> dict[Any, Any]:
    """The results of an admin call, raising the first error."""
    return {key: future.result(DEADLINE_S) for key, future in futures.items()}


def create_topic(
    broker: BrokerProcess, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
) -> str:
    """Create a topic and wait until every partition is served. -> its name"""
    client = admin(broker)
    done(client.create_topics([NewTopic(name, partitions, 1, config=dict(config or {}))]))

    asked = {TopicPartition(name, p): OffsetSpec.latest() for p in range(partitions)}

    def serving() -> bool:
        # Metadata alone is not enough: Apache Kafka shows a leader a moment before it leads.
        try:
            return len(done(client.list_offsets(asked))) == partitions
        except KafkaException:
            return False

    wait_until(serving, f"topic {name} with {partitions} partitions")
    return name


def committed_records(bootstrap: str, topic: str) -> list[Record]:
    """All records of a topic to which no transaction is open.

    Kafka acknowledges a commit before it writes the markers that make the records readable, so
    this waits for the last marker first.
    """
    client = AdminClient({"bootstrap.servers": bootstrap})
    partitions = client.list_topics(topic, DEADLINE_S).topics[topic].partitions
    latest = {TopicPartition(topic, p): OffsetSpec.latest() for p in partitions}

    def ends(isolation: IsolationLevel) -> list[int]:
        answers = done(client.list_offsets(latest, isolation_level=isolation))
        return [answers[partition].offset for partition in latest]

    def settled() -> bool:
        return ends(IsolationLevel.READ_COMMITTED) == ends(IsolationLevel.READ_UNCOMMITTED)

    wait_until(settled, f"no open transaction in {topic}")
    with holdfast.connect(bootstrap) as reader, reader.consumer(topic) as consumer:
        return list(consumer.records(until="end"))


def producer(broker: BrokerProcess, config: Config | None = None) -> Producer:
    return Producer({**connection(broker), "linger.ms": 0, "acks": "all", **(config or {})})


def transactional(
    broker: BrokerProcess, transactional_id: str, config: Config | None = None
) -> Producer:
    """A transactional producer, initialised."""
    made = producer(broker, {"transactional.id": transactional_id, **(config or {})})
    made.init_transactions(DEADLINE_S)
    return made


def send(
    client: Producer,
    topic: str,
    values: Iterable[bytes | None],
    partition: int = 0,
    **record: Any,
) -> list[int]:
    """Produce the values to one partition and wait. -> their offsets, as acknowledged"""
    offsets: list[int] = []
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            offsets.append(offset_of(message))
        else:
            failures.append(error)

    for value in values:
        client.produce(topic, value, partition=partition, on_delivery=delivered, **record)
        client.poll(0)
    assert client.flush(DEADLINE_S) == 0, "not all records were acknowledged in time"
    if failures:
        raise KafkaException(failures[0])
    return offsets


def consumer(broker: BrokerProcess, group: str, config: Config | None = None) -> Consumer:
    config = config or {}
    # Members hear of a rebalance by heartbeat: often, so that tests do not wait for it. In groups
    # of Kafka 4 the broker sets the interval, and librdkafka refuses one of the client's.
    if config.get("group.protocol") != "consumer":
        config = {"heartbeat.interval.ms": 300, **config}
    return Consumer(
        {
            **connection(broker),
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 50,
            **config,
        }
    )


@contextmanager
def open_consumer(
    broker: BrokerProcess, group: str, config: Config | None = None
) -> Iterator[Consumer]:
    client = consumer(broker, group, config)
    try:
        yield client
    finally:
        client.close()


def read(
    broker: BrokerProcess,
    topic: str,
    partition: int = 0,
    start: int = 0,
    isolation: Isolation = "read_committed",
    config: Config | None = None,
) -> list[Message]:
    """All records of one partition from `start` to the end that `isolation` lets a reader see."""
    settings = {"isolation.level": isolation, **(config or {})}
    with open_consumer(broker, "reader-without-group", settings) as client:
        client.assign([TopicPartition(topic, partition, start)])
        return to_end(client, 1)


def to_end(client: Consumer, partitions: int) -> list[Message]:
    """Poll until each of the assigned partitions has come to its end."""
    found: list[Message] = []
    ended: set[int] = set()
    end = time.monotonic() + DEADLINE_S
    while len(ended) < partitions:
        assert time.monotonic() < end, f"no end in sight after {len(found)} records"
        message = client.poll(0.2)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found.append(message)
            ended.discard(partition_of(message))
        elif error.code() == KafkaError._PARTITION_EOF:
            ended.add(partition_of(message))
        elif not error.retriable():
            raise KafkaException(error)
    return found


def next_record(client: Consumer) -> Message:
    """The next record; ends of partitions are passed over."""

    def record() -> Message | None:
        message = client.poll(0.2)
        error = None if message is None else message.error()
        if error is None:
            return message
        if error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        return None

    return wait_until(record, "a record")


def offset_of(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset


def partition_of(message: Message) -> int:
    partition = message.partition()
    assert partition is not None
    return partition


def raw_headers(message: Message) -> list[tuple[str, bytes | None]]:
    found: list[tuple[str, bytes | None]] = []
    for name, value in headers_of(message):
        assert not isinstance(value, str)
        found.append((name, value))
    return found


def values(messages: Iterable[Message]) -> list[bytes | None]:
    return [m.value() for m in messages]


def offsets(messages: Iterable[Message]) -> list[int]:
    return [offset_of(m) for m in messages]


def committed(
    broker: BrokerProcess,
    group: str,
    topic: str,
    partition: int = 0,
    isolation: Isolation = "read_committed",
) -> int | None:
    """The committed offset of a group as a consumer of that isolation sees it; None: none."""
    with open_consumer(broker, group, {"isolation.level": isolation}) as client:
        (found,) = client.committed([TopicPartition(topic, partition)], timeout=DEADLINE_S)
    if found.error is not None:
        raise KafkaException(found.error)
    return found.offset if found.offset >= 0 else None


def poll_until(
    clients: Sequence[Consumer], condition: Callable[[], T], what: str, timeout: float = 30.0
) -> T:
    """Serve all consumers in turn until the condition holds; records that come are dropped."""

    def turn() -> T:
        for client in clients:
            client.poll(0.02)
        return condition()

    return wait_until(turn, what, timeout)


def assigned(client: Consumer) -> set[int]:
    """The partitions that a consumer of one topic has."""
    return {p.partition for p in client.assignment()}


def run_in_shell(broker: BrokerProcess, script: str) -> subprocess.CompletedProcess[str]:
    """A script as documents show it, with our commands on its path and this broker to talk to."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env={
            **os.environ,
            "HOLDFAST_CLIENT_BOOTSTRAP": broker.bootstrap,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
