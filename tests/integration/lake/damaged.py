"""A copy of a flow with many kinds of damage, each in a slot of its own.

A slot is a set of keys of one partition to which the same happens in every slot. The audit looks at
partitions and keys apart from each other, so one run of it looks for each damage by itself. Damage
to what a partition has in common, such as its settings, has a partition for itself.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from time import time
from typing import Any, NamedTuple

import pyarrow as pa
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess
from tests.integration.lake.history import Sent, Story, contents, source
from tests.integration.pipeline.world import World, eventually, running

from holdfast.client.topics import Topics
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.commands import Command
from holdfast.flows.journal import Outcome
from holdfast.flows.keys import partition_of
from holdfast.flows.registry import Limits
from holdfast.flows.status import ENTRY
from holdfast.kafka.topic_ids import look_up
from holdfast.pipeline.audit.verification import Example, Verification
from holdfast.pipeline.raw_zone.table import COLUMNS, RawTable
from holdfast.pipeline.raw_zone.zone import table_location

SCHEMA = "n BIGINT"
LARGEST = 20_000
"""Bytes of a batch that processed, held and dlq take."""
MOST_HELD = 4
FORGED = [
    ("holdfast-source-topic", b"elsewhere"),
    ("holdfast-source", b"0:1"),
    ("holdfast-error", b"dead-lettered"),
    ("holdfast-error-message", b"forged"),
    ("holdfast-source-topic", b"elsewhere"),
    ("holdfast-failed-at", b"never"),
]
"""Headers with which an event might be taken for something else."""
NOWHERE = 100_000
"""From here on there are no events. The slot's number on top tells whose record it is."""
PATIENCE_S = 240.0
_HELD = ("released", "dead", "over", "stays")


class Slot:
    """A partition, and keys in it by what happens to them: `slot.free`, `slot.released`, ..."""

    def __init__(self, number: int, partition: int, partitions: int) -> None:
        self.number = number
        self.partition = partition
        self._partitions = partitions
        self._keys: dict[str, bytes] = {}

    def __getattr__(self, name: str) -> bytes:
        if name not in self._keys:
            keys = (f"{name}-{self.number}-{n}".encode() for n in range(100_000))
            fits = (k for k in keys if partition_of(k, self._partitions) == self.partition)
            self._keys[name] = next(fits)
        return self._keys[name]


def live(kafka: BrokerProcess, slots: Sequence[Slot], partitions: int) -> tuple[World, list[Sent]]:
    """Equal events in every slot: they pass, are held, are released, go to the dead letters for
    each of the reasons, and come behind a drain. With all that ever was in held, which is trimmed.
    """
    limits = Limits(key_events=MOST_HELD)
    world = World(kafka, partitions, schema=SCHEMA, limits=limits, overflow="dead-letter")
    limit_sizes(world)
    clock = count(round(time() * 1000) - 600_000)  # times that the gate could not have made up

    def send(name: str, times: int = 1, value: bytes | None = None, headers: Any = ()) -> None:
        for slot in slots:
            for number in range(times):
                own = headers or [("a", b"%d" % number), ("b", None), ("a", b"")]
                world.producer.produce(
                    world.names.events,
                    value or b'{"n": %d}' % number,
                    None if name == "keyless" else getattr(slot, name),
                    partition=slot.partition,
                    timestamp=next(clock),
                    headers=[("slot", b"%d" % slot.number), *own],
                )
        assert world.producer.flush(PATIENCE_S) == 0

    def commands() -> CommandBuilder:
        return CommandBuilder("tests", round(time() * 1000))

    def ask(*asked: Command) -> None:
        """All at once: to wait for each would take longer than all the rest."""
        for delivery in world.flow.append(asked):
            delivery.result(PATIENCE_S)

    def wait(condition: Callable[[], Any], what: str) -> None:
        eventually(condition, what, PATIENCE_S)

    with running(world):
        ask(*(commands().hold(getattr(slot, name)) for name in _HELD for slot in slots))
        wait(lambda: _count(world, Outcome.HELD) == len(_HELD) * len(slots), "holds")
        send("free", 4)
        send("released", 3)
        send("free")
        send("dead", 2)
        send("over", MOST_HELD)
        send("stays", 2)
        send("keyless")
        send("free", value=b"invalid")
        send("forged", value=b"invalid", headers=FORGED)
        send("forged", headers=FORGED)
        send("stays", headers=FORGED)
        send("large", value=b'{"n": 1, "x": "%s"}' % (b"x" * 30_000))
        wait(world.is_taken, "the first events")
        wait(lambda: _count(world, Outcome.OVERFLOW_BEGUN) == len(slots), "overflows")
        send("over", 2)
        send("free")
        wait(world.is_taken, "the events over the limit")
        rows = contents(world, world.names.held)
        ask(*(commands().dead_letter(slot.dead) for slot in slots))
        ask(*(commands().release(slot.released) for slot in slots))
        wait(lambda: _count(world, Outcome.DRAINED) == len(slots), "drains")
        wait(lambda: len(world.read(world.names.dlq)) == 7 * len(slots), "dead letters")
        send("released")
        send("free", 2)
        wait(world.is_taken, "the last events")
    return world, rows


def limit_sizes(world: World) -> None:
    topics = Topics(world.connection)
    for topic in (world.names.processed, world.names.held, world.names.dlq):
        topics.set_config(topic, {"max.message.bytes": str(LARGEST)})


def _count(world: World, outcome: Outcome) -> int:
    return sum(record.outcome is outcome for record in world.journal())


class Place(NamedTuple):
    """A record of a partition of a log."""

    log: str
    partition: int
    index: int  # type: ignore[assignment]  # hides the method of tuples


class Copy:
    """The logs of a flow and its raw zone, as lists that can be changed."""

    def __init__(self, world: World, held: list[Sent]) -> None:
        self.partitions = world.partitions
        names = world.names
        self._names = {
            "events": names.events, "journal": names.journal, "status": names.status,
            "held": names.held, "processed": names.processed, "dlq": names.dlq,
        }  # fmt: skip
        self.control = [(m.key(), m.value()) for m in world.read(names.control, 1)]
        self.logs: dict[str, list[list[Sent]]] = {}
        for log, topic in self._names.items():
            parts: list[list[Sent]] = [[] for _ in range(self.partitions)]
            for sent in held if log == "held" else contents(world, topic):
                parts[sent[4]].append(sent)
            self.logs[log] = parts
        self._raw: dict[tuple[int, int], tuple[Sent, ...]] = {
            (p, o): (sent,)
            for p, part in enumerate(self.logs["events"])
            for o, sent in enumerate(part)
        }
        self.positions = _committed(world)

    def find(self, log: str, partition: int, key: bytes | None, nth: int = 0) -> Place:
        """The nth record of a key; from the end if negative."""
        found = [i for i, sent in enumerate(self.logs[log][partition]) if sent[0] == key]
        return Place(log, partition, found[nth])

    def outcome(self, partition: int, outcome: str, key: bytes | None = None) -> Place:
        """A record of the journal."""
        for index, (of, value, *_) in enumerate(self.logs["journal"][partition]):
            if of == key and json.loads(value or b"{}")["outcome"] == outcome:
                return Place("journal", partition, index)
        raise LookupError(outcome)

    def entry(self, partition: int, key: bytes) -> Place:
        """The last record of a key in status."""
        return self.find("status", partition, ENTRY + key, -1)

    def get(self, place: Place) -> Sent:
        return self.logs[place.log][place.partition][place.index]

    def take(self, place: Place) -> Sent:
        return self.logs[place.log][place.partition].pop(place.index)

    def put(self, log: str, partition: int, sent: Sent) -> None:
        """At the end; in held, where its source belongs."""
        rows = self.logs[log][partition]
        rows.append((*sent[:4], partition))
        if log == "held":
            rows.sort(key=source)

    def change(
        self, place: Place, *, key: Any = ..., value: Any = ..., headers: Any = ..., at: Any = ...
    ) -> None:
        old = self.get(place)
        new = [was if now is ... else now for was, now in zip(
            old, (key, value, headers, at), strict=False)]  # fmt: skip
        self.logs[place.log][place.partition][place.index] = (*new, old[4])  # type: ignore[assignment]

    def say(self, place: Place, **fields: Any) -> None:
        """Change fields of a JSON record."""
        said = json.loads(self.get(place)[1] or b"{}")
        self.change(place, value=json.dumps({**said, **fields}).encode())

    def dead_letter(self, place: Place, kind: str, *, move: bool = True) -> None:
        """A record as a dead letter of its partition."""
        sent = self.take(place) if move else self.get(place)
        key, value, headers, at, _ = sent
        why = [("holdfast-error", kind.encode()), ("holdfast-error-message", b"because")]
        kept = None if kind == "too-large" else value
        partition = source(sent)[0]
        self.put("dlq", partition, (key, kept, [*headers, *why], at, partition))

    def come_out(self, place: Place, log: str = "processed") -> None:
        """A dead letter as a record that came out."""
        key, value, headers, at, partition = self.take(place)
        self.put(log, partition, (key, value, headers[:-2], at, partition))

    def write(self, kafka: BrokerProcess, spark: SparkSession, lake: str) -> Story:
        """All of it, as another flow."""
        world = World(kafka, self.partitions, schema=SCHEMA)
        for key, value in self.control:
            world.producer.produce(world.names.control, value, key)
        for log, parts in self.logs.items():
            topic = f"{world.flow.name}.{log}"
            for partition, records in enumerate(parts):
                for key, value, headers, at, _ in records:
                    world.producer.produce(
                        topic, value, key, partition=partition, timestamp=at, headers=headers
                    )
        assert world.producer.flush(PATIENCE_S) == 0
        limit_sizes(world)  # now: a limit is on batches, and this producer's are large
        _commit(world, self.positions)
        story = Story(world, lake)
        self._land(story, spark)
        return story

    def land(self, partition: int, offset: int, *records: Sent) -> None:
        """The rows that the raw zone has of an offset."""
        self._raw[partition, offset] = records

    def _land(self, story: Story, spark: SparkSession) -> None:
        topic = story.world.names.events
        rows = [
            (topic, p, o, _utc(at), key, value, _pairs(headers), _utc(at).date())
            for (p, o), landed in self._raw.items()
            for key, value, headers, at, _ in landed
        ]
        table = RawTable(spark, table_location(story.lake, story.world.flow.name))
        before = table.open()
        topic_id = look_up(story.world.settings, topic).id
        ends = {p: len(part) for p, part in enumerate(self.logs["events"])}
        landed = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], _RAW)
        table.append(spark.createDataFrame(landed).coalesce(1), before, ends, topic_id)
        table.close()


_RAW = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("date", pa.date32()),
    ]
)


def _utc(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _pairs(headers: list[tuple[str, Any]]) -> list[dict[str, Any]] | None:
    return [{"key": name, "value": value} for name, value in headers] or None


def _committed(world: World) -> list[TopicPartition]:
    settings = {"bootstrap.servers": world.kafka.bootstrap, "group.id": world.names.group}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    places = [TopicPartition(world.names.events, p) for p in range(world.partitions)]
    found: list[TopicPartition] = consumer.committed(places, timeout=PATIENCE_S)
    consumer.close()
    return found


def _commit(world: World, positions: list[TopicPartition]) -> None:
    settings = {"bootstrap.servers": world.kafka.bootstrap, "group.id": world.names.group}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    consumer.commit(
        offsets=[
            TopicPartition(world.names.events, p.partition, p.offset, metadata=p.metadata)
            for p in positions
        ],
        asynchronous=False,
    )
    consumer.close()


Damage = Callable[[Copy, Slot], None]


def named_by_slot(found: Verification, copy: Copy, alone: Mapping[int, int]) -> dict[int, set[str]]:
    """The faults of each slot. `alone`: the slots that have a partition for themselves, by
    partition."""
    named: dict[int, set[str]] = defaultdict(set)
    for check in found.checks:
        for each in check.found:
            assert each.count == len(each.examples), f"not all of {each.fault} are listed"
            for example in each.examples:
                slot = alone.get(example.partition) if example.log != "control" else None
                named[_slot_of(example, copy) if slot is None else slot].add(each.fault.value)
    return named


def _slot_of(example: Example, copy: Copy) -> int:
    p, o = example.partition, example.offset
    match example.log:
        case "control":
            return _slot_in(copy.control[o][0])
        case "journal" | "status":
            return _slot_in(copy.logs[example.log][p][o][0])
        case "record without source":
            headers = copy.logs["processed"][p][o][2]
        case _:
            if o >= NOWHERE:
                return o - NOWHERE
            headers = copy.logs["events"][p][o][2]
    return int(dict(headers)["slot"])


def _slot_in(key: bytes | None) -> int:
    assert key is not None
    return int(key.split(b"-")[1])
