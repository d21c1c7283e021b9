"""The raw zone's query: every event of a flow, landed in Delta exactly once.

It begins where the table says that it ends, under a checkpoint of its own that nobody reads again.
"""

import logging
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming.query import StreamingQuery

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import ConflictError, EventsLostError, UnavailableError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline import faults
from holdfast.pipeline.hadoop_files import HadoopFiles
from holdfast.pipeline.kafka_source import read_events
from holdfast.pipeline.lag import Lag
from holdfast.pipeline.metrics import Metrics
from holdfast.pipeline.planned import planned_ends
from holdfast.pipeline.query_errors import ending
from holdfast.pipeline.raw_table import COLUMNS, Landed, RawTable
from holdfast.pipeline.session import LAKE_POOL, use_pool
from holdfast.pipeline.topic_ids import Topic, look_up

log = logging.getLogger(__name__)

_ROWS_PER_FILE = 50_000
"""A file for each partition of every small batch would leave millions of them. Large batches have
enough for each, and fewer tasks than partitions would leave cores idle."""
_EARLIEST = -2
_LAND_S = 15.0
"""How long a batch may take to its end when the query is to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawZoneSettings:
    """Where the raw zones of all flows are, and how often events land."""

    lake: str
    checkpoints: str
    seconds: float = 10.0
    """Between two commits: each costs about a second, and leaves a file."""
    max_offsets_per_trigger: int = 500_000
    loss_accepted: frozenset[str] = frozenset()
    """Flows that go on where the log begins although events before it were deleted unseen."""


class RawZone:
    """Lands the events of one flow, committed ones alone, until it is stopped.

    Waits for nobody and holds up nobody: neither the gate nor other flows.
    """

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        settings: RawZoneSettings,
        metrics: Metrics,
    ) -> None:
        self._session = session
        self._connection = connection
        self._flow = flow
        self._topic = flow.names.events
        self._settings = settings
        self._metrics = metrics
        self._files = HadoopFiles(session)
        self._table = RawTable(session, table_location(settings.lake, flow.name))
        self._checkpoints = f"{settings.checkpoints}/raw-zone/{flow.name}"
        self._checkpoint = f"{self._checkpoints}/{uuid.uuid4()}"
        self._lag = Lag(connection, self._topic, metrics, flow.name, "raw-zone")
        self._landing = Lock()
        self._stopping = False
        self._query: StreamingQuery | None = None
        self._landed: Landed | None = None
        self._topic_id = ""
        self._error: Exception | None = None

    def start(self) -> None:
        use_pool(self._session, LAKE_POOL)
        self._landed = self._table.open()
        topic = look_up(self._connection.settings, self._topic)
        self._topic_id = self._check_topic(topic, self._landed)
        starts = self._starting_offsets(topic.partitions, self._landed.positions)
        self._files.delete(self._checkpoints)  # of earlier runs, which nobody goes on with
        self._query = (
            self._events(starts)
            .writeStream.queryName(f"{self._flow.name}.raw-zone")
            .option("checkpointLocation", self._checkpoint)
            .trigger(processingTime=f"{self._trigger_ms()} milliseconds")
            .foreachBatch(self._land)
            .start()
        )

    def change(self, flow: FlowDefinition) -> None:
        self._flow = flow  # limits, policy and schema mean nothing to the raw zone

    def failure(self) -> Exception | None:
        if self._error is not None or self._query is None:
            return self._error
        return ending(self._query)

    def settled(self) -> bool:
        return True

    def trouble(self) -> str | None:
        return None  # what it cannot get over ends it

    def measure(self) -> None:
        landed = self._landed
        if landed is not None:
            self._lag.measure(landed.positions)

    @property
    def landed(self) -> Landed | None:
        """How far the table is; None while it is not being written."""
        return None if self._stopping else self._landed

    def fill(self, rows: DataFrame) -> int:
        """Add rows to the table that the stream does not land: events that lie before its
        position, or that are not of the topic. The position stays. -> how many were added

        One commit. It is for the caller to leave out what is in the table already.
        """
        with self._landing:
            before = self.landed
            if before is None:
                raise UnavailableError(f"The raw zone of {self._flow.name} is not running.")
            self._landed = self._table.append(rows, before, before.positions, self._topic_id)
        self._metrics.events_landed.labels(self._flow.name).inc(self._landed.rows)
        return self._landed.rows

    def stop(self) -> None:
        self._stopping = True  # a batch that is on its way may end; none begins after it
        if self._landing.acquire(timeout=_LAND_S):
            self._landing.release()
        if self._query is not None:
            self._query.stop()  # a batch that waits for a broker is cut off by this
        with self._landing:
            self._table.close()

    def _events(self, starts: Mapping[int, int]) -> DataFrame:
        rows = read_events(
            self._session,
            self._connection,
            self._topic,
            starts=starts,
            limit=self._settings.max_offsets_per_trigger,
            reader=f"{self._flow.names.group}.raw-zone",
        )
        return rows.withColumn("date", sql.to_date("timestamp")).select(*COLUMNS)

    def _trigger_ms(self) -> int:
        return trigger_ms(self._settings.seconds, self._flow.name)

    def _land(self, rows: DataFrame, batch: int) -> None:
        with self._landing:
            if self._stopping:
                return
            try:
                self._land_batch(rows, batch)
            except Exception as error:
                self._error = error
                raise

    def _land_batch(self, rows: DataFrame, batch: int) -> None:
        assert self._landed is not None
        before = self._landed
        ends = planned_ends(self._files, self._checkpoint, batch, self._topic)
        planned = sum(end - before.positions.get(p, 0) for p, end in ends.items())
        files = max(1, -(-planned // _ROWS_PER_FILE))
        faults.reach("raw-zone-before-commit")
        with self._metrics.batch_seconds.labels(self._flow.name, "raw-zone").time():
            self._landed = self._table.append(rows.coalesce(files), before, ends, self._topic_id)
        faults.reach("raw-zone-after-commit")
        self._metrics.events_landed.labels(self._flow.name).inc(self._landed.rows)

    def _check_topic(self, topic: Topic, landed: Landed) -> str:
        if landed.topic_id not in (None, topic.id):
            raise ConflictError(
                f"The topic {self._topic} was deleted and made again, so its offsets mean other "
                f"events than those in {self._table.location}. Move that table elsewhere, and the "
                "raw zone begins a new one."
            )
        return topic.id

    def _starting_offsets(self, count: int, positions: Mapping[int, int]) -> dict[int, int]:
        offsets = Offsets(self._connection, committed_only=False)
        partitions = [Partition(self._topic, number) for number in range(count)]
        starts, ends = offsets.starts(partitions), offsets.ends(partitions)
        return {
            p.number: self._starting_offset(p, positions.get(p.number), starts[p], ends[p])
            for p in partitions
        }

    def _starting_offset(self, place: Partition, position: int | None, start: int, end: int) -> int:
        if position is None:
            return _EARLIEST
        if position > end:
            raise ConflictError(
                f"{place} ends at offset {end}, but events up to {position - 1} have landed "
                "already: its log was cut. Nothing is landed until someone has looked."
            )
        if position >= start:
            return position
        lost = f"Events {position} to {start - 1} of {place} were deleted before they were landed"
        if self._flow.name not in self._settings.loss_accepted:
            raise EventsLostError(
                f"{lost}. Nothing more is landed until someone accepts that: start the pipeline "
                f"with --accept-loss {self._flow.name} once."
            )
        log.warning("%s, which was accepted: going on from %d", lost, start)
        return start


def trigger_ms(seconds: float, flow: str) -> int:
    """How often a flow's events land, up to a quarter less often than asked for.

    Spark fires triggers of one length at the same moments. Lengths of their own keep flows from
    all taking the machine at once.
    """
    spread = 1 + zlib.crc32(flow.encode()) % 256 / 1024
    return round(1000 * seconds * spread)


def table_location(lake: str, flow: str) -> str:
    """Where the raw zone of a flow is."""
    return f"{lake.rstrip('/')}/raw/{flow}"
