"""One source in order: its events sent again, exactly once for each run, whoever is killed.

A slice has a transactional id and a consumer group of its own. Each transaction commits, beside the
events, the offset after the last of them. Whoever takes a slice up first begins anew with its
transactional id, so that nothing of a predecessor is open or can still be committed, and reads the
committed offset then. Events below it were sent; the order is that of the offsets; so nothing is
sent twice and nothing is left out.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Consumer, KafkaException, TopicPartition

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.errors import InvalidRecordError, RecordTooLargeError
from holdfast.pipeline import faults
from holdfast.pipeline.bulk.columns import joined, scalar
from holdfast.pipeline.bulk.packing import Rows, header, header_column
from holdfast.pipeline.bulk.partitioning import partitions_of
from holdfast.pipeline.bulk.transactions import BulkTransactions
from holdfast.pipeline.events import Events, KeySet

REPLAY_RUN = "holdfast-replay-run"
REPLAY_SOURCE = "holdfast-replay-source"
ORIGINAL_TIME = "holdfast-original-timestamp"
"""Headers of what is sent again; the last is there only if the event could not keep its time."""

_COMMITTED_SECONDS = 30.0
_NOBODY = KeySet(())


@dataclass(frozen=True, slots=True)
class Slice:
    """The events of one partition, or of one file, from `start` up to, and without, `end`."""

    number: int
    topic: str
    partition: int
    """-1: of a file; murmur2 of each key says where its event goes."""
    start: int
    end: int

    def source(self) -> bytes:
        """What the header with an event's coordinate begins with."""
        return f"{self.topic if self.partition < 0 else self.partition}:".encode()


@dataclass(frozen=True, slots=True)
class Sending:
    """How the slices of a run are sent. The same for all."""

    run: str
    topic: str
    partitions: int
    batch_bytes: int
    keeps_from: int
    """Milliseconds. The topic deletes what is older, perhaps before anyone has read it, so such an
    event is sent as of `now`, and its own time is in a header."""
    now: int

    def id(self, number: int) -> str:
        """The transactional id of a slice, and its consumer group."""
        return slice_id(self.run, number)


@dataclass(frozen=True, slots=True)
class Sent:
    """How far a slice is."""

    offset: int
    """All events below it were sent."""
    events: int = 0
    left_out: int = 0
    """Events that are too large with the headers that they were given."""


def slice_id(run: str, number: int) -> str:
    return f"holdfast.run.{run}.{number}"


def keeps_from(retention_ms: int, now: int) -> int:
    """Which timestamps a topic keeps long enough for everyone to read: those of the younger half
    of its retention."""
    return 0 if retention_ms < 0 else now - retention_ms // 2


class SliceSender:
    """Sends one slice. Of several that send the same one, only the last to begin can commit."""

    def __init__(self, connection: Connection, sending: Sending, part: Slice) -> None:
        self._slice = part
        self._sending = sending
        identity = sending.id(part.number)
        self._transactions = BulkTransactions(connection.settings, identity, sending.batch_bytes)
        settings = {
            "group.id": identity,
            # `committed` then waits for offsets of transactions that are about to end.
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
        }
        self._consumer: Consumer = connection.make(Consumer, settings)
        self._transactions.renew()
        self.sent = self._committed()

    def send(self, rows: pa.Table) -> Sent:
        """Send those of the rows that were not sent; they are sorted by offset, and none before
        them is missing. One transaction. -> how far the slice is

        If this raises, a new sender must be made: only it can tell what was committed.
        """
        events = self._events(rows)
        if not len(events):
            return self.sent
        try:
            sent = self._commit(events, frozenset())
        except RecordTooLargeError:
            sent = self._commit_what_fits(events)
        self.sent = sent
        return sent

    def close(self) -> None:
        self._transactions.close()
        self._consumer.close()

    def _events(self, rows: pa.Table) -> Events:
        offsets = rows["offset"].to_numpy()
        fresh = rows.slice(int(offsets.searchsorted(self.sent.offset)))
        nothing = pa.nulls(fresh.num_rows, pa.string())
        return Events.of(fresh.append_column("invalid", nothing), _NOBODY)

    def _commit_what_fits(self, events: Events) -> Sent:
        """A topic's limit is on batches: only what is refused alone is too large."""
        self._transactions.renew(one_by_one=True)
        refused: set[int] = set()
        while True:
            try:
                sent = self._commit(events, refused)
            except RecordTooLargeError:
                pairs = self._transactions.refused()
                found = {
                    i
                    for i, pair in enumerate(zip(events.keys, events.values, strict=True))
                    if pair in pairs
                }
                if found <= refused:
                    raise
                refused |= found
                self._transactions.renew(one_by_one=True)
            else:
                self._transactions.renew()
                return sent

    def _commit(self, events: Events, refused: Collection[int]) -> Sent:
        self._write(events, refused)
        sent = Sent(
            events.offsets[-1] + 1,
            self.sent.events + len(events) - len(refused),
            self.sent.left_out + len(refused),
        )
        note = json.dumps({"events": sent.events, "left_out": sent.left_out})
        place = TopicPartition(self._sending.topic, 0, sent.offset, note)
        self._transactions.commit([place], self._consumer.consumer_group_metadata())
        return sent

    def _write(self, events: Events, refused: Collection[int]) -> None:
        transaction = self._transactions.begin()
        rows = self._rows(events)
        wanted = np.ones(len(rows), np.bool_)
        wanted[list(refused)] = False
        if self._slice.partition < 0:
            targets = partitions_of(rows.keys, self._sending.partitions)
        else:
            targets = np.full(len(rows), self._slice.partition)
        topic, places = self._sending.topic, np.unique(targets[wanted]).tolist()
        transaction.enlist([(topic, place) for place in places])
        for place in places:
            some = rows.take(np.flatnonzero(wanted & (targets == place)))
            transaction.send_rows(topic, place, some)
        faults.reach("mid-produce")

    def _rows(self, events: Events) -> Rows:
        """The events with the headers that say of which run they are, and where they were."""
        sending = self._sending
        times = events.times.to_numpy().copy()
        old = times < sending.keeps_from
        added = [
            scalar(header(REPLAY_RUN.encode(), sending.run.encode())),
            header_column(REPLAY_SOURCE.encode(), self._slice.source(), events.rows["offset"]),
        ]
        if old.any():
            was = header_column(ORIGINAL_TIME.encode(), b"", events.times)
            added.append(pc.if_else(pa.array(old), was, scalar(b"")))
            times[old] = sending.now
        return Rows(
            times,
            events.rows["key"],
            events.rows["value"],
            events.packed_headers,
            joined(*added),
            2 + old if old.any() else 2,
        )

    def _committed(self) -> Sent:
        place = TopicPartition(self._sending.topic, 0)
        try:
            found = self._consumer.committed([place], timeout=_COMMITTED_SECONDS)[0]
        except KafkaException as error:
            raise translate(error, "Reading how far a replay is") from None
        if found.error is not None:
            raise translate(found.error, "Reading how far a replay is")
        return sent_in(found) or Sent(self._slice.start)


def sent_in(place: TopicPartition) -> Sent | None:
    """What a committed offset says; None if there is none."""
    if place.offset < 0:
        return None
    try:
        note = json.loads(place.metadata or "")
        return Sent(place.offset, int(note["events"]), int(note["left_out"]))
    except (ValueError, KeyError, TypeError):
        raise InvalidRecordError(
            f"The committed offset {place.offset} of a replay is not one of ours."
        ) from None
