"""A flow on a real broker, its gate without Spark, and what came out of it."""

import dataclasses
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.settings import ClientSettings
from holdfast.client.source import headers_of, source_of
from holdfast.errors import AlreadyExistsError, TransientError
from holdfast.flows.journal import JournalRecord, Outcome, decode_journal
from holdfast.flows.keys import partition_of
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.keeper import Keeper


def eventually(condition: Callable[[], Any], what: str, timeout: float = DEADLINE_S) -> Any:
    end = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {timeout} s: {what}; last value {value!r}"
        time.sleep(0.02)
    return value


class Ended(Exception):
    """The gate wanted the process to end."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(f"{why} ({code})")
        self.code = code


def end_by_exception(code: int, why: str) -> NoReturn:
    raise Ended(code, why)


class Out(NamedTuple):
    """A record that came out, with the coordinate of its source."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    source: tuple[int, int]
    timestamp: int
    headers: list[tuple[str, Any]]


class WallClock:
    """The wall clock of the pipeline in this process, which can be set. Clients keep their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        """Seconds."""
        monkeypatch.setattr("holdfast.pipeline.parts.clock.time_ns", self._read)
        for module in ("holdfast.pipeline.process.reporter", "holdfast.kafka.errors"):
            monkeypatch.setattr(f"{module}.now_ms", lambda: self._read() // 1_000_000)

    def _read(self) -> int:
        return time.time_ns() + round(self.ahead * 1e9)


class World:
    """One flow on one broker."""

    def __init__(
        self,
        kafka: BrokerProcess,
        partitions: int = 2,
        *,
        patience: float = 15.0,
        **definition: Any,
    ) -> None:
        """`patience`: seconds after which the gate's requests are given up, and tried again."""
        self.kafka = kafka
        self.settings = ClientSettings(bootstrap=kafka.bootstrap, request_timeout=patience)
        self.partitions = partitions
        self.client = holdfast.connect(kafka.bootstrap)
        self.flow = self.client.flow(f"f-{uuid.uuid4().hex[:10]}")
        self.names = self.flow.names
        self.connection = Connection(self.settings)
        eventually(lambda: self._create(definition), "the flow's topics")
        self.producer = Producer(
            {
                "bootstrap.servers": kafka.bootstrap,
                "partitioner": "murmur2_random",
                "linger.ms": 0,
                "reconnect.backoff.max.ms": 300,
            }
        )

    def _create(self, definition: dict[str, Any]) -> bool:
        """Apache Kafka names a leader a moment before it leads: what was begun is repeated."""
        try:
            self.flow.create(partitions=self.partitions, **definition)
        except TransientError:
            return False
        except AlreadyExistsError:
            pass
        names = self.names
        topics = [names.events, names.journal, names.status, names.held, names.processed, names.dlq]
        try:
            self.ends(names.control, 1)
            for topic in topics:
                self.ends(topic)
        except TransientError:
            return False
        return True

    def reconnect(self) -> None:
        """A new client for operators: the old one may ask by what it knew before a restart."""
        self.client = holdfast.connect(self.kafka.bootstrap)
        self.flow = self.client.flow(self.flow.name)
        self.connection = Connection(self.settings)

    def send(self, key: bytes | None, *values: bytes | None, **record: Any) -> None:
        """Send events and wait until they are acknowledged."""
        for value in values:
            self.producer.produce(self.names.events, value, key, **record)
        assert self.producer.flush(DEADLINE_S) == 0

    def definition_with(self, **changes: Any) -> FlowDefinition:
        return dataclasses.replace(self.flow.describe(), **changes)

    def home(self, key: bytes) -> int:
        return partition_of(key, self.partitions)

    def ends(self, topic: str, partitions: int | None = None) -> dict[int, int]:
        """The ends that a read_committed reader can reach."""
        places = [Partition(topic, p) for p in range(partitions or self.partitions)]
        return {p.number: end for p, end in Offsets(self.connection).ends(places).items()}

    def read(self, topic: str, partitions: int | None = None) -> list[Message]:
        """All committed records of a topic, partition by partition."""
        found: list[Message] = []
        reader = LogReader(self.connection, isolation="read_committed", timeout=DEADLINE_S)
        places = [Partition(topic, p) for p in range(partitions or self.partitions)]
        starts = Offsets(self.connection).starts(places)
        ends = Offsets(self.connection, committed_only=False).ends(places)
        for place in places:
            for messages in reader.read(place, starts[place], ends[place]):
                found += messages
        reader.close()
        return found

    def out(self, topic: str) -> list[Out]:
        return [_out(message) for message in self.read(topic)]

    def processed(self, key: bytes | None = None) -> list[bytes | None]:
        """The values in processed, of one key if given, in order."""
        return [o.value for o in self.out(self.names.processed) if key is None or o.key == key]

    def journal(self) -> list[JournalRecord]:
        return [decode_journal(m.key(), m.value()) for m in self.read(self.names.journal)]

    def outcomes(self, key: bytes) -> list[Outcome]:
        return [record.outcome for record in self.journal() if record.key == key]

    def wait_for(self, outcome: Outcome, key: bytes, times: int = 1) -> None:
        eventually(
            lambda: self.outcomes(key).count(outcome) >= times, f"{outcome} of {key!r}, {times} x"
        )

    def wait_until_taken(self) -> None:
        """Every event that was sent is committed as taken."""
        eventually(self.is_taken, "every event taken")

    def is_taken(self) -> bool:
        try:
            ends = self.ends(self.names.events)
        except TransientError:
            return False  # asked while the broker is away
        settings = {"bootstrap.servers": self.kafka.bootstrap, "group.id": self.names.group}
        consumer = Consumer({**settings, "isolation.level": "read_committed"})
        places = [TopicPartition(self.names.events, p) for p in ends]
        committed = {p.partition: p.offset for p in consumer.committed(places, timeout=DEADLINE_S)}
        consumer.close()
        return committed == ends

    def check_each_event_once(self) -> None:
        """G1 and G2: each visible event is in exactly one of processed and dlq, or is in held and
        not yet given out; and each key's events come out in order."""
        sources = {(m.partition(), m.offset()) for m in self.read(self.names.events)}
        processed = self.out(self.names.processed)
        dead = [o.source for o in self.out(self.names.dlq)]
        left = [o.source for o in processed] + dead
        assert len(left) == len(set(left)), f"twice: {_repeated(left)}"
        held = [o.source for o in self.out(self.names.held)]
        assert len(held) == len(set(held)), f"twice in held: {_repeated(held)}"
        missing = sources - set(left) - set(held)
        assert not missing, f"lost: {sorted(missing)[:10]}"
        assert set(left) | set(held) <= sources, "something came out that was not sent"
        self._check_order(processed)

    @staticmethod
    def _check_order(processed: list[Out]) -> None:
        last: dict[tuple[bytes | None, int], int] = {}
        for out in processed:
            if out.key is None:
                continue
            key = (out.key, out.source[0])
            assert last.get(key, -1) < out.source[1], f"{key} out of order at {out.source}"
            last[key] = out.source[1]

    def all_out(self) -> bool:
        """Every event has come out, to processed or to the dead letters."""
        sent = len(self.read(self.names.events))
        return len(self.read(self.names.processed)) + len(self.read(self.names.dlq)) == sent


def _out(message: Message) -> Out:
    headers = headers_of(message)
    source = source_of(headers)
    assert source is not None
    return Out(
        message.topic() or "", message.partition() or 0, message.key(), message.value(), source,
        message.timestamp()[1], headers,
    )  # fmt: skip


def _repeated(items: Sequence[Any]) -> list[Any]:
    return sorted({item for item in items if items.count(item) > 1})[:10]


@contextmanager
def gate_of(world: World, **options: Any) -> Iterator[FlowGate]:
    """A gate that has started; without feeder and keeper."""
    gate = FlowGate(world.connection, world.flow.describe(), end=end_by_exception)
    try:
        gate.start(**options)
        yield gate
    finally:
        gate.close()


@contextmanager
def running(world: World) -> Iterator[FlowGate]:
    """A gate with its keeper and a feeder."""
    with gate_of(world) as gate:
        keeper, feeder = Keeper(gate), Feeder(world.connection, gate)
        keeper.start()
        feeder.start()
        try:
            yield gate
        finally:
            gate.stopping.set()
            feeder.stop()
            keeper.stop()
        assert feeder.error is None, repr(feeder.error)
        assert keeper.error is None, repr(keeper.error)
