"""Writes steps as record batches, in whole columns where events pass or are held."""

import numpy as np

from holdfast import faults
from holdfast.client.source import SOURCE
from holdfast.clock import now_ms
from holdfast.flows.names import FlowNames
from holdfast.gate import Result, Verdict
from holdfast.kafka.packing import Rows, header_column
from holdfast.kafka.partitioning import partitions_of
from holdfast.kafka.producer import TransactionalProducer
from holdfast.kafka.varints import Bytes, Numbers
from holdfast.pipeline.gate.events import Events, Flaw
from holdfast.pipeline.gate.steps import DecidedStep
from holdfast.pipeline.gate.writer import OVERFLOWN, dead_letter, journal_pairs, status_pairs
from holdfast.wire.records.record import Record, unpack_headers

_FLAWED = 255
"""Beside the verdicts: a dead letter whatever the verdict is."""


class ColumnWriter:
    """Writes steps with events into one open transaction of a task."""

    def __init__(
        self,
        names: FlowNames,
        processed_partitions: int,
        transaction: TransactionalProducer,
        dlq_limit: int,
    ) -> None:
        self._names = names
        self._processed_partitions = processed_partitions
        self._transaction = transaction
        self._dlq_limit = dlq_limit

    def write(self, step: DecidedStep) -> None:
        if step.drained:
            raise RuntimeError("Only the keeper drains, and it writes with the driver's producer.")
        self._write_events(step.partition, step.events, step.verdicts)
        self._write_result(step.partition, step.result)

    def _write_events(self, partition: int, events: Events, verdicts: bytearray) -> None:
        """Write each event to the topic of its verdict, and invalid ones to the dead letters."""
        if not len(events):
            return
        names, decided = self._names, np.frombuffer(verdicts, np.uint8).copy()
        decided[list(events.flaws)] = _FLAWED
        rows = _rows(partition, events)
        passing = np.flatnonzero(decided == Verdict.PASS)
        held = np.flatnonzero(decided == Verdict.HOLD)
        targets = self._targets(partition, rows)[passing]
        self._enlist(partition, np.unique(targets), bool(len(held)))
        for target in np.unique(targets):
            self._send(names.processed, int(target), rows, passing[targets == target])
        self._send(names.held, partition, rows, held)
        self._write_dead(partition, events, decided)
        faults.reach("mid-produce")

    def _write_result(self, partition: int, result: Result) -> None:
        """Write journal and status. The position record is the last one."""
        now = now_ms()
        journal = [Record(-1, at, *pair) for pair, at in journal_pairs(result)]
        self._transaction.send_records(self._names.journal, partition, journal)
        status = [Record(-1, now, *pair) for pair in status_pairs(result)]
        self._transaction.send_records(self._names.status, partition, status)

    def _targets(self, partition: int, rows: Rows) -> Numbers:
        targets = partitions_of(rows.keys, self._processed_partitions)
        if rows.keys.null_count:
            # Without a key any partition would do; this one is the same in every attempt.
            nulls = rows.keys.is_null().to_numpy(zero_copy_only=False)
            targets[nulls] = partition % self._processed_partitions
        return targets

    def _enlist(self, partition: int, targets: Numbers, holds: bool) -> None:
        partitions = [(self._names.processed, int(target)) for target in targets]
        partitions += [(self._names.held, partition)] if holds else []
        self._transaction.enlist([*partitions, (self._names.status, partition)])

    def _send(self, topic: str, partition: int, rows: Rows, indexes: Numbers) -> None:
        if not len(indexes):
            return
        some = rows if len(indexes) == len(rows) else rows.take(indexes)
        self._transaction.send_rows(topic, partition, some)

    def _write_dead(self, partition: int, events: Events, decided: Bytes) -> None:
        dead = np.flatnonzero(decided >= Verdict.DEAD)
        letters = [
            self._dead_letter(partition, events, index, events.flaws.get(index, OVERFLOWN))
            for index in dead.tolist()
        ]
        self._transaction.send_records(self._names.dlq, partition, letters)

    def _dead_letter(self, partition: int, events: Events, index: int, flaw: Flaw) -> Record:
        own = events.packed_headers[index].as_py()
        offset = events.rows["offset"][index].as_py()
        headers: list[tuple[bytes, bytes | None]] = [
            *(unpack_headers(own) if own else ()),
            (SOURCE.encode(), b"%d:%d" % (partition, offset)),
        ]
        key, value = (events.rows[name][index].as_py() for name in ("key", "value"))
        letter = dead_letter(self._dlq_limit, key, value, headers, flaw)
        reason = ((name.encode(), text) for name, text in letter.reason)
        time_ = events.times[index].as_py()
        return Record(-1, time_, letter.key, letter.value, (*letter.headers, *reason))


def _rows(partition: int, events: Events) -> Rows:
    return Rows(
        events.times.to_numpy(),
        events.rows["key"],
        events.rows["value"],
        events.packed_headers,
        header_column(SOURCE.encode(), b"%d:" % partition, events.rows["offset"]),
    )
