"""A flow with its raw zone and its runs, in this process. Without a gate."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, committed_records, producer, wait_until
from tests.conftest import unique_name

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.record import Record
from holdfast.client.settings import ClientSettings
from holdfast.flows.run_specs import RunSpec
from holdfast.flows.runs import Run, RunState
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.raw_zone.zone import RawZone, RawZoneSettings, table_location
from holdfast.pipeline.runs.part import RunsPart
from holdfast.pipeline.runs.run_log import RunLog

PATIENCE_S = 400.0
KEYS = [f"key-{number}" for number in range(20)]

ByKey = dict[bytes | None, list[bytes | None]]


class Flow:
    """A flow: events in, what landed of them, and runs that are asked for."""

    def __init__(self, bootstrap: str, broker: BrokerProcess, lake: Path, name: str) -> None:
        self.client = holdfast.connect(bootstrap)
        self.broker = broker
        self.name = name
        self.handle = self.client.flow(name)
        self.names = self.handle.names
        self.location = table_location(str(lake), name)

    def send(self, events: Iterable[tuple[str | None, bytes | None]], **more: Any) -> None:
        client = producer(self.broker, {"partitioner": "murmur2_random", "linger.ms": 5})
        for key, value in events:
            client.produce(self.names.events, value, key, **more)
            client.poll(0)
        assert client.flush(DEADLINE_S) == 0

    def fill(self, count: int) -> None:
        """So many numbered events, of 20 keys in turn, in the raw zone."""
        self.send((KEYS[n % len(KEYS)], b'{"n":%d}' % n) for n in range(count))
        self.wait_until_landed(count)

    def ask(self, work: RunSpec, run_id: str | None = None) -> Run:
        run_id = run_id or f"{work.name}-{uuid.uuid4().hex[:8]}"
        return self.client.runs.ask(self.name, work, actor="ana", run_id=run_id)

    def finish(self, run: Run, state: RunState = RunState.DONE) -> Run:
        """The run, once it has ended in that state."""
        ended = self.client.runs.wait(run.id, timeout=PATIENCE_S)
        assert ended.state is state, ended
        return ended

    def run(self, work: RunSpec) -> Mapping[str, Any]:
        """Returns the result."""
        progress = self.finish(self.ask(work)).progress
        assert progress is not None
        return progress.result

    def records(self, topic: str) -> list[Record]:
        return committed_records(self.broker.bootstrap, f"{self.name}.{topic}")

    def replayed(self, run: Run, topic: str = "events") -> list[Record]:
        """The records that the run has sent."""
        wanted = run.id.encode()
        return [r for r in self.records(topic) if r.header("holdfast-replay-run") == wanted]

    def raw(self) -> list[Mapping[str, Any]]:
        """The rows that another engine than Spark reads, by source and offset."""
        if not DeltaTable.is_deltatable(self.location):
            return []
        rows: list[Mapping[str, Any]] = DeltaTable(self.location).to_pyarrow_table().to_pylist()
        return sorted(rows, key=lambda row: (row["topic"], row["partition"], row["offset"]))

    def wait_until_landed(self, count: int) -> None:
        wait_until(lambda: len(self.raw()) >= count, f"{count} landed events", PATIENCE_S)

    def lose_from_the_raw_zone(self) -> int:
        """Remove every third event from the table, which must have no writer. Returns how many."""
        before = len(self.raw())
        table = DeltaTable(self.location)
        table.alter.set_table_properties({"delta.appendOnly": "false"})
        table.delete("offset % 3 = 1")
        table.alter.set_table_properties({"delta.appendOnly": "true"})
        return before - len(self.raw())


class Lake(Flow):
    """A flow whose raw zone and runs are parts in this process."""

    def __init__(self, broker: BrokerProcess, spark: SparkSession, folder: Path) -> None:
        name = unique_name("flow").lower()
        super().__init__(broker.bootstrap, broker, folder / "lake", name)
        self.definition = self.handle.create(partitions=2).describe()
        self._spark = spark
        self.connection = Connection(ClientSettings(bootstrap=broker.bootstrap))
        self._settings = RawZoneSettings(lake=str(folder / "lake"), seconds=0.2)
        self._zone: RawZone | None = None
        self._runs: RunsPart | None = None

    def start(self) -> None:
        self._log = RunLog(self.connection)
        self._zone = RawZone(
            self._spark, self.connection, self.definition, self._settings, Metrics()
        )
        self._zone.start()
        self._runs = RunsPart(
            self._spark,
            self.connection,
            self.definition,
            self._settings.lake,
            lambda: self._zone,
            self._log,
        )
        self._runs.start()

    def stop(self) -> None:
        if self._runs is not None:
            self._runs.stop()
            self._log.close()
        if self._zone is not None:
            self._zone.stop()
        self._runs = self._zone = None


@contextmanager
def running(broker: BrokerProcess, spark: SparkSession, folder: Path) -> Iterator[Lake]:
    """A new flow whose parts run."""
    lake = Lake(broker, spark, folder)
    lake.start()
    try:
        yield lake
    finally:
        lake.stop()


def by_key(records: Iterable[Record]) -> ByKey:
    """Their values, in the order in which they were read."""
    found = defaultdict(list)
    for record in records:
        found[record.key].append(record.value)
    return dict(found)


def numbered(count: int) -> ByKey:
    """The events that `Flow.fill` has sent, by key."""
    values: list[bytes | None] = [b'{"n":%d}' % n for n in range(count)]
    return {key.encode(): values[i :: len(KEYS)] for i, key in enumerate(KEYS)}
