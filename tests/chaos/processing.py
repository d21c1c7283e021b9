"""Processors under stress: members come and go every second, and others meddle with their pauses.

`python -m tests.chaos processing --seconds 120 --seed 7` runs over both brokers and both kinds of
rebalance. What must hold at the end: every message processed, per partition in order within each
ownership, nothing committed that was not processed, no processor ended by an error.
"""

import argparse
import random
import secrets
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arroyo.backends.kafka import KafkaPayload, build_kafka_consumer_configuration
from arroyo.errors import ConsumerError
from arroyo.processing.strategies import (
    MessageRejected,
    ProcessingStrategy,
    ProcessingStrategyFactory,
)
from arroyo.types import BrokerValue, Commit, Message, Partition, Topic
from confluent_kafka import Producer
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker
from tests.clients import committed, create_topic

from holdfast.processing import KafkaConsumer, StreamProcessor

PARTITIONS = 6
MEMBERS = 3
CHANGE_EVERY_SECONDS = 1.0
CATCH_UP_SECONDS = 60.0
BROKERS = {"apache": ApacheKafka, "embedded": EmbeddedBroker}
ASSIGNORS = ["range", "cooperative-sticky"]


@dataclass
class Ledger:
    """The messages that all members have processed, and every broken promise."""

    finished: dict[int, set[int]] = field(
        default_factory=lambda: {p: set() for p in range(PARTITIONS)}
    )
    faults: list[str] = field(default_factory=list)
    processed: int = 0
    ownerships: int = 0

    def fault(self, text: str) -> None:
        self.faults.append(text)


class Worker(ProcessingStrategy[KafkaPayload]):
    """Keeps messages in flight, refuses now and then, and does not always finish in time."""

    def __init__(self, ledger: Ledger, commit: Commit, seed: int, start: Mapping[Partition, int]):
        self._ledger = ledger
        self._commit = commit
        self._rng = random.Random(seed)
        self._next = {p.index: offset for p, offset in start.items()}
        self._in_flight: deque[BrokerValue[KafkaPayload]] = deque()
        self._closed_until = 0.0
        self._polls = 0

    def poll(self) -> None:
        self._polls += 1
        if self._polls % 50 == 0 and self._rng.random() < 0.1:
            self._closed_until = time.monotonic() + self._rng.uniform(0.0, 0.3)
        if time.monotonic() >= self._closed_until:
            self._finish(len(self._in_flight) - self._rng.randint(0, len(self._in_flight) // 2))

    def submit(self, message: Message[KafkaPayload]) -> None:
        if time.monotonic() < self._closed_until or len(self._in_flight) > 5000:
            raise MessageRejected
        value = message.value
        assert isinstance(value, BrokerValue)
        index = value.partition.index
        if value.offset != self._next.get(index):
            self._ledger.fault(f"{index}:{value.offset} came, {self._next.get(index)} was due")
        self._next[index] = value.offset + 1
        self._in_flight.append(value)

    def _finish(self, count: int) -> None:
        done: dict[Partition, int] = {}
        for _ in range(count):
            value = self._in_flight.popleft()
            self._ledger.finished[value.partition.index].add(value.offset)
            self._ledger.processed += 1
            done[value.partition] = value.offset + 1
        self._commit(done)

    def close(self) -> None:
        return

    def terminate(self) -> None:
        return

    def join(self, timeout: float | None = None) -> None:
        share = self._rng.choice([0.0, 0.5, 1.0, 1.0])
        self._finish(int(len(self._in_flight) * share))
        self._commit({}, force=True)


class Workers(ProcessingStrategyFactory[KafkaPayload]):
    def __init__(self, ledger: Ledger, rng: random.Random) -> None:
        self._ledger = ledger
        self._rng = rng

    def create_with_partitions(
        self, commit: Commit, partitions: Mapping[Partition, int]
    ) -> ProcessingStrategy[KafkaPayload]:
        self._ledger.ownerships += 1
        return Worker(self._ledger, commit, self._rng.randrange(1 << 30), partitions)


class Member:
    """A processor on a thread of its own, whose pauses somebody meddles with."""

    def __init__(self, ledger: Ledger, config: Mapping[str, Any], topic: str, seed: int) -> None:
        self._ledger = ledger
        self._rng = random.Random(seed)
        self._consumer = KafkaConsumer(config)
        self._processor: StreamProcessor[KafkaPayload] = StreamProcessor(
            self._consumer, Topic(topic), Workers(ledger, random.Random(seed)), join_timeout=1.0
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._processor.run()
        except BaseException as error:
            self._ledger.fault(f"a processor ended: {error!r}")

    def meddle(self) -> None:
        """Pause and resume at random, as any other component may."""
        try:
            partitions = [p for p in self._consumer.tell() if self._rng.random() < 0.5]
            call = self._rng.choice([self._consumer.pause, self._consumer.resume])
            call(partitions)
        except (ConsumerError, RuntimeError):
            pass  # revoked or closed meanwhile

    def let_go(self) -> None:
        try:
            self._consumer.resume([*self._consumer.tell()])
        except (ConsumerError, RuntimeError):
            pass

    def stop(self) -> None:
        self._processor.signal_shutdown()
        self._thread.join(60)
        if self._thread.is_alive():
            self._ledger.fault("a processor does not stop")


class Load:
    """Produces numbered messages to all partitions as fast as is asked for."""

    def __init__(self, broker: BrokerProcess, topic: str, rate: int) -> None:
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 20})
        self._topic = topic
        self._rate = rate
        self._stop = threading.Event()
        self.sent = [0] * PARTITIONS
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            for _ in range(self._rate // 20):
                partition = min(range(PARTITIONS), key=self.sent.__getitem__)
                try:
                    self._producer.produce(self._topic, b"x" * 200, partition=partition)
                except BufferError:
                    break
                self.sent[partition] += 1
            self._producer.poll(0)

    def finish(self) -> None:
        self._stop.set()
        self._thread.join()
        self._producer.flush()


def stress(
    broker: BrokerProcess, assignor: str, seconds: float, seed: int, rate: int = 20_000
) -> Ledger:
    """Run members for so long under load, then let them catch up. -> what came of it"""
    rng = random.Random(seed)
    topic = create_topic(broker, f"stress-{assignor}-{seed}", PARTITIONS)
    config = build_kafka_consumer_configuration(
        {},
        group_id=topic,
        bootstrap_servers=[broker.bootstrap],
        enable_auto_commit=False,
        override_params={
            "partition.assignment.strategy": assignor,
            "heartbeat.interval.ms": 200,
            "session.timeout.ms": 10_000,
            "log_level": 0,
        },
    )
    ledger = Ledger()

    def join() -> Member:
        return Member(ledger, config, topic, rng.randrange(1 << 30))

    load = Load(broker, topic, rate)
    members = [join()]
    end, change_at = time.monotonic() + seconds, time.monotonic() + CHANGE_EVERY_SECONDS
    while time.monotonic() < end:
        time.sleep(rng.uniform(0.0, 0.05))
        rng.choice(members).meddle()
        if time.monotonic() >= change_at:
            change_at += CHANGE_EVERY_SECONDS
            if len(members) < MEMBERS and (len(members) == 1 or rng.random() < 0.5):
                members.append(join())
            else:
                members.pop(rng.randrange(len(members))).stop()
    load.finish()
    _catch_up(ledger, members, load.sent)
    for member in members:
        member.stop()
    _settle(ledger, broker, topic, load.sent)
    return ledger


def _catch_up(ledger: Ledger, members: Sequence[Member], sent: Sequence[int]) -> None:
    end = time.monotonic() + CATCH_UP_SECONDS
    while time.monotonic() < end and any(
        len(ledger.finished[p]) < sent[p] for p in range(PARTITIONS)
    ):
        for member in members:
            member.let_go()
        time.sleep(0.05)


def _settle(ledger: Ledger, broker: BrokerProcess, topic: str, sent: Sequence[int]) -> None:
    for partition in range(PARTITIONS):
        lost = set(range(sent[partition])) - ledger.finished[partition]
        if lost:
            ledger.fault(f"{partition}: {len(lost)} lost, the first at {min(lost)}")
        offset = committed(broker, topic, topic, partition) or 0
        if not set(range(offset)) <= ledger.finished[partition]:
            ledger.fault(f"{partition}: committed {offset}, which is not finished")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos processing", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="for each combination")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--broker", choices=list(BROKERS), action="append")
    arguments = parser.parse_args(argv)
    faults = 0
    for kind in arguments.broker or BROKERS:
        for assignor in ASSIGNORS:
            with tempfile.TemporaryDirectory(prefix="holdfast-stress-") as scratch:
                with BROKERS[kind](Path(scratch)) as broker:
                    ledger = stress(broker, assignor, arguments.seconds, arguments.seed)
            faults += len(ledger.faults)
            for fault in ledger.faults[:20]:
                print(f"FAULT: {fault}")
            print(
                f"{kind}, {assignor}, seed {arguments.seed}: {ledger.processed:,} processed in "
                f"{ledger.ownerships} ownerships, "
                f"{'NOT as promised' if ledger.faults else 'all as promised'}",
                flush=True,
            )
    return 1 if faults else 0
