"""The seals of a flow in an audit: checks those that are stored, and makes the next one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from holdfast.clock import now_ms
from holdfast.pipeline.audit.bounds import Bounds, LogRange, at
from holdfast.pipeline.audit.coordinates import Scope
from holdfast.pipeline.audit.journal import journal_contents
from holdfast.pipeline.audit.seals import Contents, Seal, contents, contradictions
from holdfast.pipeline.audit.verification import Example, Fault, Finding


@dataclass(frozen=True, slots=True)
class SealChain:
    """The seals of a flow."""

    topic_id: str
    """The id of the topic of events. A recreated topic begins with a stretch of its own."""
    stored: Sequence[tuple[Seal, str]]
    """All seals in order, each with the digest that it had when it was stored."""
    journal_topic: str

    @property
    def of_topic(self) -> list[Seal]:
        """The seals of this topic."""
        return [seal for seal, _ in self.stored if seal.topic_id == self.topic_id]

    @property
    def ends(self) -> Mapping[int, int]:
        """Source offsets below which everything is sealed; empty if nothing is."""
        return self.of_topic[-1].ends if self.of_topic else {}

    def contents_of_events(self) -> list[Column]:
        """Aggregates over all coordinates: number and digest of the events behind the last seal
        (`new`), and of those below it that are read again (`old`)."""
        record = sql.xxhash64("p", "o", "body", "head", "time")
        here = sql.expr("exists AND NOT verified")
        sealed = sql.lit(False)
        if self.ends:
            sealed = sql.coalesce(sql.col("o") < at(self.ends, sql.col("p")), sql.lit(False))
        columns = []
        for name, which in (("new", here & ~sealed), ("old", here & sealed)):
            columns.append(sql.count_if(which).alias(name))
            columns.append(sql.bit_xor(sql.when(which, record)).alias(f"{name}_digest"))
        return columns

    def faults(self) -> dict[Fault, Finding]:
        """Seals that were changed, or that do not follow each other."""
        return _broken(list(contradictions(self.stored)))

    def compare(self, events: Contents, journal: DataFrame) -> dict[Fault, Finding]:
        """Compare sealed records with those that an audit from the start has found. Where some were
        deleted since, there is nothing to compare."""
        sealed = self.of_topic
        if not sealed:
            return {}
        number, ends = sealed[-1].number, sealed[-1].journal_ends
        records = journal_contents(journal, LogRange(dict.fromkeys(ends, 0), ends))
        pairs = zip(("events", "journal"), contents(sealed), (events, records), strict=True)
        return _broken(
            [
                (number, f"the {name} up to it are not those that were sealed")
                for name, then, now in pairs
                if then.records == now.records and then.digest != now.digest
            ]
        )

    def next(
        self,
        bounds: Bounds,
        scope: Scope,
        journal: DataFrame,
        events: Contents,
        totals: Mapping[str, int],
    ) -> Seal:
        """The seal of what was verified behind the last one."""
        last = self.of_topic[-1] if self.of_topic else None
        ends = bounds.settled[self.journal_topic]
        starts = dict.fromkeys(ends, 0) if last is None else last.journal_ends
        return Seal(
            number=len(self.stored) + 1,
            at=now_ms(),
            topic_id=self.topic_id,
            starts=scope.starts if last is None else last.ends,
            ends=scope.ends,
            journal_ends=ends,
            events=events,
            journal=journal_contents(journal, LogRange(starts, ends)),
            totals=totals,
            previous=self.stored[-1][1] if self.stored else "",
        )


def _broken(seals: Sequence[tuple[int, str]]) -> dict[Fault, Finding]:
    if not seals:
        return {}
    examples = tuple(Example("seals", 0, number, detail) for number, detail in seals)
    return {Fault.SEAL_BROKEN: Finding(Fault.SEAL_BROKEN, len(examples), examples)}
