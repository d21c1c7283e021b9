"""Rewrites segments so that each key keeps its last record: one compaction.

Offsets never change, and a batch keeps its range of offsets, so removed records leave gaps. These
records stay, as in Apache Kafka:

- of the keys in the map, the record at the mapped offset, and everything the map does not reach;
- a tombstone for `delete.retention.ms` after it was first compacted: the batch is marked with that
  time, and readers that are not behind by more have seen it;
- no record of an aborted transaction; its marker, and that of a committed one, until nothing of
  the transaction is left and the same time has passed;
- the last batch of each producer and the last of the log, emptied if need be: sequences, epochs
  and the end offset can then still be read from the log.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from holdfast.broker.log.files import open_files, sync_directory, sync_file
from holdfast.broker.log.index import AbortedTransaction
from holdfast.broker.log.segment import Segment, SegmentFacts
from holdfast.wire.records.batch import (
    DELETE_HORIZON_BIT,
    NO_TIMESTAMP,
    BatchHeader,
    assemble,
    header_of,
    marker_of,
    records_of,
)
from holdfast.wire.records.compression import UndecodableRecords
from holdfast.wire.records.record import Record

MAX_KEYS = 1_000_000
"""Keys in the map of one compaction, about 150 MB. The rest is for the next one."""
_DIGEST = 16


class Uncleanable(Exception):
    """A segment is damaged. Rewriting it would hide that, so it stays as it is."""


@dataclass(frozen=True, slots=True)
class ActiveProducer:
    """The batch of a producer that must stay in the log."""

    last_data_offset: int
    """-1: its epoch has written no data, only a marker."""
    epoch: int


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """The input of a compaction."""

    groups: tuple[tuple[SegmentFacts, ...], ...]
    """Consecutive segments; each group becomes one."""
    end: int
    """The offset after the last segment."""
    dirty_from: int
    aborted: tuple[AbortedTransaction, ...]
    producers: dict[int, ActiveProducer]
    now_ms: int
    delete_retention_ms: int
    interval: int
    was_compacted: bool
    """True if there may be gaps between offsets."""
    max_keys: int = MAX_KEYS


class KeyMap:
    """The last offset of each key, as far as there was room."""

    def __init__(self) -> None:
        self._offsets: dict[bytes, int] = {}
        self.end = 0
        """The map has all keys from the start of the dirty part up to here."""

    def __len__(self) -> int:
        return len(self._offsets)

    def put(self, key: bytes, offset: int) -> None:
        self._offsets[_short(key)] = offset

    def is_superseded(self, key: bytes, offset: int) -> bool:
        return self._offsets.get(_short(key), -1) > offset


def _short(key: bytes) -> bytes:
    """Replaces a long key by its digest. A digest is longer than any short key."""
    return key if len(key) < _DIGEST else blake2b(key, digest_size=_DIGEST).digest()


class TransactionEnds:
    """The ends of transactions, and those that still have records."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._by_producer: dict[int, list[AbortedTransaction]] = {}
        for transaction in sorted(aborted, key=lambda a: a.first_offset):
            self._by_producer.setdefault(transaction.producer_id, []).append(transaction)
        self._seen_aborted: set[AbortedTransaction] = set()
        self._seen_committed: set[int] = set()

    def aborted_at(self, producer_id: int, offset: int) -> AbortedTransaction | None:
        """The aborted transaction of a producer that includes `offset`."""
        transactions = self._by_producer.get(producer_id, ())
        number = bisect_right(transactions, offset, key=lambda a: a.first_offset)
        if number and transactions[number - 1].last_offset >= offset:
            return transactions[number - 1]
        return None

    def is_aborted(self, header: BatchHeader) -> bool:
        return (
            header.is_transactional
            and self.aborted_at(header.producer_id, header.base_offset) is not None
        )

    def saw_data(self, header: BatchHeader) -> None:
        """Notes that the batch's transaction still has records."""
        if not header.is_transactional:
            return
        aborted = self.aborted_at(header.producer_id, header.base_offset)
        if aborted is None:
            self._seen_committed.add(header.producer_id)
        else:
            self._seen_aborted.add(aborted)

    def ended(self, header: BatchHeader, batch: bytes) -> tuple[bool, AbortedTransaction | None]:
        """Returns True if a marker may go, and the transaction that stays in the index with it."""
        marker = marker_of(batch)
        if marker is None:
            return True, None
        if marker.commit:
            seen = header.producer_id in self._seen_committed
            self._seen_committed.discard(header.producer_id)
            return not seen, None
        aborted = self.aborted_at(header.producer_id, header.base_offset)
        if aborted is None or aborted not in self._seen_aborted:
            return True, None
        return False, aborted


def clean(directory: str, target: str, plan: CompactionPlan) -> tuple[int, list[SegmentFacts]]:
    """Writes the compacted groups to the directory `target`, and syncs them.

    Returns the offset up to which the log is compacted, and the new segments.
    """
    key_map = _map_keys(directory, plan)
    ends = TransactionEnds(plan.aborted)
    written = []
    for group in plan.groups:
        if group[0].base_offset >= key_map.end:
            break
        written.append(_Rewriting(directory, target, plan, key_map, ends, group).run())
    sync_directory(target)
    return key_map.end, written


def _map_keys(directory: str, plan: CompactionPlan) -> KeyMap:
    """The last offset of each key from the start of the dirty part on."""
    key_map = KeyMap()
    ends = TransactionEnds(plan.aborted)
    for group in plan.groups:
        for facts in group:
            for header, batch in _batches(directory, facts, plan):
                if header.last_offset < plan.dirty_from:
                    continue
                if len(key_map) and len(key_map) + header.record_count > plan.max_keys:
                    return key_map
                if not header.is_control and not ends.is_aborted(header):
                    for record in _records(batch) or ():
                        if record.key is not None:
                            key_map.put(record.key, record.offset)
                key_map.end = header.last_offset + 1
    key_map.end = plan.end
    return key_map


def _batches(
    directory: str, facts: SegmentFacts, plan: CompactionPlan
) -> Iterator[tuple[BatchHeader, bytes]]:
    segment = Segment(directory, facts, plan.interval, print, is_dense=not plan.was_compacted)
    for found in segment.checked():
        if found.header is None:
            raise Uncleanable(f"{segment.path} is damaged at byte {found.position}")
        yield found.header, segment.read_batch(found.position, found.header)


def _records(batch: bytes) -> list[Record] | None:
    """The records; None if they are unreadable: such a batch stays as it is."""
    try:
        return list(records_of(batch))
    except UndecodableRecords:
        return None


class _Rewriting:
    """Rewrites one group of segments into one segment."""

    def __init__(
        self,
        directory: str,
        target: str,
        plan: CompactionPlan,
        key_map: KeyMap,
        ends: TransactionEnds,
        group: tuple[SegmentFacts, ...],
    ) -> None:
        self._directory = directory
        self._plan = plan
        self._key_map = key_map
        self._ends = ends
        self._group = group
        first = group[0]
        self._into = Segment.create(target, first.base_offset, first.begun_ms, plan.interval, print)

    def run(self) -> SegmentFacts:
        into = self._into
        file = into.file
        for facts in self._group:
            for header, batch in _batches(self._directory, facts, self._plan):
                kept = (
                    self._keep_marker(header, batch)
                    if header.is_control
                    else (self._keep_data(header, batch))
                )
                if kept is not None:
                    latest = header_of(kept).max_timestamp
                    into.append(file, memoryview(kept), header.last_offset, latest)
        into.seal()
        for path_of in (into, *into.indexes):
            _sync(path_of.path)
        return into.facts()

    def _keep_marker(self, header: BatchHeader, batch: bytes) -> bytes | bytearray | None:
        may_go, aborted = self._ends.ended(header, batch)
        if aborted is not None:
            self._into.add_aborted(aborted)
        if not may_go:
            return batch
        horizon = header.delete_horizon
        if horizon is None:
            return assemble(self._with_horizon(header), _records(batch) or ())
        if horizon > self._plan.now_ms:
            return batch
        return self._emptied(header) if self._is_needed(header) else None

    def _keep_data(self, header: BatchHeader, batch: bytes) -> bytes | bytearray | None:
        self._ends.saw_data(header)
        if self._ends.is_aborted(header):
            return self._emptied(header) if self._is_needed(header) else None
        records = _records(batch)
        if records is None:
            return batch
        kept = [record for record in records if self._stays(header, record)]
        if not kept:
            return self._emptied(header) if self._is_needed(header) else None
        needs_horizon = header.delete_horizon is None and any(
            record.value is None for record in kept
        )
        if len(kept) == len(records) and not needs_horizon:
            return batch
        if needs_horizon:
            header = self._with_horizon(header)
        elif header.delete_horizon is None:
            header = header._replace(base_timestamp=kept[0].timestamp)
        if not header.has_append_time:
            header = header._replace(max_timestamp=max(record.timestamp for record in kept))
        return assemble(header, kept)

    def _stays(self, header: BatchHeader, record: Record) -> bool:
        if record.offset >= self._key_map.end:
            return True
        if record.key is None or self._key_map.is_superseded(record.key, record.offset):
            return False
        horizon = header.delete_horizon
        return record.value is not None or horizon is None or horizon > self._plan.now_ms

    def _with_horizon(self, header: BatchHeader) -> BatchHeader:
        return header._replace(
            attributes=header.attributes | DELETE_HORIZON_BIT,
            base_timestamp=self._plan.now_ms + self._plan.delete_retention_ms,
        )

    def _emptied(self, header: BatchHeader) -> bytearray:
        # An empty batch has no time: otherwise a search for the latest time would find nothing.
        return assemble(header._replace(max_timestamp=NO_TIMESTAMP), ())

    def _is_needed(self, header: BatchHeader) -> bool:
        """Returns True if the batch must stay although it is empty."""
        if header.last_offset + 1 == self._plan.end:
            return True
        producer = self._plan.producers.get(header.producer_id)
        if producer is None:
            return False
        if producer.last_data_offset >= 0:
            return header.last_offset == producer.last_data_offset
        return header.is_control and header.producer_epoch == producer.epoch


def _sync(path: str) -> None:
    try:
        sync_file(open_files.get(path))
    except FileNotFoundError:
        pass  # an index without entries has no file
