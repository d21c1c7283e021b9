"""The two systems under measurement, seen alike: topics, holds, a process.

`running` is a process that begins with the flow; `serving` is one that takes flow after flow, so
that its JVM is warm from the second on.
"""

import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import holdfast
from bench.load.child import Child
from bench.load.events import bulk_producer, flush, send_all
from bench.peers.streams import (
    Application,
    Guarantee,
    Store,
    StreamsGate,
    StreamsGates,
    compile_peer,
)
from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.planned_topics import make_topic
from holdfast.client.settings import ClientSettings
from holdfast.client.topics import Topics
from holdfast.flows.commands import Hold, encode_command
from holdfast.flows.names import REGISTRY_TOPIC, FlowNames
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.topics import flow_topics

READY_DEADLINE_S = 120.0


class Serving(Protocol):
    """A process that takes flow after flow."""

    @property
    def process(self) -> Child: ...

    def begin(self, flow: str) -> None:
        """Take up a flow whose topics are there, and do not wait for it."""

    def end(self, flow: str) -> None:
        """Leave it again."""


class System(ABC):
    """Holds and releases the keys of flows on one Kafka."""

    name: str

    def __init__(self, bootstrap: str, folder: Path, partitions: int) -> None:
        self.bootstrap = bootstrap
        self.partitions = partitions
        """Of the flows that are made from now on."""
        self._folder = folder / self.name
        self._folder.mkdir(parents=True)

    def events(self, flow: str) -> str:
        return FlowNames(flow).events

    def processed(self, flow: str) -> str:
        return FlowNames(flow).processed

    @abstractmethod
    def create(self, flow: str) -> None:
        """Make the flow's topics, and the flow."""

    def make_topics(self, flow: str) -> None:
        """Make the topics alone, for one that is to be taken up later."""
        self.create(flow)

    @abstractmethod
    def hold(self, flow: str, keys: Iterable[bytes]) -> None:
        """Ask for the keys to be held, before there are events of them."""

    @abstractmethod
    @contextmanager
    def running(self, flow: str) -> Iterator[Child]:
        """The system at work on that flow, from when it is ready for events."""

    @abstractmethod
    def serving(self) -> AbstractContextManager[Serving]:
        """The system without a flow, to be given one after the other."""

    def drop(self, flow: str) -> None:
        """Remove all topics of the flow, so that they take no room."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        ours = [name for name in admin.list_topics(timeout=30).topics if _is_of(name, flow)]
        for future in admin.delete_topics(ours).values():
            future.result(30)


class Streams(System):
    """Kafka Streams."""

    name = "streams"

    def __init__(
        self,
        bootstrap: str,
        folder: Path,
        partitions: int,
        *,
        guarantee: Guarantee = "exactly_once_v2",
        store: Store = "memory",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(bootstrap, folder, partitions)
        self._classes = compile_peer(self._folder / "classes")
        self._guarantee = guarantee
        self._store = store
        self._settings = settings or {}

    def create(self, flow: str) -> None:
        names = FlowNames(flow)
        compacted = {"cleanup.policy": "compact"}
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        topics = [
            NewTopic(names.events, self.partitions, 1),
            NewTopic(names.control, self.partitions, 1, config=compacted),
            NewTopic(names.processed, self.partitions, 1),
        ]
        for future in admin.create_topics(topics).values():
            future.result(30)

    def hold(self, flow: str, keys: Iterable[bytes]) -> None:
        send_all(self.bootstrap, FlowNames(flow).control, ((key, b"held") for key in keys))

    @contextmanager
    def running(self, flow: str) -> Iterator[Child]:
        application = self._application(flow)
        with StreamsGate(self._folder / flow, self._classes, self.bootstrap, application) as gate:
            yield gate

    @contextmanager
    def serving(self) -> Iterator[Serving]:
        with StreamsGates(self._folder, self._classes) as gates:
            gates.wait_for("^Ready$", READY_DEADLINE_S)
            yield ServingStreams(self, gates)

    def settings_file(self, flow: str) -> Path:
        return self._application(flow).write(self._folder / flow, self.bootstrap)

    def _application(self, flow: str) -> Application:
        names = FlowNames(flow)
        return Application(
            name=flow,
            events=names.events,
            control=names.control,
            processed=names.processed,
            guarantee=self._guarantee,
            store=self._store,
            settings=self._settings,
        )


@dataclass(frozen=True, slots=True)
class ServingStreams:
    """A JVM that runs one application after the other."""

    system: Streams
    process: StreamsGates

    def begin(self, flow: str) -> None:
        self.process.run(self.system.settings_file(flow))

    def end(self, flow: str) -> None:
        self.process.close()


class Holdfast(System):
    """Ours: `holdfast pipeline`."""

    name = "holdfast"

    def create(self, flow: str) -> None:
        with holdfast.connect(self.bootstrap) as client:
            client.flow(flow).create(partitions=self.partitions)

    def make_topics(self, flow: str) -> None:
        definition = FlowDefinition(name=flow, partitions=self.partitions, created_at=0)
        topics = Topics(Connection(ClientSettings(bootstrap=self.bootstrap)))
        for plan in flow_topics(definition, brokers=1):
            make_topic(topics, plan)

    def hold(self, flow: str, keys: Iterable[bytes]) -> None:
        at = round(time.time() * 1000)
        commands = (
            encode_command(Hold(id=f"hold-{key.decode()}", actor="bench", at=at, key=key))
            for key in keys
        )
        send_all(self.bootstrap, FlowNames(flow).control, commands)

    @contextmanager
    def running(self, flow: str) -> Iterator[Child]:
        with self.pipeline(flow) as pipeline:
            # The first step commits a position for every partition.
            self.wait_until_taken(flow, 0, pipeline, READY_DEADLINE_S)
            yield pipeline

    @contextmanager
    def serving(self) -> Iterator[Serving]:
        with self.pipeline("serving") as pipeline:
            pipeline.wait_for("^Pipeline running", READY_DEADLINE_S)
            yield ServingHoldfast(self, pipeline)

    def pipeline(self, name: str) -> Child:
        """The process, not started yet; it takes whatever flows are registered."""
        command = [sys.executable, "-m", "holdfast.cli", "pipeline", "--kafka", self.bootstrap]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")} | {
            "HOLDFAST_PIPELINE_DATA_DIR": str(self._folder / name),
            # The peer lands nothing in a lake, so neither do we.
            "HOLDFAST_PIPELINE_RAW_ZONE": "false",
        }
        log = self._folder / f"{name}.log"
        return Child(command, log, folder=self._folder, environment=environment)

    def drop(self, flow: str) -> None:
        self.forget(flow)
        super().drop(flow)

    def forget(self, flow: str) -> None:
        """Take it from the registry: it would be started again by the next pipeline."""
        producer = bulk_producer(self.bootstrap)
        producer.produce(REGISTRY_TOPIC, None, flow.encode())
        flush(producer)

    def taken(self, flow: str) -> int:
        """How many offsets of the flow's events the gate has committed; -1: no position yet."""
        settings = {"bootstrap.servers": self.bootstrap, "group.id": FlowNames(flow).group}
        consumer = Consumer(settings)
        try:
            places = [TopicPartition(self.events(flow), p) for p in range(self.partitions)]
            offsets = [place.offset for place in consumer.committed(places, timeout=30)]
        except KafkaException as error:
            if translate(error, "").transient:
                return -1  # a Kafka that has just begun makes its coordinators only now
            raise
        finally:
            consumer.close()
        return sum(offsets) if min(offsets) >= 0 else -1

    def wait_until_taken(self, flow: str, events: int, pipeline: Child, timeout: float) -> None:
        end = time.monotonic() + timeout
        while self.taken(flow) < events:
            pipeline.check()
            if time.monotonic() > end:
                raise TimeoutError(f"{self.taken(flow):,} of {events:,} after {timeout:.0f} s")
            time.sleep(0.1)


@dataclass(frozen=True, slots=True)
class ServingHoldfast:
    """A pipeline that follows the registry."""

    system: Holdfast
    process: Child

    def begin(self, flow: str) -> None:
        self.system.create(flow)

    def end(self, flow: str) -> None:
        self.system.forget(flow)
        self.process.wait_for(f"Flow {flow} is not registered any more", READY_DEADLINE_S)


def _is_of(topic: str, flow: str) -> bool:
    """Also the change logs, which Streams names after the application."""
    return topic.startswith((f"{flow}.", f"{flow}-held-"))
