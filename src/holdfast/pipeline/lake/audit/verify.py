"""The job: fix the bounds, read each log once, ask every question, and remember how far it came."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition, Where
from holdfast.errors import ConflictError, HoldfastError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.lake.audit.bounds import Bounds, Stretch, fix_bounds, has_moved
from holdfast.pipeline.lake.audit.commands import faults_of_answers, read_commands
from holdfast.pipeline.lake.audit.coordinates import (
    ROWS_PER_TASK,
    Logs,
    Scope,
    judge,
    landed_rows,
    markers,
    named,
    ordinary,
    still_held,
    within,
)
from holdfast.pipeline.lake.audit.early import faults_of_releases, releases, testifies
from holdfast.pipeline.lake.audit.journal import (
    beginnings,
    faults_of_journal,
    read_journal,
    stretches,
)
from holdfast.pipeline.lake.audit.naming import name_faults
from holdfast.pipeline.lake.audit.raw_side import RawSide
from holdfast.pipeline.lake.audit.remembered import Border, Remembered, Seen
from holdfast.pipeline.lake.audit.standing import ends_of_steps, faults_of_status, read_status
from holdfast.pipeline.lake.audit.verification import (
    CHECKS,
    RAW_ZONE,
    STATUS,
    Check,
    Fault,
    Found,
    Verification,
)
from holdfast.pipeline.raw_table import Landed
from holdfast.pipeline.session import for_few_rows
from holdfast.pipeline.topic_ids import look_up

FEW = 100_000
"""Records in all logs together: up to so many, Spark's own preparations are what takes the time."""
_ATTEMPTS = 3
"""How often it begins anew because a log has let go of what was about to be read."""

Progress = Callable[[float, str], None]
"""Called with the share that is done, and what comes next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """What of a flow is verified."""

    lake: str
    raw_zone: bool = True
    full: bool = False
    """From the gate's first event on, whatever was verified before."""
    start: Where | None = None
    end: Where | None = None
    """Limits on the source. With one, nothing is remembered."""
    examples: int = 20
    """Most places that are named of each fault."""

    @property
    def limited(self) -> bool:
        return self.start is not None or self.end is not None


def verify(
    session: SparkSession,
    connection: Connection,
    flow: FlowDefinition,
    options: VerifyOptions,
    progress: Progress = lambda share, what: None,
) -> Verification:
    """Account for every event of a flow, which may run meanwhile.

    Raises what stands against knowing: ConflictError if the gate has never run or topics were made
    anew, NotFoundError if there is no raw zone, UnavailableError and its like if the brokers are
    away. A verdict is given only if everything could be looked at.
    """
    began = time.monotonic()
    for again in reversed(range(_ATTEMPTS)):
        progress(0.0, "Fixing the bounds")
        bounds = fix_bounds(connection, flow.names, flow.partitions)
        fitting = session if bounds.records > FEW else for_few_rows(session)
        audit = _Audit(fitting, connection, flow, options, progress)
        try:
            return audit.run(bounds, began)
        except HoldfastError:
            raise
        except Exception:
            # The keeper lets go of held rows that are out, and retention of old events.
            if not again or not has_moved(connection, flow.names, bounds):
                raise
        finally:
            audit.close()
    raise AssertionError("the last attempt returns or raises")


class _Audit:
    """One attempt."""

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        options: VerifyOptions,
        progress: Progress,
    ) -> None:
        self._session = session
        self._connection = connection
        self._flow = flow
        self._names = flow.names
        self._options = options
        self._progress = progress
        self._remembered = Remembered(session, options.lake, flow.name)
        self._raw = RawSide(session, options.lake, flow.names)
        self._at_hand: list[DataFrame] = []

    def close(self) -> None:
        for rows in self._at_hand:
            rows.unpersist()

    def run(self, bounds: Bounds, began: float) -> Verification:
        topic_id = look_up(self._connection.settings, self._names.events).id
        landed = self._raw.landed(topic_id) if self._options.raw_zone else None
        border = self._border(topic_id, bounds)
        self._check_outputs(bounds, border)
        held = self._held(bounds, border)
        self._progress(0.05, "Reading the journal")
        journal = self._keep_at_hand(
            read_journal(self._session, self._connection, self._names, bounds)
        )
        scope = self._scope(bounds, journal, landed, border)
        commands, answers = self._answers(bounds, journal, border)
        self._progress(0.15, "Comparing status with the journal")
        standing, compared = self._standing(bounds, journal)
        self._progress(0.25, "Accounting for every event")
        kept, counted = self._account(bounds, journal, scope, border, held)
        judged = kept.where("NOT ordinary").select(
            "p", "k", "o", named(scope).alias("faults"), "pending"
        )
        self._progress(0.9, "Naming what is wrong")
        early = faults_of_releases(kept, releases(journal))
        found = name_faults(judged, [answers, standing, early], self._options.examples)
        if scope.raw is not None and border is not None:
            found |= self._raw.changed_below(border)
        totals = _added(counted, border)
        if not found and not self._options.limited:
            self._remember(judged, bounds, scope, topic_id, totals)
        return Verification(
            flow=self._flow.name,
            clean=not found,
            events=totals["events"],
            processed=totals["processed"],
            held=totals["held"],
            dead=totals["dead"],
            landed=totals["landed"],
            commands=commands,
            checks=self._checks(found, totals, commands, compared),
            ranges={p: (start, scope.ends[p]) for p, start in scope.starts.items()},
            incremental=border is not None,
            seconds=round(time.monotonic() - began, 2),
        )

    def _keep_at_hand(self, rows: DataFrame) -> DataFrame:
        """Rows that are looked at more than once, in memory or on disk until the run ends."""
        kept = rows.persist(StorageLevel.MEMORY_AND_DISK)
        self._at_hand.append(kept)
        return kept

    def _border(self, topic_id: str, bounds: Bounds) -> Border | None:
        """Where to go on; None to look at everything."""
        if self._options.full or self._options.limited:
            return None
        border = self._remembered.border()
        if border is None or border.topic_id != topic_id or set(border.events) != set(bounds.taken):
            return None
        if self._options.raw_zone and not border.raw:
            return None
        # A log that ends before it was looked at was made anew: nothing of it is known.
        for topic, log in self._outputs(bounds).items():
            if any(log.ends.get(p, 0) < end for p, end in border.outputs[topic].end.items()):
                return None
        return border

    def _outputs(self, bounds: Bounds) -> dict[str, Stretch]:
        names = self._names
        return {
            names.processed: bounds.processed,
            names.held: bounds.held,
            names.dlq: bounds.dlq,
        }

    def _check_outputs(self, bounds: Bounds, border: Border | None) -> None:
        """What has come out must still be there, unless it was verified before."""
        for topic, log in self._outputs(bounds).items():
            if topic == self._names.held or self._options.limited:
                continue  # the keeper lets go of rows of held once they are out
            seen = border.outputs[topic].settled if border else {}
            for p, start in log.starts.items():
                if start > seen.get(p, 0):
                    raise ConflictError(
                        f"{topic}[{p}] begins at offset {start}: what was before it is gone, and "
                        "cannot be accounted for. Verify what came later: --since or --from."
                    )

    def _scope(
        self, bounds: Bounds, journal: DataFrame, landed: Landed | None, border: Border | None
    ) -> Scope:
        began = beginnings(journal)
        starts = {p: min(began.starts.get(p, end), end) for p, end in bounds.taken.items()}
        ends = dict(bounds.taken)
        starts, ends = self._limit(starts, ends)
        expected = None
        if landed is not None:
            expected = self._raw.expected((starts, ends), landed, border, bounds)
        return Scope(
            starts=starts,
            ends=ends,
            border=starts if border is None else border.events,
            log_starts=bounds.events.starts,
            log_ends=bounds.events.ends,
            raw=expected,
            dense=frozenset() if expected is None else self._raw.dense(expected),
            held_since=bounds.held_since,
            losses=began.losses,
        )

    def _limit(
        self, starts: dict[int, int], ends: dict[int, int]
    ) -> tuple[dict[int, int], dict[int, int]]:
        places = [Partition(self._names.events, p) for p in starts]
        offsets = Offsets(self._connection)
        if self._options.start is not None:
            found = offsets.resolve(places, self._options.start, clamp=True)
            starts = {p.number: max(starts[p.number], offset) for p, offset in found.items()}
        if self._options.end is not None:
            found = offsets.resolve(places, self._options.end, clamp=True)
            ends = {p.number: min(ends[p.number], offset) for p, offset in found.items()}
        return {p: min(start, ends[p]) for p, start in starts.items()}, ends

    def _answers(
        self, bounds: Bounds, journal: DataFrame, border: Border | None
    ) -> tuple[int, DataFrame]:
        since = dict.fromkeys(bounds.positions, 0) if border is None else dict(border.control)
        partitions, first = self._flow.partitions, min(since.values())
        commands = self._keep_at_hand(
            read_commands(self._session, self._connection, self._names, bounds, first, partitions)
        )
        count = commands.where(sql.col("o") >= first).count()
        faults = faults_of_answers(commands, journal, since, bounds)
        return count, faults.unionByName(faults_of_journal(journal))

    def _standing(self, bounds: Bounds, journal: DataFrame) -> tuple[DataFrame, int]:
        status = self._keep_at_hand(
            read_status(self._session, self._connection, self._names, bounds)
        )
        ends = ends_of_steps(status, bounds)
        return faults_of_status(status, journal, bounds, ends), len(ends)

    def _held(self, bounds: Bounds, border: Border | None) -> DataFrame:
        """The rows of held, before anything else: the keeper lets go of them once they are out, and
        an audit of a flow that drains all the time would begin anew each time."""
        logs = Logs(self._session, self._connection, self._names, border)
        rows = self._keep_at_hand(logs.held(self._unseen(bounds, border)[self._names.held]))
        rows.count()
        return rows

    def _unseen(self, bounds: Bounds, border: Border | None) -> dict[str, Stretch]:
        """What of each output was not verified before."""
        return {
            topic: log.after(border.outputs[topic].settled if border else {})
            for topic, log in self._outputs(bounds).items()
        }

    def _account(
        self,
        bounds: Bounds,
        journal: DataFrame,
        scope: Scope,
        border: Border | None,
        held: DataFrame,
    ) -> tuple[DataFrame, dict[str, int]]:
        """Every coordinate that is not ordinary, with witnesses; and what was counted."""
        logs = Logs(self._session, self._connection, self._names, border)
        events = self._events_to_read(scope)
        parts = self._unseen(bounds, border)
        processed, dead = parts[self._names.processed], parts[self._names.dlq]
        outputs = [logs.processed(processed), held, logs.dead(dead)]
        rows = [logs.events(events), *(within(each, scope) for each in outputs)]
        length = events.length + sum(part.length for part in parts.values())
        if scope.raw is not None:
            rows.append(landed_rows(self._raw.rows(), scope))
            length += Stretch(*scope.raw).length
        if border is not None:
            rows.append(still_held(self._remembered.still_held()))
        rows.append(markers(stretches(journal, bounds)))
        seen = Observation()
        judged = (
            judge(reduce(DataFrame.unionByName, rows), scope, max(2, -(-length // ROWS_PER_TASK)))
            .observe(
                seen,
                sql.count_if(sql.expr("exists AND NOT verified")).alias("events"),
                sql.sum("processed").alias("processed"),
                sql.sum("dead_letters").alias("dead"),
                sql.sum("landed").alias("landed"),
                sql.count_if("pending").alias("held"),
            )
            .where(~ordinary(scope) | testifies(Stretch(scope.border, scope.ends).length))
        )
        kept = self._keep_at_hand(judged)
        kept.count()
        counted = {name: int(count or 0) for name, count in seen.get.items()}
        return kept.withColumn("ordinary", ordinary(scope)), counted

    def _events_to_read(self, scope: Scope) -> Stretch:
        """What of the events the raw zone does not tell by itself."""
        starts = {p: max(scope.border[p], scope.log_starts[p]) for p in scope.starts}
        if scope.raw is not None:
            raw_starts, raw_ends = scope.raw
            for p, start in starts.items():
                needed = raw_ends[p] if p in scope.dense else min(start, raw_starts[p])
                starts[p] = max(needed, scope.log_starts[p])
        return Stretch({p: min(s, scope.ends[p]) for p, s in starts.items()}, scope.ends)

    def _remember(
        self,
        judged: DataFrame,
        bounds: Bounds,
        scope: Scope,
        topic_id: str,
        totals: Mapping[str, int],
    ) -> None:
        raw = {} if scope.raw is None else dict(scope.raw[1])
        self._progress(0.95, "Remembering what was verified")
        self._remembered.keep(
            judged.where("pending"),
            Border(
                topic_id=topic_id,
                events=scope.ends,
                control={p: position.control for p, position in bounds.positions.items()},
                outputs={
                    topic: Seen(bounds.settled[topic], log.ends)
                    for topic, log in self._outputs(bounds).items()
                },
                raw=raw,
                raw_rows=self._raw.count_below(raw) if raw else 0,
                totals=totals,
            ),
        )

    def _checks(
        self,
        found: Mapping[Fault, Found],
        totals: Mapping[str, int],
        commands: int,
        compared: int,
    ) -> tuple[Check, ...]:
        examined = dict.fromkeys(CHECKS, totals["events"])
        examined["order of each key"] = totals["processed"]
        examined["every command answered"] = commands
        examined[RAW_ZONE] = totals["landed"]
        examined[STATUS] = compared
        skipped = {}
        if not self._options.raw_zone:
            skipped[RAW_ZONE] = "asked not to look at the raw zone"
        if not compared:
            skipped[STATUS] = "status has moved on since the bounds were fixed"
        return tuple(
            Check(
                name,
                examined[name],
                tuple(found[fault] for fault in faults if fault in found),
                skipped.get(name, ""),
            )
            for name, faults in CHECKS.items()
        )


def _added(totals: Mapping[str, int], border: Border | None) -> dict[str, int]:
    """What was counted now, on top of what was below the border. What is held is held now."""
    before = {} if border is None else border.totals
    return {
        name: count + (0 if name == "held" else before.get(name, 0))
        for name, count in totals.items()
    }
