"""Memory and start of each system in a process of its own, beside its peer.

The load is the same for both of a pair. A start is that of a process over data that is there: from
the moment it is asked for until the first event is through.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol

from confluent_kafka import KafkaException, Producer
from tests.brokers import BrokerProcess, EmbeddedBroker

from bench.load.child import Child
from bench.load.events import Load, fill
from bench.load.memory import resident_mb
from bench.load.messages import consume, new_topic, produce
from bench.load.progress import Readable, watch
from bench.load.starts import start_seconds
from bench.load.systems import Holdfast, Streams, System
from bench.load.worker import worker
from bench.peers.kafka import ProductionKafka
from bench.results.kept import Figures, Point
from bench.sweeps.plan import Plan
from bench.sweeps.sweep import sweep

PARTITIONS = 6
VALUE = b"x" * 100
MESSAGES = 1_000_000
EVENTS = 2_000_000
DEADLINE_S = 300.0
# Joining a group must not take the three seconds in which Kafka waits for more members.
SETTINGS = {"group.initial.rebalance.delay.ms": 0}


class Pair(Protocol):
    """A system and its peer."""

    @property
    def systems(self) -> list[str]: ...

    def memory(self, system: str) -> Figures: ...

    def start(self, system: str) -> Figures: ...


def memory(plan: Plan) -> None:
    """About three minutes with one round: memory after a load."""
    with _pairs(plan) as pairs:
        for name, pair in pairs.items():
            sweep(plan.kept, [Point(name)], pair.systems, _of(pair.memory), plan.rounds)


def start(plan: Plan) -> None:
    """About four minutes with three rounds: seconds from the start to the first event through."""
    with _pairs(plan) as pairs:
        for name, pair in pairs.items():
            sweep(plan.kept, [Point(name)], pair.systems, _of(pair.start), plan.rounds)


def _of(figures: Callable[[str], Figures]) -> Callable[[Point, str], Figures]:
    return lambda _, system: figures(system)


@contextmanager
def _pairs(plan: Plan) -> Iterator[dict[str, Pair]]:
    with ExitStack() as stack:
        # Gates and workers need a Kafka, which is warm and is not what is measured.
        kafka = stack.enter_context(ProductionKafka(plan.folder / "kafka", SETTINGS))
        yield {
            "broker": Brokers(plan),
            "gate": Gates(plan, kafka.bootstrap),
            "processing": Workers(plan, kafka.bootstrap),
        }


class Brokers:
    def __init__(self, plan: Plan) -> None:
        self._messages = MESSAGES // (10 if plan.quick else 1)
        self._brokers: dict[str, BrokerProcess] = {
            "kafka": ProductionKafka(plan.folder / "kafka-alone"),
            "holdfast": EmbeddedBroker(plan.folder / "embedded"),
        }
        self.systems = list(self._brokers)

    def memory(self, system: str) -> Figures:
        with self._brokers[system] as broker:
            idle = resident_mb(broker.pid)
            topic = new_topic(broker.bootstrap, PARTITIONS)
            produce(broker.bootstrap, topic, PARTITIONS, VALUE, self._messages)
            consume(broker.bootstrap, topic, PARTITIONS, self._messages)
            return {"idle_mb": idle, "loaded_mb": resident_mb(broker.pid)}

    def start(self, system: str) -> Figures:
        with self._brokers[system] as broker:
            topic = new_topic(broker.bootstrap, PARTITIONS)
            seconds = start_seconds(broker)
            began = time.perf_counter()
            producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0})
            producer.produce(topic, VALUE)
            if producer.flush(DEADLINE_S):
                raise TimeoutError("the first message was not acknowledged")
            return {"seconds": seconds + time.perf_counter() - began}


class Gates:
    def __init__(self, plan: Plan, bootstrap: str) -> None:
        self._load = Load(EVENTS // (10 if plan.quick else 1), keys=100_000, held=1_000)
        place = bootstrap, plan.folder, PARTITIONS
        self._systems: dict[str, System] = {
            "streams": Streams(*place),
            "holdfast": Holdfast(*place),
        }
        self._flows = 0
        self.systems = list(self._systems)

    def memory(self, system: str) -> Figures:
        with self._run(system, self._load) as (process, processed):
            watch(processed, len(self._load.passing()), process.check, DEADLINE_S)
            return {"loaded_mb": resident_mb(process.pid)}

    def start(self, system: str) -> Figures:
        began = time.monotonic()
        with self._run(system, Load(1_000, keys=1_000, held=10)) as (process, processed):
            while not _has_records(processed):
                process.check()
                if time.monotonic() > began + DEADLINE_S:
                    raise TimeoutError("no event came through")
                time.sleep(0.02)
            return {"seconds": time.monotonic() - self._began}

    @contextmanager
    def _run(self, system: str, load: Load) -> Iterator[tuple[Child, Readable]]:
        """The system at work on a flow of its own, that was full before it started."""
        made = self._systems[system]
        self._flows += 1
        flow = f"process-{system}-{self._flows}"
        made.create(flow)
        made.hold(flow, load.held_keys)
        fill(made.bootstrap, made.events(flow), load.cycle, load.count, PARTITIONS, size=len(VALUE))
        processed = Readable(made.bootstrap, made.processed(flow), PARTITIONS)
        self._began = time.monotonic()
        with made.running(flow) as process:
            yield process, processed
        made.drop(flow)


def _has_records(topic: Readable) -> bool:
    try:
        return topic.offsets() > 0
    except KafkaException:  # it is not there yet
        return False


class Workers:
    def __init__(self, plan: Plan, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._folder = plan.folder
        self._messages = MESSAGES // (10 if plan.quick else 1)
        self._topic = new_topic(bootstrap, PARTITIONS)
        produce(bootstrap, self._topic, PARTITIONS, VALUE, self._messages)
        self.systems = ["sentry-arroyo", "holdfast"]

    def memory(self, system: str) -> Figures:
        process = self._worker(system).start()
        try:
            process.wait_for("^Last$", DEADLINE_S)
            return {"loaded_mb": resident_mb(process.pid)}
        finally:
            process.kill()

    def start(self, system: str) -> Figures:
        began = time.monotonic()
        process = self._worker(system).start()
        try:
            process.wait_for("^First$", DEADLINE_S)
            return {"seconds": time.monotonic() - began}
        finally:
            process.kill()

    def _worker(self, system: str) -> Child:
        log = self._folder / f"{system}.log"
        return worker(system, self._bootstrap, self._topic, self._messages, log)
