"""What a step decided, as record batches: whole columns at a time where events pass or are held."""

from collections.abc import Collection, Sequence
from time import time

import numpy as np

from holdfast.client.source import SOURCE
from holdfast.flows.names import FlowNames
from holdfast.gate import Drained, Result, Verdict
from holdfast.pipeline import faults
from holdfast.pipeline.bulk.packing import Rows, header_column
from holdfast.pipeline.bulk.partitioning import partitions_of
from holdfast.pipeline.bulk.transactions import BulkTransactions
from holdfast.pipeline.bulk.varints import Bytes, Numbers
from holdfast.pipeline.events import TOO_LARGE, Events, Flaw
from holdfast.pipeline.held_rows import Held
from holdfast.pipeline.writer import OVERFLOWN, journal_pairs, reason_headers, status_pairs
from holdfast.wire.records.record import Record, unpack_headers

_FLAWED = 255
"""Beside the verdicts: a dead letter whatever the verdict is."""


class BulkWriter:
    """Writes steps with events into the transaction that is open."""

    def __init__(self, names: FlowNames, processed_partitions: int) -> None:
        self._names = names
        self._processed_partitions = processed_partitions
        self._transaction: BulkTransactions | None = None

    def begin(self, transaction: BulkTransactions) -> None:
        self._transaction = transaction

    def write_events(self, partition: int, events: Events, verdicts: bytearray) -> None:
        """Each event to where its verdict says; an invalid one to the dead letters."""
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

    def write_drained(
        self,
        partition: int,
        drained: Sequence[Drained[Held]],
        too_large: Collection[tuple[int, int]],
    ) -> None:
        """Only the keeper drains, and it does so in the driver."""
        assert not drained

    def write_result(self, partition: int, result: Result) -> None:
        """Journal and status; the position record comes last."""
        assert self._transaction is not None
        now = round(time() * 1000)
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
        assert self._transaction is not None
        places = [(self._names.processed, int(target)) for target in targets]
        places += [(self._names.held, partition)] if holds else []
        self._transaction.enlist([*places, (self._names.status, partition)])

    def _send(self, topic: str, partition: int, rows: Rows, indexes: Numbers) -> None:
        if not len(indexes):
            return
        assert self._transaction is not None
        some = rows if len(indexes) == len(rows) else rows.take(indexes)
        self._transaction.send_rows(topic, partition, some)

    def _write_dead(self, partition: int, events: Events, decided: Bytes) -> None:
        assert self._transaction is not None
        dead = np.flatnonzero(decided >= Verdict.DEAD)
        letters = [
            _dead_letter(partition, events, index, events.flaws.get(index, OVERFLOWN))
            for index in dead.tolist()
        ]
        self._transaction.send_records(self._names.dlq, partition, letters)


def _rows(partition: int, events: Events) -> Rows:
    return Rows(
        events.times.to_numpy(),
        events.rows["key"],
        events.rows["value"],
        events.packed_headers,
        header_column(SOURCE.encode(), b"%d:" % partition, events.rows["offset"]),
    )


def _dead_letter(partition: int, events: Events, index: int, flaw: Flaw) -> Record:
    own = events.packed_headers[index].as_py()
    offset = events.rows["offset"][index].as_py()
    headers: list[tuple[bytes, bytes | None]] = [
        *(unpack_headers(own) if own else ()),
        (SOURCE.encode(), b"%d:%d" % (partition, offset)),
        *((name.encode(), value) for name, value in reason_headers(*flaw)),
    ]
    return Record(
        -1,
        events.times[index].as_py(),
        events.rows["key"][index].as_py(),
        None if flaw.kind == TOO_LARGE else events.rows["value"][index].as_py(),
        tuple(headers),
    )
