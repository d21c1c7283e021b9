"""The task path without Spark: what tasks do that live too long, come twice, or know too little."""

import time
from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest
from tests.brokers import BrokerProcess
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import World, gate_of

from holdfast.flows.registry import Limits
from holdfast.pipeline.bulk.cluster import Cluster
from holdfast.pipeline.bulk.reading import Ranges, read_ranges
from holdfast.pipeline.bulk.transactions import BulkTransactions
from holdfast.pipeline.driver_path import take_rows
from holdfast.pipeline.events import rows_of
from holdfast.pipeline.flow_gate import FlowGate
from holdfast.pipeline.task_path import TaskPath
from holdfast.pipeline.tasks import Job, Outcome, Worker


class JobFailed(Exception):
    """As Spark reports a job of which a task failed."""


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka, partitions=1)


def planned(world: World, gate: FlowGate) -> tuple[Ranges, pa.Table]:
    feeder = Feeder(world.connection, gate)
    ranges = feeder.plan()
    return ranges, feeder.rows(ranges)


def test_tasks_take_a_share_in_several_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.pipeline.tasks.STEP_ROWS", 10)
    world.flow.hold("a")
    world.send(b"a", *(b"%d" % i for i in range(25)))
    world.send(b"b", *(b"%d" % i for i in range(25)))
    with gate_of(world) as gate:
        ranges, rows = planned(world, gate)
        before = gate.states[0].position.step

        def run(job: Job) -> list[Outcome]:
            return [Worker(job).take(job, 0, iter(rows.to_batches(max_chunksize=5)))]

        TaskPath(gate).take(ranges, run, gate.settings)
        assert gate.states[0].position.step == before + 5
        assert gate.states[0].events == 25
        assert gate.counts[:3] == (50, 25, 25)
    assert world.processed() == [b"%d" % i for i in range(25)]
    world.check_each_event_once()


@pytest.mark.parametrize("again", ["tasks", "driver"])
def test_a_task_that_outlives_its_failed_job_is_refused(world: World, again: str) -> None:
    world.send(b"a", *(b"%d" % i for i in range(20)))
    zombies: list[Outcome] = []
    begun, go_on = Event(), Event()

    with gate_of(world) as gate:
        ranges, rows = planned(world, gate)
        path = TaskPath(gate)

        def slow(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield batches[0]
            begun.set()
            assert go_on.wait(60)
            yield from batches[1:]

        def failing(job: Job) -> list[Outcome]:
            batches = rows.to_batches(max_chunksize=10)

            def live_on() -> None:
                zombies.append(Worker(job).take(job, 0, slow(batches)))

            task = Thread(target=live_on)
            task.start()
            tasks.append(task)
            assert begun.wait(60)
            raise JobFailed

        def good(job: Job) -> list[Outcome]:
            return [Worker(job).take(job, 0, iter(rows.to_batches()))]

        tasks: list[Thread] = []
        with pytest.raises(JobFailed):
            path.take(ranges, failing, gate.settings)
        if again == "tasks":
            path.take(ranges, good, gate.settings)
        else:  # under another transactional id: the old task's own would not refuse it
            take_rows(gate, ranges, rows, gate.settings)
        go_on.set()
        tasks[0].join(60)
        assert zombies[0].failure is not None
        assert zombies[0].changes == []
        # The gate itself goes on undisturbed.
        world.send(b"a", b"20")
        Feeder(world.connection, gate).batch()
    assert world.processed() == [b"%d" % i for i in range(21)]
    world.check_each_event_once()


@pytest.mark.parametrize("same", [False, True], ids=["another worker", "the same worker"])
def test_a_second_attempt_does_not_trust_what_it_was_sent(world: World, same: bool) -> None:
    world.flow.hold("a")
    world.send(b"a", b"1", b"2")
    world.send(b"b", b"3")
    with gate_of(world) as gate:
        ranges, rows = planned(world, gate)

        def twice(job: Job) -> list[Outcome]:
            workers[0] = workers[0] or Worker(job)
            first = workers[0].take(job, 0, iter(rows.to_batches()))
            assert first.failure is None
            second = workers[0] if same else Worker(job)
            return [second.take(job, 0, iter(rows.to_batches()))]  # the first one's is lost

        def once(job: Job) -> list[Outcome]:
            assert workers[0] is not None
            return [workers[0].take(job, 0, iter(rows.to_batches()))]

        workers: list[Worker | None] = [None]
        path = TaskPath(gate)
        path.take(ranges, twice, gate.settings)
        # The driver does not know what the first attempt did; it finds out before the next step.
        world.send(b"a", b"4")
        Feeder(world.connection, gate).batch()
        assert gate.states[0].events == 3
        # Nor does that worker go on from what it made of it.
        world.send(b"a", b"5")
        ranges, rows = planned(world, gate)
        path.take(ranges, once, gate.settings)
        assert gate.states[0].events == 4
    assert world.processed() == [b"3"]
    world.check_each_event_once()


def test_a_partition_that_fails_takes_no_other_of_its_worker_with_it(kafka: BrokerProcess) -> None:
    world = World(kafka, partitions=3)
    seen: dict[int, list[Outcome]] = {}

    def send(number: int) -> None:
        for key in (b"%d" % i for i in range(30)):
            world.send(key, b"%s-%d" % (key, number))

    with gate_of(world) as gate:
        path, feeder = TaskPath(gate), Feeder(world.connection, gate)
        workers: list[Worker] = []

        def run(job: Job) -> list[Outcome]:
            if not workers:
                workers.append(Worker(job))
            seen[len(seen)] = found = [workers[0].take(job, p) for p in sorted(job.shares)]
            return found

        send(0)
        path.take(feeder.plan(), run, gate.settings)
        another = BulkTransactions(
            gate.connection.settings, gate.names.task_transactional_id(1), 100_000
        )
        another.renew()  # as one who would have the partition from here on
        another.close()
        send(1)
        path.take(feeder.plan(), run, gate.settings)
        assert [each.failure is None for each in seen[1]] == [True, False, True]
        # Compared, and tried again with what is left.
        assert [(each.partition, each.failure) for each in seen[2]] == [(1, None)]
    world.check_each_event_once()


Take = Callable[[FlowGate, Ranges, Feeder], None]
"""One of the ways in which a batch is read and written."""


def rows_in_driver(gate: FlowGate, ranges: Ranges, feeder: Feeder) -> None:
    take_rows(gate, ranges, feeder.rows(ranges), gate.settings)


def rows_in_tasks(gate: FlowGate, ranges: Ranges, feeder: Feeder) -> None:
    rows = feeder.rows(ranges)

    def run(job: Job) -> list[Outcome]:
        worker = Worker(job)
        shares = {p: rows_of(rows, p, *ranges[p]) for p in sorted(job.shares)}
        return [worker.take(job, p, iter(each.to_batches())) for p, each in shares.items()]

    TaskPath(gate).take(ranges, run, gate.settings)


def ranges_in_driver(gate: FlowGate, ranges: Ranges, feeder: Feeder) -> None:
    cluster = Cluster(gate.connection.settings)
    take_rows(gate, ranges, read_ranges(cluster, gate.names.events, ranges), gate.settings)
    cluster.forget()


def ranges_in_tasks(gate: FlowGate, ranges: Ranges, feeder: Feeder) -> None:
    def run(job: Job) -> list[Outcome]:
        worker = Worker(job)
        return [worker.take(job, p) for p in sorted(job.shares)]

    TaskPath(gate).take(ranges, run, gate.settings)


def send_all_kinds(world: World, begun: int, *, large: bool) -> None:
    """The same events for every world: all that may be odd about one."""
    for i in range(120):
        key = [b"a", b"held", b"c", b"\x00\xff", None, b""][i % 6]
        value = [b"%d" % i, b"invalid", None, b"", b"x" * 300][i % 5]
        headers: list[tuple[str, Any]] = [("n", b"%d" % i), ("n", None), ("ü", b"")]
        count = [0, 1, 3, 70][i % 4]
        world.producer.produce(
            world.names.events,
            b"large" * 10_000 if large and i == 63 else value,
            key,
            timestamp=begun + i * (-1) ** i,
            headers=(headers * 24)[:count],
            **({} if key else {"partition": i % world.partitions}),
        )
    assert world.producer.flush(60) == 0


def records_after(world: World, take: Take, begun: int) -> dict[str, list[tuple[Any, ...]]]:
    names = world.names
    world.client.topics.set_config(names.processed, {"max.message.bytes": "20000"})
    world.flow.hold("held", command_id="1")
    with gate_of(world) as gate:
        feeder = Feeder(world.connection, gate)
        for large in (True, False):  # the limit is looked at when a batch begins
            send_all_kinds(world, begun, large=large)
            take(gate, feeder.plan(), feeder)
        counts = gate.counts
    assert counts.taken == 240
    assert counts.held
    assert counts.dead
    out = {topic: world.out(getattr(names, topic)) for topic in ("processed", "held", "dlq")}
    sources = [each.source for found in out.values() for each in found]
    assert len(sources) == len(set(sources)) == 240
    return {
        topic: [
            (o.partition, o.key, o.value, o.source, o.timestamp, tuple(o.headers)) for o in found
        ]
        for topic, found in out.items()
    }


@pytest.mark.parametrize(
    ("driver", "tasks"),
    [(rows_in_driver, rows_in_tasks), (ranges_in_driver, ranges_in_tasks)],
    ids=["rows", "ranges"],
)
def test_driver_and_tasks_write_the_same_records_whatever_the_events_are(
    kafka: BrokerProcess, driver: Take, tasks: Take
) -> None:
    begun = round(time.time() * 1000) - 60_000
    found = []
    for take in (driver, tasks):
        world = World(kafka, limits=Limits(key_events=15), overflow="dead-letter")
        found.append(records_after(world, take, begun))
    for topic, expected in found[0].items():
        assert found[1][topic] == expected, topic
    reasons = {dict(each[-1])["holdfast-error"] for each in found[0]["dlq"]}
    invalid = {b"invalid"} if driver is rows_in_driver else set()
    assert reasons == {b"overflow", b"too-large"} | invalid
