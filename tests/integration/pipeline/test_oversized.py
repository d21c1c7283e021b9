"""Events that are larger than a topic takes: dead letters, alone, and found at no cost."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Producer
from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import Out, World, eventually, gate_of
from tests.links import DelayedLink

from holdfast.kafka.record_size import wire_size
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.keeper import Keeper
from holdfast.pipeline.gate.sizes import SizeLimits
from holdfast.pipeline.gate.task_path import TaskPath
from holdfast.pipeline.gate.tasks import BatchJob, PartitionResult, Worker

MEGABYTE = 1_000_000
FOREVER = 10**9

Take = Callable[[], object]


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka, partitions=1)


def in_driver(world: World, gate: FlowGate) -> Take:
    return Feeder(world.connection, gate, most=FOREVER).batch


def in_tasks(world: World, gate: FlowGate) -> Take:
    """One worker that lives on, as Spark's do."""
    path, feeder = TaskPath(gate), Feeder(world.connection, gate, most=FOREVER)
    workers: list[Worker] = []

    def run(job: BatchJob) -> list[PartitionResult]:
        if not workers:
            workers.append(Worker(job))
        return [workers[0].take(job, p) for p in sorted(job.partitions)]

    return lambda: path.take(feeder.plan(), run, gate.settings)


paths = pytest.mark.parametrize("path", [in_driver, in_tasks], ids=["driver", "tasks"])
Path_ = Callable[[World, FlowGate], Take]


def compressing(world: World) -> Producer:
    """Its batches are below the limit of events as they are sent, and far above it unpacked."""
    return Producer(
        {
            "bootstrap.servers": world.settings.bootstrap,
            "partitioner": "murmur2_random",
            "compression.type": "zstd",
            "message.max.bytes": 10 * MEGABYTE,
            "linger.ms": 20,
        }
    )


def send_large(world: World, key: bytes = b"k", value: bytes | None = None, **more: object) -> None:
    producer = compressing(world)
    producer.produce(world.names.events, value or b"x" * 3 * MEGABYTE, key, **more)  # type: ignore[arg-type]
    assert producer.flush(DEADLINE_S) == 0


def dead(world: World) -> list[tuple[tuple[int, int], str | None]]:
    return [(o.source, reason(o)) for o in world.out(world.names.dlq)]


def reason(out: Out) -> str:
    return bytes(dict(out.headers)["holdfast-error"]).decode()


@pytest.fixture
def slow_link(tmp_path: Path) -> Iterator[tuple[World, DelayedLink]]:
    with DelayedLink(0.005) as link:
        settings = {"advertised": f"127.0.0.1:{link.port}"}
        with EmbeddedBroker(tmp_path, settings) as broker:
            link.target, broker.port = broker.port, link.port
            yield World(broker, partitions=1), link


@paths
def test_one_oversized_record_among_50_000_costs_no_attempt_and_no_request_more(
    slow_link: tuple[World, DelayedLink], path: Path_
) -> None:
    world, link = slow_link
    producer = compressing(world)
    for i in range(50_000):
        if i == 31_234:
            producer.produce(world.names.events, b"x" * 3 * MEGABYTE, b"large")
        producer.produce(world.names.events, b"%d" % i, b"%d" % (i % 100))
        producer.poll(0)
    assert producer.flush(120) == 0
    with gate_of(world) as gate:
        take = path(world, gate)
        link.requests.clear()
        take()
        steps = -(-50_001 // 50_000) + 1  # a step is cut by bytes, too
        assert 1 <= link.requests["end_txn"] <= steps, "each step was committed by one attempt"
        assert link.requests["produce"] < 100
    assert [source for source, _ in dead(world)] == [(0, 31_234)]
    assert len(world.processed()) == 50_000
    world.check_each_event_once()


@paths
def test_a_compressed_event_above_the_limit_is_a_dead_letter_and_the_rest_passes(
    world: World, path: Path_
) -> None:
    world.send(b"k", b"before")
    send_large(world)
    world.send(b"k", b"after")
    with gate_of(world) as gate:
        path(world, gate)()
        assert gate.counts[:4] == (3, 2, 0, 1)
    assert world.processed() == [b"before", b"after"]
    (letter,) = world.out(world.names.dlq)
    assert (letter.source, letter.key, letter.value) == ((0, 1), b"k", None)
    assert reason(letter) == "too-large"
    world.check_each_event_once()


@paths
def test_an_event_with_the_same_key_and_value_but_small_headers_passes(
    world: World, path: Path_
) -> None:
    send_large(world, value=b"same", headers=[("h", b"x" * 3 * MEGABYTE)])
    world.send(b"k", b"same", headers=[("h", b"small")])
    with gate_of(world) as gate:
        path(world, gate)()
    (passed,) = world.out(world.names.processed)
    assert (passed.source, passed.value) == ((0, 1), b"same")
    assert dead(world) == [((0, 0), "too-large")]
    (letter,) = world.out(world.names.dlq)
    assert "h" not in dict(letter.headers), "headers that dlq does not take are left out"
    assert letter.key == b"k"


@paths
def test_key_too_large_for_dlq_is_left_out_of_the_dead_letter(world: World, path: Path_) -> None:
    send_large(world, key=b"k" * 3 * MEGABYTE, value=b"v")
    world.send(b"k", b"after")
    with gate_of(world) as gate:
        path(world, gate)()
    (letter,) = world.out(world.names.dlq)
    assert (letter.source, letter.key, letter.value) == ((0, 0), None, None)
    assert world.processed() == [b"after"]


@paths
def test_a_record_of_exactly_the_limit_passes_and_one_byte_more_does_not(
    world: World, path: Path_
) -> None:
    """By the broker's own count: it would refuse the first if ours were too low."""
    world.client.topics.set_config(world.names.processed, {"max.message.bytes": "20000"})
    spare = 20_000 - wire_size(b"k", b"x" * 19_000, [("h", None), ("holdfast-source", b"0:0")])
    for size in (19_000 + spare, 19_001 + spare):
        world.send(b"k", b"x" * size, headers=[("h", None)])
    with gate_of(world) as gate:
        path(world, gate)()
    assert dead(world) == [((0, 1), "too-large")]
    assert [len(value or b"") for value in world.processed()] == [19_000 + spare]


@paths
def test_a_limit_that_is_lowered_while_the_gate_runs_costs_one_attempt(
    world: World, path: Path_
) -> None:
    with gate_of(world) as gate:
        take = path(world, gate)
        world.send(b"k", b"x" * 50_000)
        take()
        world.client.topics.set_config(world.names.processed, {"max.message.bytes": "20000"})
        world.send(b"k", *(b"%d" % i * 10_000 for i in range(30)), b"y" * 50_000, b"end")
        take()
        assert dead(world) == [((0, offset), "too-large") for offset in (*range(11, 31), 31)]
        world.client.topics.set_config(world.names.processed, {"max.message.bytes": "100000"})
        world.send(b"k", b"z" * 50_000)
        take()
    assert world.processed()[-2:] == [b"end", b"z" * 50_000], "a limit that was raised is seen"
    world.check_each_event_once()


@paths
def test_learned_size_limit_survives_if_the_broker_does_not_describe_it(
    world: World, path: Path_, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As brokers do that have a limit of their own, whatever the topic's is."""
    world.client.topics.set_config(world.names.processed, {"max.message.bytes": "20000"})
    real = SizeLimits._describe
    monkeypatch.setattr(
        SizeLimits, "_describe", lambda self: dict.fromkeys(real(self), 2 * MEGABYTE)
    )
    attempts: list[str] = []
    learn = SizeLimits.learn

    def count(self: SizeLimits, refused: Mapping[str, int]) -> bool:
        attempts.append("")
        return learn(self, refused)

    monkeypatch.setattr(SizeLimits, "learn", count)
    with gate_of(world) as gate:
        take = path(world, gate)
        for turn in range(3):
            start = world.ends(world.names.events)[0]
            world.send(b"k", *(b"%d" % i * 100 for i in range(2_000)), b"x" * 50_000, b"end")
            before = len(attempts)
            take()
            assert len(attempts) - before <= (8 if turn == 0 else 0)
            assert dead(world)[-1] == ((0, start + 2_000), "too-large")
    assert len(dead(world)) == 3
    assert len(world.processed()) == 3 * 2_001
    world.check_each_event_once()


def test_a_held_event_that_is_too_large_for_processed_is_a_dead_letter_of_its_drain(
    world: World,
) -> None:
    world.flow.hold("k")
    world.send(b"k", b"1", b"x" * 50_000, b"3")
    with gate_of(world) as gate:
        keeper = Keeper(gate)
        Feeder(world.connection, gate).batch()
        assert gate._exclusive.states[0].events == 3
        world.client.topics.set_config(world.names.processed, {"max.message.bytes": "20000"})
        world.flow.release("k")
        eventually(
            lambda: keeper.turn() is not None and not gate._exclusive.states[0].entries, "the drain"
        )
        assert (gate.counts.drained, gate.counts.dead) == (2, 1)
    assert world.processed() == [b"1", b"3"]
    assert dead(world) == [((0, 1), "too-large")]
    world.check_each_event_once()


@paths
def test_event_too_large_for_held_is_a_dead_letter_and_counts_no_room(
    world: World, path: Path_
) -> None:
    world.client.topics.set_config(world.names.held, {"max.message.bytes": "20000"})
    world.flow.hold("k")
    world.send(b"k", b"1", b"x" * 50_000, b"3")
    world.send(b"o", b"y" * 50_000)
    with gate_of(world) as gate:
        path(world, gate)()
        assert gate._exclusive.states[0].events == 2
        world.flow.release("k")
        keeper = Keeper(gate)
        eventually(
            lambda: keeper.turn() is not None and not gate._exclusive.states[0].entries, "the drain"
        )
    assert world.processed() == [b"y" * 50_000, b"1", b"3"], "processed takes it"
    assert dead(world) == [((0, 1), "too-large")]
    world.check_each_event_once()


def test_a_dead_lettered_event_that_dlq_does_not_take_goes_there_without_its_value(
    world: World,
) -> None:
    world.client.topics.set_config(world.names.dlq, {"max.message.bytes": "20000"})
    world.flow.hold("k")
    world.send(b"k", b"1", b"x" * 50_000, b"3")
    with gate_of(world) as gate:
        keeper = Keeper(gate)
        Feeder(world.connection, gate).batch()
        world.flow.dead_letter("k")
        eventually(
            lambda: keeper.turn() is not None and not gate._exclusive.states[0].events, "the drain"
        )
    letters = world.out(world.names.dlq)
    assert [(reason(o), o.value) for o in letters] == [
        ("dead-lettered", b"1"),
        ("too-large", None),
        ("dead-lettered", b"3"),
    ]
    assert b"dead-lettered" in dict(letters[1].headers)["holdfast-error-message"]
    world.check_each_event_once()
