"""The rules at each source offset, from the journal: schema, overflow policy, and the maximum size
of a record in the outputs.

The gate's own validation is not used: the audit parses the schema itself.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType, StringType, StructField, StructType

from holdfast.flows.keys import MAX_KEY_BYTES
from holdfast.pipeline.audit.bounds import at

_UNREADABLE = "_holdfast_unreadable"
_NEVER = 2**62
_PER_HEADER = 20
_PER_RECORD = 4096
"""An upper bound of the bytes of a one-record batch besides the event's key, value and headers,
including the reason of a dead letter. An event within this distance of a limit counts as too large:
the audit reports only certain faults."""


@dataclass(frozen=True, slots=True)
class Change:
    """The settings of one partition from a source offset on."""

    partition: int
    cut: int
    schema: str | None
    dead_letters: bool
    """The overflow policy is to dead-letter."""


class PrefixSpan(NamedTuple):
    """A range of source offsets of one partition in which a prefix was held."""

    partition: int
    prefix: bytes
    begin: int
    end: int


MOST_PREFIX_SPANS = 500
"""The audit checks the newest ones: each makes the check of every event a little longer."""


def spans_of(partition: int, records: Iterable[Any]) -> Iterator[PrefixSpan]:
    """The spans by the journal's records of prefixes, in their order."""
    begun: dict[bytes, int] = {}
    for record in records:
        prefix = bytes(record["prefix"])
        begin = begun.pop(prefix, None)
        if record["begins"]:
            begun[prefix] = record["cut"] if begin is None else begin
        elif begin is not None and begin < record["cut"]:
            yield PrefixSpan(partition, prefix, begin, record["cut"])
    for prefix, begin in begun.items():
        yield PrefixSpan(partition, prefix, begin, _NEVER)


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """The lowest size limit of the outputs for source offsets of one partition, as journalled with
    dead letters 'too-large'."""

    partition: int
    first: int
    until: int
    limit: int

    def covers(self, partition: Column, offset: Column) -> Column:
        """True for the offsets from `first` to before `until`."""
        within = (offset >= self.first) & (offset < self.until)
        return (partition == self.partition) & within


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that decide about an event, besides holds."""

    changes: Sequence[Change]
    """The changes of all partitions, in journal order."""
    sizes: Sequence[SizeLimit]
    """The size limits of all partitions, in journal order."""
    largest: int
    """The maximum size of a record in the outputs now. It counts where the journal says nothing:
    journals had no size limits at first."""
    prefix_spans: Sequence[PrefixSpan] = ()

    def of_held_prefix(self, partition: Column, offset: Column, key: Column) -> Column:
        """True if a prefix of the key was held at an offset."""
        spans: dict[bytes, list[PrefixSpan]] = {}
        for span in sorted(self.prefix_spans, key=lambda span: span.begin)[-MOST_PREFIX_SPANS:]:
            spans.setdefault(span.prefix, []).append(span)
        held = sql.lit(False)
        for prefix, each in spans.items():
            within = sql.lit(False)
            for span in each:
                within = within | (
                    (partition == span.partition) & (offset >= span.begin) & (offset < span.end)
                )
            held = held | (within & sql.startswith(key, sql.lit(prefix)))
        return sql.coalesce(held & (sql.octet_length(key) <= MAX_KEY_BYTES), sql.lit(False))

    @property
    def overflow_dead_letters(self) -> bool:
        """Returns True if the policy was ever dead-letter."""
        return any(change.dead_letters for change in self.changes)

    def dead_letters_at(self, partition: Column, offset: Column) -> Column:
        """True if the policy at an offset is dead-letter."""
        policies = [change.dead_letters for change in self.changes]
        return sql.coalesce(self._in_force(policies, partition, offset) == 1, sql.lit(False))

    def refused_at(self, partition: Column, offset: Column, value: Column) -> Column:
        """True if the schema at an offset refuses the value."""
        schemas = sorted({change.schema for change in self.changes if change.schema is not None})
        if not schemas:
            return sql.lit(False)
        numbers = [
            -1 if change.schema is None else schemas.index(change.schema) for change in self.changes
        ]
        number = self._in_force(numbers, partition, offset)
        verdict = sql.lit(False)
        for index, schema in enumerate(schemas):
            verdict = sql.when(number == index, refuses(value, schema)).otherwise(verdict)
        return verdict

    def has_limit_at(self, partition: Column, offset: Column) -> Column:
        """True if the journal has a size limit at an offset."""
        found = sql.lit(False)
        for size in joined(self.sizes):
            found = found | size.covers(partition, offset)
        return found

    def _largest_at(self, partition: Column, offset: Column) -> Column:
        """The maximum size at an offset: the lowest one that the journal has."""
        largest = sql.lit(None).cast("long")
        for size in joined(self.sizes):
            limit = sql.when(size.covers(partition, offset), sql.lit(size.limit))
            largest = sql.least(largest, limit.cast("long"))
        return sql.coalesce(largest, sql.lit(self.largest))

    def too_large_at(
        self, partition: Column, offset: Column, key: Column, value: Column, headers: Column
    ) -> Column:
        """True if an event may be too large for an output by the limits at its offset."""
        zero = sql.lit(0)
        plain = (
            sql.coalesce(sql.octet_length(key), zero) + sql.coalesce(sql.octet_length(value), zero)
        )  # fmt: skip
        of_headers = sql.when(
            sql.size(headers) > 0,
            sql.aggregate(
                headers,
                zero,
                lambda size, header: (
                    size
                    + sql.octet_length(header["key"])
                    + sql.coalesce(sql.octet_length(header["value"]), zero)
                    + _PER_HEADER
                ),
            ),
        ).otherwise(zero)
        return plain + of_headers + _PER_RECORD > self._largest_at(partition, offset)

    def _in_force(self, values: Sequence[int | bool], partition: Column, offset: Column) -> Column:
        """The value of the last change at or before an offset; null before the first."""
        value = sql.lit(None).cast("long")
        for cuts, numbers in _by_age(self.changes, values):
            value = sql.when(offset >= at(cuts, partition), at(numbers, partition)).otherwise(value)
        return value


def _by_age(
    changes: Sequence[Change], values: Sequence[int | bool]
) -> Iterator[tuple[dict[int, int], dict[int, int]]]:
    """The cuts and values of the first changes of all partitions, then of the second changes, and
    so on. A change to the same value is left out."""
    timelines: dict[int, list[tuple[int, int]]] = {}
    for change, value in zip(changes, values, strict=True):
        timeline = timelines.setdefault(change.partition, [])
        if not timeline or timeline[-1][1] != int(value):
            timeline.append((change.cut, int(value)))
    count = 1 + max(timelines, default=-1)
    for age in range(max(map(len, timelines.values()), default=0)):
        steps = {p: line[age] for p, line in timelines.items() if age < len(line)}
        absent = (_NEVER, 0)
        yield (
            {p: steps.get(p, absent)[0] for p in range(count)},
            {p: steps.get(p, absent)[1] for p in range(count)},
        )


def joined(sizes: Sequence[SizeLimit]) -> list[SizeLimit]:
    """Size limits of one partition that follow each other with the same limit are one: each step
    with a large event journals its own, and limits seldom change."""
    by_partition: dict[int, list[SizeLimit]] = {}
    for size in sizes:
        timeline = by_partition.setdefault(size.partition, [])
        if timeline and timeline[-1].limit == size.limit:
            last = timeline.pop()
            size = replace(
                size, first=min(last.first, size.first), until=max(last.until, size.until)
            )
        timeline.append(size)
    return [size for timeline in by_partition.values() for size in timeline]


def size_limit_of(partition: int, settings: str | None) -> SizeLimit | None:
    """A size limit from its journal record; None if that cannot be read."""
    try:
        fields = json.loads(settings or "")
        numbers = (int(fields[name]) for name in ("first", "until", "limit"))
        return SizeLimit(partition, *numbers)
    except (ValueError, KeyError, TypeError):
        return None


def change_of(partition: int, cut: int, settings: str | None) -> Change | None:
    """A change from its journal record; None if that cannot be read."""
    try:
        fields = json.loads(settings or "")
        # The journal leaves out fields without a value: a flow may have no schema.
        return Change(partition, cut, fields.get("schema"), fields["overflow"] == "dead-letter")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def refuses(value: Column, schema: str) -> Column:
    """True if a schema (Spark DDL) refuses a value (JSON): the value is not a JSON object with
    these fields, or lacks a required one. A null value is never refused. An unreadable schema
    refuses nothing; the gate takes no event under one."""
    try:
        fields = StructType.fromDDL(schema)
    except PySparkException:
        return sql.lit(False)
    assert isinstance(fields, StructType)
    form = StructType([*fields.fields, StructField(_UNREADABLE, StringType())])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _UNREADABLE}
    parsed = sql.from_json(value.cast("string"), form, options)
    bad = parsed.isNull() | parsed[_UNREADABLE].isNotNull()
    for path in _required(fields):
        column = parsed
        for name in path:
            column = column[name]
        bad = bad | column.isNull()
    return value.isNotNull() & bad


def _required(kind: DataType, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The required fields. Fields inside an optional field are not required."""
    if isinstance(kind, StructType):
        for field in kind.fields:
            if not field.nullable:
                yield (*path, field.name)
                yield from _required(field.dataType, (*path, field.name))
