"""The Kafka Streams peer does the job that the gate is compared with: a comparison with less would
be none."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.load.events import Load, WrongOutputError, check_output, encode_event, fill
from bench.load.progress import Readable
from bench.peers.streams import Application, Store, StreamsGate, compile_peer
from confluent_kafka import Message
from tests.brokers import ApacheKafka
from tests.clients import KEPT, committed, create_topic, producer, read, send, wait_until
from tests.conftest import unique_name

from holdfast.flows.keys import partition_of

PARTITIONS = 2
DEADLINE_S = 60.0

pytestmark = pytest.mark.apache

# A killed member is missed, and its transaction aborted, in seconds.
SOON_MISSED = {"session.timeout.ms": "6000", "producer.transaction.timeout.ms": "3000"}


class Peer:
    """One application with its topics, and short ways to use them."""

    def __init__(self, broker: ApacheKafka, classes: Path, folder: Path, name: str) -> None:
        self.broker = broker
        self.events, self.control, self.processed = (
            f"{name}.{topic}" for topic in ("events", "control", "processed")
        )
        self._name = name
        self._classes = classes
        self._folder = folder
        self._client = producer(broker, {"partitioner": "murmur2_random"})
        self._gate: StreamsGate | None = None

    def start(self, store: Store = "memory") -> None:
        application = Application(
            name=self._name,
            events=self.events,
            control=self.control,
            processed=self.processed,
            store=store,
            settings=SOON_MISSED,
        )
        self._gate = StreamsGate(
            self._folder, self._classes, self.broker.bootstrap, application
        ).start()

    def kill(self) -> None:
        if self._gate is not None:
            self._gate.kill()

    def send(self, key: str | None, value: bytes | None, **record: Any) -> None:
        self._produce(self.events, key, value, **record)

    def hold(self, key: str) -> None:
        self._produce(self.control, key, b"held")

    def release(self, key: str) -> None:
        self._produce(self.control, key, None)

    def output(self) -> list[Message]:
        return [m for p in range(PARTITIONS) for m in read(self.broker, self.processed, p)]

    def values(self, key: str) -> list[bytes | None]:
        return [m.value() for m in self.output() if m.key() == key.encode()]

    def wait_for(self, value: bytes) -> None:
        """Until that event is out."""
        wait_until(lambda: value in [m.value() for m in self.output()], f"{value!r}", DEADLINE_S)

    def wait_until_taken(self, topic: str) -> None:
        """Until it has committed all records of one of its inputs."""
        end = Readable(self.broker.bootstrap, topic, PARTITIONS).offsets()

        def taken() -> int:
            offsets = (committed(self.broker, self._name, topic, p) for p in range(PARTITIONS))
            return sum(offset or 0 for offset in offsets)

        wait_until(lambda: taken() == end, f"all {end} records of {topic} taken", DEADLINE_S)

    def _produce(self, topic: str, key: str | None, value: bytes | None, **record: Any) -> None:
        self._client.produce(topic, value, key, **record)
        assert self._client.flush(DEADLINE_S) == 0


def key_beside(key: str) -> str:
    """Another key of the same partition: what one task does with both comes in order."""
    home = partition_of(key.encode(), PARTITIONS)
    candidates = (f"beside-{number}" for number in range(100))
    return next(k for k in candidates if partition_of(k.encode(), PARTITIONS) == home)


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_peer(tmp_path_factory.mktemp("classes"))


@pytest.fixture
def peer(apache_kafka: ApacheKafka, classes: Path, tmp_path: Path) -> Iterator[Peer]:
    """A peer that is not running yet; at the end it does not run any more."""
    peer = Peer(apache_kafka, classes, tmp_path, unique_name("peer"))
    create_topic(apache_kafka, peer.events, PARTITIONS, KEPT)
    create_topic(apache_kafka, peer.control, PARTITIONS, {"cleanup.policy": "compact"})
    create_topic(apache_kafka, peer.processed, PARTITIONS, KEPT)
    yield peer
    peer.kill()


@pytest.mark.parametrize("store", ["memory", "rocksdb"])
def test_held_events_come_out_unchanged_and_in_order_before_newer_ones(
    peer: Peer, store: Store
) -> None:
    beside = key_beside("held")
    peer.hold("held")
    peer.start(store)
    # Of what is there, Streams takes the oldest first: an event from 1970 would overtake the hold.
    peer.wait_until_taken(peer.control)
    peer.send("held", b"first", headers=[("a", b"1"), ("b", None), ("a", b"2")], timestamp=1234)
    peer.send("held", None)
    peer.send("held-too", b"passes")
    peer.send(None, b"without key")
    peer.send(beside, b"after the held ones")
    for value in (b"passes", b"without key", b"after the held ones"):
        peer.wait_for(value)
    assert peer.values("held") == []

    peer.release("held")
    peer.wait_for(b"first")
    peer.send("held", b"newer")
    peer.wait_for(b"newer")

    peer.hold("held")
    peer.release("held")
    peer.wait_until_taken(peer.control)
    assert peer.values("held") == [b"first", None, b"newer"]
    first = next(m for m in peer.output() if m.value() == b"first")
    assert first.headers() == [("a", b"1"), ("b", None), ("a", b"2")]
    assert first.timestamp()[1] == 1234
    assert len(peer.output()) == 6


def test_killed_in_mid_stream_it_loses_nothing_and_doubles_nothing(peer: Peer) -> None:
    load = Load(150_000, keys=300, held=30)
    for key in load.held_keys:
        peer.hold(key.decode())
    fill(peer.broker.bootstrap, peer.events, load.cycle, load.count, PARTITIONS)
    readable = Readable(peer.broker.bootstrap, peer.processed, PARTITIONS)
    peer.start()
    wait_until(lambda: readable.offsets() > 0, "first records", DEADLINE_S)
    peer.kill()
    assert readable.offsets() < len(load.passing()), "it was killed too late to show anything"

    peer.start()
    peer.wait_until_taken(peer.events)
    check_output(peer.broker.bootstrap, peer.processed, load, PARTITIONS)

    for key in load.held_keys:
        peer.release(key.decode())
    everything = replace(load, held=0)
    peer.wait_until_taken(peer.control)
    check_output(peer.broker.bootstrap, peer.processed, everything, PARTITIONS)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ([1, 2, 4, 5, 5], "1 twice, 0 missing, 0 not to come out"),
        ([1, 2, 4], "0 twice, 1 missing, 0 not to come out"),
        ([1, 2, 3, 4, 5], "0 twice, 0 missing, 1 not to come out"),
        ([4, 2, 1, 5], "1 events overtook one of their key"),
    ],
)
def test_check_of_the_output_finds_every_kind_of_wrong_event(
    apache_kafka: ApacheKafka, topic: str, sent: list[int], said: str
) -> None:
    create_topic(apache_kafka, topic)
    send(producer(apache_kafka), topic, [encode_event(number) for number in sent])
    with pytest.raises(WrongOutputError, match=said):
        check_output(apache_kafka.bootstrap, topic, Load(6, keys=3, held=1), 1)
