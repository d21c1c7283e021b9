"""Raw zones under test, each of a flow of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess
from tests.clients import create_topic, wait_until
from tests.conftest import unique_name

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.client.settings import ClientSettings
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.raw_zone.zone import RawZone, RawZoneSettings, table_location

LANDS_WITHIN_S = 400.0


class Zone:
    """The raw zone of one flow under test: its topic, its table, and a part that can be started."""

    def __init__(self, broker: BrokerProcess, folder: Path, partitions: int = 1) -> None:
        self.broker = broker
        self.flow = FlowDefinition(
            name=unique_name("flow").lower(), partitions=partitions, created_at=0
        )
        self.topic = self.flow.names.events
        self.lake = str(folder / "lake")
        self.location = table_location(self.lake, self.flow.name)
        self.metrics = Metrics()
        create_topic(broker, self.topic, partitions, {"retention.ms": "-1"})

    def part(self, spark: SparkSession, **settings: Any) -> RawZone:
        connection = Connection(ClientSettings(bootstrap=self.broker.bootstrap))
        chosen = RawZoneSettings(lake=self.lake, **{"seconds": 0.1, **settings})
        return RawZone(spark, connection, self.flow, chosen, self.metrics)

    def run_until(self, spark: SparkSession, count: int, **settings: Any) -> None:
        """Start, wait until this many events are in the table, and stop."""
        part = self.part(spark, **settings)
        try:
            part.start()
            self.wait_for(part, count)
        finally:
            part.stop()

    def wait_for(self, part: RawZone, count: int) -> None:
        def landed() -> bool:
            failure = part.failure()
            if failure is not None:
                raise failure
            return len(self.offsets()) >= count

        wait_until(landed, f"{count} events in the table", LANDS_WITHIN_S)

    def end(self) -> int:
        """Where the first partition's committed events end."""
        place = Partition(self.topic, 0)
        connection = Connection(ClientSettings(bootstrap=self.broker.bootstrap))
        return Offsets(connection).ends([place])[place]

    def rows(self) -> list[Mapping[str, Any]]:
        """The rows that another engine than Spark reads, by partition and offset."""
        if not DeltaTable.is_deltatable(self.location):
            return []
        rows: list[Mapping[str, Any]] = DeltaTable(self.location).to_pyarrow_table().to_pylist()
        return sorted(rows, key=lambda row: (row["partition"], row["offset"]))

    def offsets(self) -> list[tuple[int, int]]:
        return [(row["partition"], row["offset"]) for row in self.rows()]


@pytest.fixture
def make_zone(tmp_path: Path) -> Callable[..., Zone]:
    def make(broker: BrokerProcess, partitions: int = 1) -> Zone:
        return Zone(broker, tmp_path, partitions)

    return make
