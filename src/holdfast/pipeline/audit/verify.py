"""The job: reads the bounds, reads each log once, runs every check, and stores a checkpoint."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition, Where
from holdfast.client.topics import Topics
from holdfast.errors import ConflictError, HoldfastError
from holdfast.flows.registry import FlowDefinition
from holdfast.kafka.topic_ids import look_up
from holdfast.pipeline.audit.bounds import Bounds, LogRange, at, fix_bounds, has_moved, unchanged
from holdfast.pipeline.audit.checkpoint import Checkpoint, CheckpointStore, OutputCheckpoint
from holdfast.pipeline.audit.commands import faults_of_answers, read_commands
from holdfast.pipeline.audit.coordinates import (
    ROWS_PER_TASK,
    Scope,
    fault_names,
    faults_of_held,
    judge,
    ordinary,
    within,
)
from holdfast.pipeline.audit.early_release_check import faults_of_releases, is_witness, releases
from holdfast.pipeline.audit.holds_check import faults_of_holds
from holdfast.pipeline.audit.journal import (
    JournalFacts,
    faults_of_journal,
    faults_of_pauses,
    hold_spans,
    read_facts,
    read_journal,
    still_needed,
)
from holdfast.pipeline.audit.logs import Logs, landed_rows, markers, still_held
from holdfast.pipeline.audit.raw_zone_check import RawZoneCheck
from holdfast.pipeline.audit.reading import Damage, LogReading, find_damage
from holdfast.pipeline.audit.reasons import faults_of_reasons
from holdfast.pipeline.audit.report import Examined, missing_logs, name_faults
from holdfast.pipeline.audit.rules import Rules
from holdfast.pipeline.audit.seal_chain import SealChain
from holdfast.pipeline.audit.seals import Contents, Seal
from holdfast.pipeline.audit.status_check import faults_of_status, find_steps, read_status
from holdfast.pipeline.audit.verification import Verification
from holdfast.pipeline.raw_zone.table import Landed
from holdfast.pipeline.spark.few_rows import FEW

log = logging.getLogger(__name__)

_ATTEMPTS = 3
"""How often the audit starts, because a log may delete records before they are read."""

Progress = Callable[[float, str], None]
"""Called with the share that is done, and the next activity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """The part of a flow to verify."""

    lake: str
    raw_zone: bool = True
    full: bool = False
    """Start at the gate's first event and ignore the checkpoint."""
    start: Where | None = None
    end: Where | None = None
    """Limits on the source. With a limit, no checkpoint is stored."""
    examples: int = 20
    """The maximum number of locations reported per fault."""

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

    Raises an error if that is not possible: ConflictError if the gate has never run or a topic was
    recreated, NotFoundError if there is no raw zone, a TransientError if no broker answers. There
    is a verdict only if everything could be read.
    """
    began = time.monotonic()
    damage: Damage = {}
    for again in reversed(range(_ATTEMPTS)):
        progress(0.0, "Fixing the bounds")
        bounds = fix_bounds(connection, flow.names, flow.partitions)
        few = bounds.records <= FEW
        reading = LogReading.of(session, connection, flow.names, damage, few=few)
        audit = _Audit(reading, flow, options, progress)
        try:
            return audit.run(bounds, began)
        except HoldfastError:
            raise
        except Exception:
            if not again:
                raise
            # The keeper trims drained rows of held, and retention deletes old events.
            if not has_moved(connection, flow.names, bounds):
                progress(0.0, "Looking for damage")
                before, damage = damage, find_damage(connection, flow.names, bounds)
                if damage == before:
                    raise
        finally:
            reading.close()
    raise AssertionError("the last attempt returns or raises")


class _Audit:
    """One attempt of an audit."""

    def __init__(
        self,
        reading: LogReading,
        flow: FlowDefinition,
        options: VerifyOptions,
        progress: Progress,
    ) -> None:
        self._reading = reading
        self._connection = reading.connection
        self._flow = flow
        self._names = flow.names
        self._options = options
        self._progress = progress
        self._store = CheckpointStore(reading.session, options.lake, flow.name, reading.keep)
        self._raw = RawZoneCheck(reading, options.lake)

    def run(self, bounds: Bounds, began: float) -> Verification:
        topic_id = look_up(self._connection.settings, self._names.events).id
        landed = self._raw.landed(topic_id) if self._options.raw_zone else None
        checkpoint = self._checkpoint(topic_id, bounds)
        chain = self._chain(topic_id)
        self._check_outputs(bounds, checkpoint)
        held = self._held(bounds, checkpoint)
        self._progress(0.05, "Reading the journal")
        journal = self._reading.keep(self._journal(bounds, checkpoint))
        facts = read_facts(journal)
        rules = Rules(facts.changes, facts.sizes, self._largest(), facts.prefix_spans)
        scope = self._scope(bounds, facts, landed, checkpoint)
        commands, answers = self._answers(bounds, journal, checkpoint)
        status = self._reading.keep(read_status(self._reading, bounds))
        steps = find_steps(status, bounds)
        self._progress(0.25, "Accounting for every event")
        kept, counted = self._account(bounds, journal, scope, checkpoint, held, rules, chain)
        judged = kept.where("NOT ordinary").withColumn("faults", fault_names(scope))
        self._progress(0.9, "Collecting the faults")
        others = [
            answers,
            faults_of_status(status, journal, judged.where("pending"), bounds, steps.ends),
            faults_of_releases(kept, releases(journal)),
            faults_of_held(held),
            faults_of_pauses(journal, bounds),
        ]
        if counted["dead"] or rules.overflow_dead_letters:
            others.append(faults_of_reasons(kept, journal, rules))
        faults = name_faults(judged, others, self._options.examples)
        lacking = unchanged(self._connection, self._names.status, bounds.status, steps.missing)
        faults |= missing_logs(bounds, facts, lacking)
        faults |= self._reading.found(scope.unreadable, self._options.examples)
        if scope.raw is not None and checkpoint is not None:
            faults |= self._raw.changed_below(checkpoint)
        new, old = (Contents(counted.pop(n), counted.pop(f"{n}_digest")) for n in ("new", "old"))
        faults |= chain.faults()
        if checkpoint is None:
            faults |= chain.compare(old, journal)
        workers = counted.pop("workers")
        totals = _added(counted, checkpoint)
        examined = Examined(
            totals=totals,
            commands=commands,
            records=bounds.records,
            journal_records=facts.records,
            partitions_compared=len(steps.ends) + len(lacking),
            worker_letters=workers,
            seals=len(chain.stored),
            raw_zone=self._options.raw_zone,
            incremental=checkpoint is not None,
            limited=self._options.limited,
        )
        verification = Verification(
            flow=self._flow.name,
            events=totals["events"],
            processed=totals["processed"],
            held=totals["held"],
            dead=totals["dead"],
            landed=totals["landed"],
            commands=commands,
            checks=examined.checks(faults),
            missing=examined.missing(),
            not_checked=examined.not_checked(bounds, scope),
            ranges={p: (start, scope.ends[p]) for p, start in scope.starts.items()},
            skipped=tuple(scope.skipped),
            incremental=checkpoint is not None,
            seconds=round(time.monotonic() - began, 2),
        )
        if not verification.clean or self._options.limited:
            return verification
        self._progress(0.95, "Sealing what was verified")
        seal = chain.next(bounds, scope, journal, new, totals)
        return self._store_checkpoint(verification, seal, chain, judged, journal, bounds, scope)

    def _checkpoint(self, topic_id: str, bounds: Bounds) -> Checkpoint | None:
        """The checkpoint to continue from; None to verify everything."""
        if self._options.limited:
            return None
        checkpoint = self._store.load()
        if (
            checkpoint is None
            or self._options.full
            or checkpoint.topic_id != topic_id
            or set(checkpoint.events) != set(bounds.taken)
        ):
            return None
        if self._options.raw_zone and not checkpoint.raw:
            return None
        # A log that ends before its checkpoint was recreated.
        for topic, log in self._outputs(bounds).items():
            if any(log.ends.get(p, 0) < end for p, end in checkpoint.outputs[topic].end.items()):
                return None
        journal = bounds.journal
        if any(
            not journal.starts[p] <= o <= journal.ends[p] for p, o in checkpoint.journal.items()
        ):
            return None
        return checkpoint

    def _chain(self, topic_id: str) -> SealChain:
        """The seals of earlier audits, to which the one of this audit is added."""
        limited = self._options.limited
        return SealChain(topic_id, () if limited else self._store.seals(), self._names.journal)

    def _journal(self, bounds: Bounds, checkpoint: Checkpoint | None) -> DataFrame:
        if checkpoint is None:
            return read_journal(self._reading, bounds, {}, None)
        return read_journal(self._reading, bounds, checkpoint.journal, self._store.journal())

    def _outputs(self, bounds: Bounds) -> dict[str, LogRange]:
        names = self._names
        return {
            names.processed: bounds.processed,
            names.held: bounds.held,
            names.dlq: bounds.dlq,
        }

    def _check_outputs(self, bounds: Bounds, checkpoint: Checkpoint | None) -> None:
        """Raise if outputs were deleted that were not verified before."""
        for topic, log in self._outputs(bounds).items():
            if topic == self._names.held or self._options.limited:
                continue  # the keeper trims drained rows of held
            verified = checkpoint.outputs[topic].settled if checkpoint else {}
            for p, start in log.starts.items():
                if start > verified.get(p, 0):
                    raise ConflictError(
                        f"{topic}[{p}] begins at offset {start}: earlier records were deleted that "
                        "no seal covers, so their events cannot be accounted for. Verify without "
                        "--full, to go on behind the last seal, or later events only: use --since "
                        "or --from."
                    )

    def _largest(self) -> int:
        """The maximum size of a record that fits into every output now."""
        names, topics = self._names, Topics(self._connection)
        return min(
            int(topics.config(topic)["max.message.bytes"].value)
            for topic in (names.processed, names.held, names.dlq)
        )

    def _scope(
        self,
        bounds: Bounds,
        began: JournalFacts,
        landed: Landed | None,
        checkpoint: Checkpoint | None,
    ) -> Scope:
        # If the journal does not contain where the gate began, every event is accounted for.
        log_starts = bounds.events.starts
        starts = {
            p: min(began.starts.get(p, log_starts[p]), end) for p, end in bounds.taken.items()
        }
        ends = dict(bounds.taken)
        starts, ends = self._limit(starts, ends)
        expected = None
        if landed is not None:
            expected = self._raw.expected((starts, ends), landed, checkpoint, bounds)
        return Scope(
            starts=starts,
            ends=ends,
            verified_below=starts if checkpoint is None else checkpoint.events,
            log_starts=bounds.events.starts,
            log_ends=bounds.events.ends,
            raw=expected,
            dense=frozenset() if expected is None else self._raw.dense(expected),
            held_since=bounds.held_since,
            losses=began.losses,
            skipped=began.skipped,
            unreadable=self._reading.unknown_events(bounds, began.skipped),
        )

    def _limit(
        self, starts: dict[int, int], ends: dict[int, int]
    ) -> tuple[dict[int, int], dict[int, int]]:
        partitions = [Partition(self._names.events, p) for p in starts]
        offsets = Offsets(self._connection)
        if self._options.start is not None:
            first = offsets.resolve(partitions, self._options.start, clamp=True)
            starts = {p.number: max(starts[p.number], offset) for p, offset in first.items()}
        if self._options.end is not None:
            last = offsets.resolve(partitions, self._options.end, clamp=True)
            ends = {p.number: min(ends[p.number], offset) for p, offset in last.items()}
        return {p: min(start, ends[p]) for p, start in starts.items()}, ends

    def _answers(
        self, bounds: Bounds, journal: DataFrame, checkpoint: Checkpoint | None
    ) -> tuple[int, DataFrame]:
        since = (
            dict.fromkeys(bounds.positions, 0) if checkpoint is None else dict(checkpoint.control)
        )
        partitions, first = self._flow.partitions, min(since.values())
        commands = self._reading.keep(read_commands(self._reading, bounds, first, partitions))
        count = commands.where(sql.col("o") >= first).count()
        unreadable = self._reading.gaps(self._names.control)
        faults = faults_of_answers(commands, journal, since, bounds, unreadable)
        faults = faults.unionByName(faults_of_journal(journal))
        faults = faults.unionByName(faults_of_holds(self._reading, journal))
        if checkpoint is not None:  # records from before it were judged before, and are incomplete
            new = sql.col("o") >= at(checkpoint.journal, sql.col("p"))
            faults = faults.where((sql.col("log") != "journal") | new)
        return count, faults

    def _held(self, bounds: Bounds, checkpoint: Checkpoint | None) -> DataFrame:
        """The rows of held. They are read first: the keeper trims drained rows, and an audit of a
        flow that always drains would otherwise start over each time."""
        logs = Logs(self._reading, checkpoint)
        rows = logs.held(self._unseen(bounds, checkpoint)[self._names.held])
        return self._reading.keep(rows, now=True)

    def _unseen(self, bounds: Bounds, checkpoint: Checkpoint | None) -> dict[str, LogRange]:
        """The part of each output that was not verified before."""
        return {
            topic: log.after(checkpoint.outputs[topic].settled if checkpoint else {})
            for topic, log in self._outputs(bounds).items()
        }

    def _account(
        self,
        bounds: Bounds,
        journal: DataFrame,
        scope: Scope,
        checkpoint: Checkpoint | None,
        held: DataFrame,
        rules: Rules,
        chain: SealChain,
    ) -> tuple[DataFrame, dict[str, int]]:
        """The coordinates that are not ordinary, the witnesses, and the counts of all."""
        logs = Logs(self._reading, checkpoint)
        events = self._events_to_read(scope)
        parts = self._unseen(bounds, checkpoint)
        processed, dead = parts[self._names.processed], parts[self._names.dlq]
        workers = Observation()
        outputs = [logs.processed(processed), held.drop("lies_at"), logs.dead(dead, workers)]
        rows = [
            logs.events(events, rules, scope.skipped),
            *(within(each, scope) for each in outputs),
        ]
        length = events.length + sum(part.length for part in parts.values())
        if scope.raw is not None:
            rows.append(landed_rows(self._raw.rows(), scope, rules))
            length += LogRange(*scope.raw).length
        if checkpoint is not None:
            rows.append(still_held(self._store.still_held(), rules))
        rows.append(markers(hold_spans(journal, bounds)))
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
                *chain.contents_of_events(),
            )
            .where(~ordinary(scope) | is_witness(LogRange(scope.verified_below, scope.ends).length))
        )
        kept = self._reading.keep(judged, now=True)
        counts = {**seen.get, **workers.get}
        counted = {name: int(count or 0) for name, count in counts.items()}
        return kept.withColumn("ordinary", ordinary(scope)), counted

    def _events_to_read(self, scope: Scope) -> LogRange:
        """The events that must be read because the raw zone is not complete there."""
        starts = {p: max(scope.verified_below[p], scope.log_starts[p]) for p in scope.starts}
        if scope.raw is not None:
            raw_starts, raw_ends = scope.raw
            for p, start in starts.items():
                needed = raw_ends[p] if p in scope.dense else min(start, raw_starts[p])
                starts[p] = max(needed, scope.log_starts[p])
        return LogRange({p: min(s, scope.ends[p]) for p, s in starts.items()}, scope.ends)

    def _store_checkpoint(
        self,
        verification: Verification,
        seal: Seal,
        chain: SealChain,
        judged: DataFrame,
        journal: DataFrame,
        bounds: Bounds,
        scope: Scope,
    ) -> Verification:
        """Returns the verification with its seal, or without one if another audit was faster."""
        raw = {} if scope.raw is None else dict(scope.raw[1])
        checkpoint = Checkpoint(
            topic_id=seal.topic_id,
            events=scope.ends,
            control={p: position.control for p, position in bounds.positions.items()},
            journal=seal.journal_ends,
            outputs={
                topic: OutputCheckpoint(bounds.settled[topic], log.ends)
                for topic, log in self._outputs(bounds).items()
            },
            raw=raw,
            raw_rows=self._raw.count_below(raw) if raw else 0,
            totals=seal.totals,
        )
        seals = [*(each for each, _ in chain.stored), seal]
        needed = still_needed(journal, seal.journal_ends)
        try:
            self._store.keep(judged.where("pending"), needed, seals, checkpoint)
        except ConflictError as error:
            log.warning("The audit of %s is not sealed: %s", self._flow.name, error)
            return verification
        return replace(verification, sealed=seal.number, seal=seal.digest)


def _added(totals: Mapping[str, int], checkpoint: Checkpoint | None) -> dict[str, int]:
    """The counts of this audit plus those below the checkpoint, except for events held now."""
    before = {} if checkpoint is None else checkpoint.totals
    return {
        name: count + (0 if name == "held" else before.get(name, 0))
        for name, count in totals.items()
    }
