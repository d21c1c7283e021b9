"""Counts the faults, and lists what was examined and what was not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as sql

from holdfast.pipeline.audit.bounds import Bounds
from holdfast.pipeline.audit.coordinates import Scope
from holdfast.pipeline.audit.early_release_check import WITNESSES
from holdfast.pipeline.audit.journal import JournalFacts
from holdfast.pipeline.audit.verification import (
    CHECKS,
    COMMANDS,
    DEAD_LETTERS,
    HOLDS,
    JOURNAL,
    ORDER,
    RAW_ZONE,
    READABLE,
    SEALS,
    STATUS,
    Check,
    Example,
    Fault,
    Finding,
)

_EXAMPLES = 20
_ALWAYS = (
    "events that the gate has not taken yet, and records of aborted transactions",
    "early releases of held events, if no other event of the partition was processed in between",
    "whether the limit was reached when the journal begins an overflow",
    "size limits before the journal had them: older dead letters are compared with the current "
    "max.message.bytes",
    "omitted parts of dead letters 'too-large', and whether events within 4 KiB of a limit fit",
    "the order of events with a key longer than 64 KiB, which cannot be held",
    "bytes, times, pace and reason in the status of a key; the status of prefixes and of pauses",
    "whether rows left held while the flow was paused",
    "events of held prefixes, if more than 500 ranges of them are in the journal: the newest are",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What an audit has examined."""

    totals: Mapping[str, int]
    """Numbers of coordinates by kind: events, processed, held, dead, landed."""
    commands: int
    records: int
    """Records of all logs."""
    journal_records: int
    partitions_compared: int
    """Partitions of status that were compared."""
    worker_letters: int
    seals: int
    raw_zone: bool
    incremental: bool
    limited: bool

    def checks(self, found: Mapping[Fault, Finding]) -> tuple[Check, ...]:
        totals = self.totals
        examined = dict.fromkeys(CHECKS, totals["events"])
        examined[ORDER] = totals["processed"]
        examined[HOLDS] = totals["events"] if self.commands else 0
        examined[DEAD_LETTERS] = totals["dead"]
        examined[COMMANDS] = self.commands
        examined[JOURNAL] = self.journal_records
        examined[RAW_ZONE] = totals["landed"]
        examined[STATUS] = self.partitions_compared
        examined[READABLE] = self.records
        examined[SEALS] = self.seals
        skipped = {}
        if not self.raw_zone:
            skipped[RAW_ZONE] = "the raw zone was excluded"
        if not self.partitions_compared:
            skipped[STATUS] = "status has changed since the audit started"
        return tuple(
            Check(
                name,
                examined[name],
                tuple(found[fault] for fault in faults if fault in found),
                skipped.get(name, ""),
            )
            for name, faults in CHECKS.items()
        )

    def missing(self) -> tuple[str, ...]:
        """Sources that were empty although events exist. (An empty journal, status or output is a
        fault.)"""
        events, out = self.totals["events"], self.totals["processed"] + self.totals["dead"]
        missing = []
        if self.raw_zone and events and not self.totals["landed"]:
            missing.append(f"The raw zone has none of {events:,} events.")
        if not events and out:
            missing.append(
                f"The events of {out:,} records were deleted, and the raw zone lacks them."
            )
        return tuple(missing)

    def not_checked(self, bounds: Bounds, scope: Scope) -> tuple[str, ...]:
        return (*self._not_checked(bounds, scope), *_ALWAYS)

    def _not_checked(self, bounds: Bounds, scope: Scope) -> Iterator[str]:
        if self.limited:
            yield "events outside of the given limits"
        if self.incremental:
            yield "events that were verified before, except for the number of rows: see --full"
        if not self.raw_zone:
            yield "the raw zone, which was excluded"
        elif late := _late(scope):
            yield f"up to {late:,} events in the raw zone, which have not landed yet"
        if gone := sum(max(0, scope.log_starts[p] - s) for p, s in scope.starts.items()):
            yield f"contents of up to {gone:,} deleted events, if the raw zone lacks them"
        if trimmed := sum(min(n, scope.ends[p]) for p, n in scope.held_since.items()):
            yield (
                f"whether events below {trimmed:,} source offsets were in held, which the gate "
                "has trimmed"
            )
        if self.worker_letters:
            yield f"{self.worker_letters:,} dead letters of workers, which the gate did not write"
        moved_on = len(bounds.positions) - self.partitions_compared
        if moved_on:
            yield f"status of {moved_on} partitions, which has changed since the audit started"
        events = sum(end - scope.verified_below[p] for p, end in scope.ends.items())
        if (every := events // WITNESSES) > 1:
            yield f"early releases, except by one in {every} of the passed events"


def _late(scope: Scope) -> int:
    if scope.raw is None:
        return 0
    return sum(end - scope.raw[1][p] for p, end in scope.ends.items())


def missing_logs(
    bounds: Bounds, journal: JournalFacts, without_position: Iterable[int]
) -> dict[Fault, Finding]:
    """Logs that lack records which the gate must have written or read."""
    positions = bounds.positions
    taken = max(position.control for position in positions.values())
    start, end = bounds.control.starts[0], bounds.control.ends[0]
    has = f"it has offsets {start} to {end}, but the gate has taken commands up to {taken}"
    no_settings = "it does not begin with the settings"
    unsettled = {p: no_settings for p in positions if p not in journal.starts}
    lacking = {p: f"no position of step {positions[p].step}" for p in without_position}
    return {
        **_of_partitions(Fault.JOURNAL_MISSING, "journal", unsettled),
        **_of_partitions(Fault.STATUS_MISSING, "status", lacking),
        **_of_partitions(
            Fault.CONTROL_MISSING, "control", {0: has} if start or end < taken else {}
        ),
    }


def _of_partitions(fault: Fault, log: str, partitions: Mapping[int, str]) -> dict[Fault, Finding]:
    """A fault of whole partitions, with a detail for each."""
    if not partitions:
        return {}
    examples = tuple(Example(log, p, 0, detail) for p, detail in sorted(partitions.items()))
    return {fault: Finding(fault, len(examples), examples[:_EXAMPLES])}


def name_faults(judged: DataFrame, others: list[DataFrame], examples: int) -> dict[Fault, Finding]:
    """The faults of the coordinates in `judged` and those in `others`, which have a row each, with
    up to `examples` examples of each kind."""
    of_events = judged.where("size(faults) > 0").select(
        sql.explode("faults").alias("fault"),
        sql.when(sql.col("p") < 0, "record without source").otherwise("events").alias("log"),
        sql.when(sql.col("p") < 0, -1 - sql.col("p")).otherwise(sql.col("p")).alias("p"),
        "o",
        sql.lit("").alias("detail"),
    )
    every = reduce(DataFrame.unionByName, [of_events, *others])
    by_fault = Window.partitionBy("fault")
    first = (
        every.withColumn("count", sql.count("*").over(by_fault))
        .withColumn("rank", sql.row_number().over(by_fault.orderBy("log", "p", "o")))
        .where(sql.col("rank") <= examples)
        .collect()
    )
    return _grouped(first)


def _grouped(rows: list[Row]) -> dict[Fault, Finding]:
    locations: dict[Fault, list[Example]] = {}
    counts: dict[Fault, int] = {}
    for row in rows:
        fault = Fault(row["fault"])
        counts[fault] = row["count"]
        example = Example(row["log"], row["p"], row["o"], row["detail"] or "")
        locations.setdefault(fault, []).append(example)
    return {fault: Finding(fault, counts[fault], tuple(locations[fault])) for fault in locations}
