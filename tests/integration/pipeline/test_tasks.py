"""The task path without Spark: what tasks do that live too long, come twice, or know too little."""

import time
from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import World, gate_of

from holdfast.flows.registry import Limits
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.fetch import Ranges, read_ranges
from holdfast.kafka.producer import TransactionalProducer
from holdfast.pipeline.gate.driver_path import take_rows
from holdfast.pipeline.gate.events import rows_of
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.task_path import TaskPath
from holdfast.pipeline.gate.tasks import BatchJob, PartitionResult, Worker


class JobFailed(Exception):
    """As Spark reports a job of which a task failed."""


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka, partitions=1)


def planned(world: World, gate: FlowGate) -> tuple[Ranges, pa.Table]:
    feeder = Feeder(world.connection, gate)
    ranges = feeder.plan()
    return ranges, feeder.rows(ranges)


def test_tasks_take_a_range_in_several_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.pipeline.spark.tasks.STEP_ROWS", 10)
    world.flow.hold("a")
    world.send(b"a", *(b"%d" % i for i in range(25)))
    world.send(b"b", *(b"%d" % i for i in range(25)))
    with gate_of(world) as gate:
        ranges, rows = planned(world, gate)
        before = gate.positions()[0].step

        def run(job: BatchJob) -> list[PartitionResult]:
            return [Worker(job).take(job, 0, iter(rows.to_batches(max_chunksize=5)))]

        TaskPath(gate).take(ranges, run, gate.settings)
        assert gate.positions()[0].step == before + 5
        assert gate._exclusive.states[0].events == 25
        assert gate.counts[:3] == (50, 25, 25)
    assert world.processed() == [b"%d" % i for i in range(25)]
    world.check_each_event_once()


@pytest.mark.parametrize("again", ["tasks", "driver"])
def test_a_task_that_outlives_its_failed_job_is_refused(world: World, again: str) -> None:
    world.send(b"a", *(b"%d" % i for i in range(20)))
    zombies: list[PartitionResult] = []
    begun, go_on = Event(), Event()

    with gate_of(world) as gate:
        ranges, rows = planned(world, gate)
        path = TaskPath(gate)

        def slow(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield batches[0]
            begun.set()
            assert go_on.wait(DEADLINE_S)
            yield from batches[1:]

        def failing(job: BatchJob) -> list[PartitionResult]:
            batches = rows.to_batches(max_chunksize=10)

            def live_on() -> None:
                zombies.append(Worker(job).take(job, 0, slow(batches)))

            task = Thread(target=live_on)
            task.start()
            tasks.append(task)
            assert begun.wait(DEADLINE_S)
            raise JobFailed

        def good(job: BatchJob) -> list[PartitionResult]:
            return [Worker(job).take(job, 0, iter(rows.to_batches()))]

        tasks: list[Thread] = []
        with pytest.raises(JobFailed):
            path.take(ranges, failing, gate.settings)
        if again == "tasks":
            path.take(ranges, good, gate.settings)
        else:  # under another transactional id: the old task's own would not refuse it
            take_rows(gate, ranges, rows, gate.settings, gate.epochs())
        go_on.set()
        tasks[0].join(DEADLINE_S)
        assert zombies[0].error is not None
        assert zombies[0].changes == []
        # The gate itself goes on undisturbed.
        world.send(b"a", b"20")
        Feeder(world.connection, gate).batch()
    assert world.processed() == [b"%d" % i for i in range(21)]
    world.check_each_event_once()


@pytest.mark.parametrize("same", [False, True], ids=["another worker", "the same worker"])
def test_second_attempt_of_a_task_reads_committed_state(world: World, same: bool) -> None:
    world.flow.hold("a")
    world.send(b"a", b"1", b"2")
    world.send(b"b", b"3")
    with gate_of(world) as gate:
        ranges, rows = planned(world, gate)

        def twice(job: BatchJob) -> list[PartitionResult]:
            worker = workers[0] = workers[0] or Worker(job)
            first = worker.take(job, 0, iter(rows.to_batches()))
            assert first.error is None
            second = worker if same else Worker(job)
            return [second.take(job, 0, iter(rows.to_batches()))]  # the first one's is lost

        def once(job: BatchJob) -> list[PartitionResult]:
            assert workers[0] is not None
            return [workers[0].take(job, 0, iter(rows.to_batches()))]

        workers: list[Worker | None] = [None]
        path = TaskPath(gate)
        path.take(ranges, twice, gate.settings)
        # The driver does not know what the first attempt did; it finds out before the next step.
        world.send(b"a", b"4")
        Feeder(world.connection, gate).batch()
        assert gate._exclusive.states[0].events == 3
        # Nor does that worker go on from what it made of it.
        world.send(b"a", b"5")
        ranges, rows = planned(world, gate)
        path.take(ranges, once, gate.settings)
        assert gate._exclusive.states[0].events == 4
    assert world.processed() == [b"3"]
    world.check_each_event_once()


def test_failed_partition_does_not_fail_others_of_its_worker(kafka: BrokerProcess) -> None:
    world = World(kafka, partitions=3)
    seen: dict[int, list[PartitionResult]] = {}

    def send(number: int) -> None:
        for key in (b"%d" % i for i in range(30)):
            world.send(key, b"%s-%d" % (key, number))

    with gate_of(world) as gate:
        path, feeder = TaskPath(gate), Feeder(world.connection, gate)
        workers: list[Worker] = []

        def run(job: BatchJob) -> list[PartitionResult]:
            if not workers:
                workers.append(Worker(job))
            seen[len(seen)] = found = [workers[0].take(job, p) for p in sorted(job.partitions)]
            return found

        send(0)
        path.take(feeder.plan(), run, gate.settings)
        another = TransactionalProducer(
            gate.connection.settings, gate.names.task_transactional_id(1), 100_000
        )
        another.renew()  # as one who would have the partition from here on
        another.close()
        send(1)
        path.take(feeder.plan(), run, gate.settings)
        assert [each.error is None for each in seen[1]] == [True, False, True]
        # Compared, and tried again with what is left.
        assert [(each.partition, each.error) for each in seen[2]] == [(1, None)]
    world.check_each_event_once()


class Batches:
    """Batches of three partitions, taken by one worker that lives on as Spark's do."""

    def __init__(self, world: World, gate: FlowGate) -> None:
        self.world = world
        self.jobs: list[list[PartitionResult]] = []
        self.after: dict[int, Callable[[], object]] = {}
        """Called when a partition of the next job was taken."""
        self._gate = gate
        self._path, self._feeder = TaskPath(gate), Feeder(world.connection, gate)
        self._worker: Worker | None = None

    def take(self, number: int) -> None:
        for key in (b"%d" % i for i in range(30)):
            self.world.send(key, b"%s-%d" % (key, number))
        self._path.take(self._feeder.plan(), self._run, self._gate.settings)

    def failures(self) -> list[list[int]]:
        """The partitions that failed in each job."""
        return [[each.partition for each in job if each.error] for job in self.jobs]

    def _run(self, job: BatchJob) -> list[PartitionResult]:
        self._worker = self._worker or Worker(job)
        results: list[PartitionResult] = []
        self.jobs.append(results)
        for partition in sorted(job.partitions):
            results.append(self._worker.take(job, partition))
            self.after.pop(partition, lambda: None)()
        return results


def test_no_batch_after_a_failed_task_and_its_repetition_fails(kafka: BrokerProcess) -> None:
    world = World(kafka, partitions=3)
    with gate_of(world) as gate:
        batches = Batches(world, gate)
        batches.take(0)
        another = TransactionalProducer(
            gate.connection.settings, gate.names.task_transactional_id(1), 100_000
        )
        another.renew()  # fences the worker's producer of this partition
        another.close()
        for number in range(1, 8):
            batches.take(number)
        assert batches.failures() == [[], [1], *([[]] * 7)]
    world.check_each_event_once()


def test_no_batch_after_a_broker_was_killed_in_a_job_and_came_back_fails(
    fresh_kafka: BrokerProcess,
) -> None:
    world = World(fresh_kafka, partitions=3, patience=5.0)
    with gate_of(world) as gate:
        batches = Batches(world, gate)
        batches.take(0)
        batches.after = {0: fresh_kafka.kill, 1: fresh_kafka.start}
        batches.take(1)
        assert 1 in batches.failures()[1]
        settled = len(batches.jobs)
        for number in range(2, 8):
            batches.take(number)
        assert batches.failures()[settled:] == [[]] * 6
    world.check_each_event_once()


Take = Callable[[FlowGate, Ranges, Feeder], None]
"""One of the ways in which a batch is read and written."""


def rows_in_driver(gate: FlowGate, ranges: Ranges, feeder: Feeder) -> None:
    take_rows(gate, ranges, feeder.rows(ranges), gate.settings, gate.epochs())


def rows_in_tasks(gate: FlowGate, ranges: Ranges, feeder: Feeder) -> None:
    rows = feeder.rows(ranges)

    def run(job: BatchJob) -> list[PartitionResult]:
        worker = Worker(job)
        shares = {p: rows_of(rows, p, *ranges[p]) for p in sorted(job.partitions)}
        return [worker.take(job, p, iter(each.to_batches())) for p, each in shares.items()]

    TaskPath(gate).take(ranges, run, gate.settings)


def ranges_in_driver(gate: FlowGate, ranges: Ranges, feeder: Feeder) -> None:
    cluster = ClusterClient(gate.connection.settings)
    read = read_ranges(cluster, gate.names.events, ranges)
    assert read is not None
    take_rows(gate, ranges, read.rows, gate.settings, gate.epochs())
    cluster.forget()


def ranges_in_tasks(gate: FlowGate, ranges: Ranges, feeder: Feeder) -> None:
    def run(job: BatchJob) -> list[PartitionResult]:
        worker = Worker(job)
        return [worker.take(job, p) for p in sorted(job.partitions)]

    TaskPath(gate).take(ranges, run, gate.settings)


def send_all_kinds(world: World, begun: int, *, large: bool) -> None:
    """Equal events for every world, with everything that may be odd about one."""
    for i in range(120):
        key = [b"a", b"held", b"c", b"\x00\xff", None, b""][i % 6]
        value = [b"%d" % i, b"invalid", None, b"", b"x" * 300][i % 5]
        headers: list[tuple[str, Any]] = [("n", b"%d" % i), ("n", None), ("ü", b"")]
        count = [0, 1, 3, 70][i % 4]
        partition: dict[str, Any] = {} if key else {"partition": i % world.partitions}
        world.producer.produce(
            world.names.events,
            b"large" * 10_000 if large and i == 63 else value,
            key,
            timestamp=begun + i * (-1) ** i,
            headers=(headers * 24)[:count],
            **partition,
        )
    assert world.producer.flush(DEADLINE_S) == 0


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
