"""The raw zone, which lands every event of a flow in Delta exactly once.

It goes on at the position stored in the table. While there are no events, nothing runs. The time
between two commits follows the rate, up to a bound. Between commits it keeps the table small.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Lock, Thread
from time import monotonic

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast import faults
from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import ConflictError, EventsLostError, HoldfastError, UnavailableError
from holdfast.flows.registry import FlowDefinition
from holdfast.gate import Unreadable, UnreadableEventsError
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.fetch import Ranges, read_ranges
from holdfast.kafka.topic_ids import Topic, TopicIds
from holdfast.kafka.watch import KnownEnds, LogWatch, Subscription
from holdfast.pipeline.parts.lag import Lag
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.raw_zone.spacing import Spacing
from holdfast.pipeline.raw_zone.table import COLUMNS, Landed, RawTable
from holdfast.pipeline.raw_zone.upkeep import COMPACT_FILES, Upkeep, properties
from holdfast.pipeline.spark.errors import root_cause
from holdfast.pipeline.spark.kafka_source import read_range
from holdfast.pipeline.spark.readable import as_spark_reads, find_unreadable, read_slice, skips
from holdfast.pipeline.spark.session import LAKE_POOL, use_pool

log = logging.getLogger(__name__)

_ROWS_PER_FILE = 50_000
"""A file per partition in every small batch would make millions of files. A large batch has enough
rows for a file per partition, and with fewer tasks cores would be idle."""
_FEW_ROWS = 10_000
_FEW_BYTES = 8 * 1024**2
"""Up to this size our own reader is faster than a Spark job that reads from Kafka."""
_LOOK_SECONDS = 1.0
"""While events wait for the next commit: there may be enough of them to commit at once."""
_compacting = Lock()
"""One table at a time: after a start all of them may be due, and gates need the cores."""
_LAND_SECONDS = 15.0
"""How long a running batch may take when the part is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawZoneSettings:
    """The location of all raw zones, and how often events land."""

    lake: str
    seconds: float = 60.0
    """The most seconds between two commits: each costs about a second and creates a file."""
    most_offsets: int = 500_000
    """The most offsets that one commit spans. Once there are as many, they land at once."""
    history: timedelta = timedelta(hours=24)
    """For how long old versions of a table can be read."""
    compact_files: int = COMPACT_FILES
    """The number of new files after which small files are compacted."""
    loss_accepted: frozenset[str] = frozenset()
    """Flows that continue at the log's start although unread events before it were deleted."""


class RawZone:
    """Lands the committed events of one flow until it is stopped.

    It is independent of the gate and of other flows: it neither waits for them nor delays them.
    """

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        settings: RawZoneSettings,
        metrics: Metrics,
        watch: LogWatch | None = None,
    ) -> None:
        """`watch`: the log watch of committed events of the process; its own unless given."""
        self._session = session
        self._connection = connection
        self._flow = flow
        self._topic = flow.names.events
        self._settings = settings
        self._metrics = metrics
        self._watch = watch or LogWatch(connection.settings, committed=True)
        self._own_watch = None if watch else self._watch
        self._watching: Subscription | None = None
        self._cluster = ClusterClient(connection.settings)
        self._offsets = Offsets(connection, committed_only=False)
        location = table_location(settings.lake, flow.name)
        self._table = RawTable(session, location, properties(settings.history))
        self._upkeep = Upkeep(session, location, settings.history)
        self._new_files: int | None = None
        """Files since the last compaction; None: the files were not counted yet."""
        self._lag = Lag(metrics, flow.name, "raw-zone")
        self._landing = Lock()
        self._starts: dict[int, int] = {}
        """Where each partition began when the part started."""
        self._ends = KnownEnds()
        self._woken = Event()
        self._stopping = Event()
        self._landed: Landed | None = None
        self._topic_id = ""
        self._ids = TopicIds(connection.settings)
        self._epochs: dict[int, int] = {}
        """The leader epoch of each partition, as of the last landing."""
        self._error: Exception | None = None
        self._spacing = Spacing(settings.seconds, flow.name)
        self._thread = Thread(target=self._run, name=f"raw zone of {flow.name}", daemon=True)

    def start(self) -> None:
        self._metrics.raw_zone_bound.labels(self._flow.name).set(self._settings.seconds)
        self._landed = self._table.open()
        topic = self._ids.look_up([self._topic])[self._topic]
        self._topic_id = self._check_topic(topic, self._landed)
        self._starts = self._starting_offsets(topic.partitions, self._landed.positions)
        self._ends.begin(self._starts)
        self._epochs = dict(self._landed.epochs)
        self._follow_leaders()
        self._watching = self._watch.add(self._topic, self._starts, self._moved, self._not_watched)
        self._thread.start()

    def change(self, flow: FlowDefinition) -> None:
        self._flow = flow  # limits, policy and schema do not affect the raw zone

    def failure(self) -> Exception | None:
        return self._error

    def settled(self) -> bool:
        return True

    def trouble(self) -> str | None:
        return None  # every problem ends this part

    def measure(self) -> None:
        if self._landed is not None:
            self._lag.measure(self._reached(), self._ends.current())

    @property
    def landed(self) -> Landed | None:
        """The table's position; None while this part does not write."""
        return None if self._stopping.is_set() else self._landed

    def fill(self, rows: DataFrame) -> int:
        """Add rows that the stream does not land: events before its position, or rows from files.
        The position stays. Returns the number of rows added.

        Makes one commit. The caller must leave out rows that are already in the table.
        """
        with self._landing:
            before = self.landed
            if before is None:
                raise UnavailableError(f"The raw zone of {self._flow.name} is not running.")
            landed = self._table.append(rows, before, before.positions, self._topic_id)
            self._count(landed)
        return landed.rows

    def stop(self) -> None:
        self._stopping.set()  # a running batch may finish; no other starts
        self._woken.set()
        if self._watching is not None:
            self._watching.cancel()
        if self._own_watch is not None:
            self._own_watch.stop()
        if self._landing.acquire(timeout=_LAND_SECONDS):
            self._landing.release()
        self._session.sparkContext.cancelJobGroup(self._job_group)  # it may wait for a broker
        with self._landing:
            self._table.close()
            self._cluster.forget()
            self._ids.close()

    @property
    def _job_group(self) -> str:
        return f"holdfast.raw-zone.{self._flow.name}"

    def _moved(self, ends: Mapping[int, int]) -> None:
        self._ends.advance(ends)
        self._woken.set()

    def _not_watched(self, error: HoldfastError) -> None:
        if isinstance(error, EventsLostError):
            self._error = error  # the next start compares positions with the log

    def _run(self) -> None:
        try:
            use_pool(self._session, LAKE_POOL)
            what = f"Raw zone of {self._flow.name}"
            self._session.sparkContext.setJobGroup(self._job_group, what, False)
            while True:
                self._woken.clear()  # before `stopping` is looked at, so that no end is missed
                if self._stopping.is_set():
                    return
                backlog = _count(self._remaining())
                wait = self._spacing.wait(backlog, monotonic())
                if not backlog:
                    self._woken.wait()
                elif wait > 0 and backlog < self._settings.most_offsets:
                    self._stopping.wait(min(wait, _LOOK_SECONDS))
                else:
                    self._spacing.lands(backlog, monotonic())
                    self._land(self._next_ends())
                    if _count(self._remaining()) < self._settings.most_offsets:
                        self._tend()
        except Exception as error:
            self._error = error

    def _tend(self) -> None:
        """Keep the table small, after enough commits. Landing never fails because of it. While
        another table is compacted, the next landing asks again."""
        if self._new_files is not None and self._new_files < self._settings.compact_files:
            return
        if not _compacting.acquire(blocking=False):
            return
        try:
            with self._landing:
                if not self._stopping.is_set():
                    self._compact()
        except Exception as error:
            self._new_files = 0  # it is tried again after as many files
            log.warning("The raw zone of %s was not compacted: %s", self._flow.name,
                        root_cause(error))  # fmt: skip
        finally:
            _compacting.release()

    def _compact(self) -> None:
        """Compact the table if it has enough new files; after a start all of them may be new."""
        files = self._upkeep.count_files()
        new = files if self._new_files is None else self._new_files
        if new >= self._settings.compact_files:
            self._upkeep.run()
            files, new = self._upkeep.count_files(), 0
        self._new_files = new
        self._metrics.raw_zone_files.labels(self._flow.name).set(files)

    def _next_ends(self) -> dict[int, int]:
        """The position after the next commit."""
        remaining = self._remaining()
        part = min(1.0, self._settings.most_offsets / _count(remaining))
        return {p: s + max(1, int(part * (end - s))) for p, (s, end) in remaining.items()}

    def _remaining(self, ends: Mapping[int, int] | None = None) -> dict[int, tuple[int, int]]:
        """The ranges that have not landed yet, up to these ends, or to the known ones."""
        ends = self._ends.current() if ends is None else ends
        reached = self._reached()
        return {p: (reached.get(p, 0), end) for p, end in ends.items() if reached.get(p, 0) < end}

    def _reached(self) -> dict[int, int]:
        """The first offset of each partition that has neither landed nor been given up as lost."""
        assert self._landed is not None
        landed = self._landed.positions
        return {
            p: max(self._starts.get(p, 0), landed.get(p, 0)) for p in self._starts.keys() | landed
        }

    def _land(self, ends: Mapping[int, int]) -> None:
        with self._landing:
            if self._stopping.is_set():
                return
            faults.reach("raw-zone-before-commit")
            with self._metrics.batch_seconds.labels(self._flow.name, "raw-zone").time():
                self._land_batch(ends)
            faults.reach("raw-zone-after-commit")

    def _follow_leaders(self) -> None:
        """Raises ConflictError if a new leader lacks events that have landed: other events may be
        at their offsets."""
        topic = self._ids.look_up([self._topic])[self._topic]
        reached = self._reached()
        for p, epoch in enumerate(topic.epochs):
            before = self._epochs.get(p, epoch)
            if before >= epoch:
                continue
            end = self._ids.end_of_epoch(self._topic, p, before, epoch)
            if end >= reached.get(p, 0):
                continue
            lost = (
                f"A new leader that lacked some events has cut partition {p} of {self._topic} back "
                f"to offset {end}, but events up to {reached[p] - 1} have already landed"
            )
            if self._flow.name not in self._settings.loss_accepted:
                raise ConflictError(
                    f"{lost}. The raw zone has stopped. Move the table {self._table.location} "
                    "elsewhere to start a new one. Or start the pipeline once with --accept-loss "
                    f"{self._flow.name} to keep it, without new events below that offset."
                )
            log.warning("%s, which was accepted", lost)
        self._epochs = dict(enumerate(topic.epochs))

    def _land_batch(self, ends: Mapping[int, int]) -> None:
        self._follow_leaders()
        ranges = self._remaining(ends)
        reach = {**self._reached(), **ends}
        try:
            rows = self._few_rows(ranges)
            if rows is None:
                files = max(1, -(-_count(ranges) // _ROWS_PER_FILE))
                rows = self._read_by_spark(ranges).coalesce(files)
            self._add(self._columns(rows), reach)
        except HoldfastError:
            raise
        except Exception:  # from Spark, without the offset at which it failed
            if find_unreadable(self._cluster, self._topic, ranges) is None:
                raise
            self._land_around(ends)

    def _few_rows(self, ranges: Ranges) -> DataFrame | None:
        """The events of the ranges, if they are few and can all be read."""
        if _count(ranges) > _FEW_ROWS:
            return None
        read = read_ranges(self._cluster, self._topic, ranges, most_bytes=_FEW_BYTES)
        if read is None or read.unreadable:
            return None
        return as_spark_reads(self._session, self._topic, read.rows)

    def _read_by_spark(self, ranges: Ranges) -> DataFrame:
        """The events of the ranges. Spark's source needs all partitions of the topic."""
        at = self._reached()
        return read_range(
            self._session,
            self._connection,
            self._topic,
            starts={**at, **{p: start for p, (start, _) in ranges.items()}},
            ends={**at, **{p: end for p, (_, end) in ranges.items()}},
            reader=f"{self._flow.names.group}.raw-zone",
        )

    @staticmethod
    def _columns(rows: DataFrame) -> DataFrame:
        return rows.withColumn("date", sql.to_date("timestamp")).select(*COLUMNS)

    def _add(self, rows: DataFrame, reach: Mapping[int, int]) -> None:
        assert self._landed is not None
        self._count(self._table.append(rows, self._landed, reach, self._topic_id, self._epochs))

    def _count(self, landed: Landed) -> None:
        self._landed = landed
        self._metrics.events_landed.labels(self._flow.name).inc(landed.rows)
        if self._new_files is not None:
            self._new_files += landed.files
            self._metrics.raw_zone_files.labels(self._flow.name).inc(landed.files)

    def _land_around(self, ends: Mapping[int, int]) -> None:
        """Land the readable events, part by part, without those that a command has skipped.

        Any other unreadable batch ends the part, which restarts later.
        """
        while remaining := self._remaining(ends):
            ranges, read = read_slice(self._cluster, self._topic, remaining)
            reach = {**self._reached(), **{p: end for p, (_, end) in ranges.items()}}
            stops = [bad for bad in read.unreadable.values() if not self._may_skip(bad)]
            for bad in read.unreadable.values():
                if bad not in stops:
                    log.warning("The raw zone of %s leaves out %s", self._flow.name, bad)
                    reach[bad.partition] = bad.end
            self._add(self._columns(as_spark_reads(self._session, self._topic, read.rows)), reach)
            if stops:
                raise UnreadableEventsError(self._flow.name, stops[0])

    def _may_skip(self, unreadable: Unreadable) -> bool:
        """Returns True if a command has skipped these events, or `--accept-loss` names the flow."""
        return self._flow.name in self._settings.loss_accepted or any(
            start <= unreadable.start and unreadable.end <= end
            for _, start, end in skips(self._connection, self._flow.names, unreadable.partition)
        )

    def _check_topic(self, topic: Topic, landed: Landed) -> str:
        if landed.topic_id not in (None, topic.id):
            raise ConflictError(
                f"The topic {self._topic} was deleted and created again, so its offsets are other "
                f"events than those in {self._table.location}. Move that table elsewhere; the raw "
                "zone then starts a new one."
            )
        return topic.id

    def _starting_offsets(self, count: int, positions: Mapping[int, int]) -> dict[int, int]:
        partitions = [Partition(self._topic, number) for number in range(count)]
        starts, ends = self._offsets.starts(partitions), self._offsets.ends(partitions)
        return {
            p.number: self._starting_offset(p, positions.get(p.number), starts[p], ends[p])
            for p in partitions
        }

    def _starting_offset(
        self, partition: Partition, position: int | None, start: int, end: int
    ) -> int:
        if position is None:
            return start
        if position > end:
            raise ConflictError(
                f"{partition} ends at offset {end}, but events up to {position - 1} have already "
                "landed: its log was truncated. The raw zone has stopped. Find out why, and move "
                f"the table {self._table.location} elsewhere to start a new one."
            )
        if position >= start:
            return position
        lost = f"Events {position} to {start - 1} of {partition} were deleted before they landed"
        if self._flow.name not in self._settings.loss_accepted:
            raise EventsLostError(
                f"{lost}. The raw zone has stopped. To accept the loss, start the pipeline once "
                f"with --accept-loss {self._flow.name}."
            )
        log.warning("%s, which was accepted: continuing at %d", lost, start)
        return start


def table_location(lake: str, flow: str) -> str:
    """The location of a flow's raw zone."""
    return f"{lake.rstrip('/')}/raw/{flow}"


def _count(ranges: Ranges) -> int:
    return sum(end - start for start, end in ranges.values())
