"""One partition's records on disk."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.broker.log import retention, time_lookup
from holdfast.broker.log.admission import Source, check, split
from holdfast.broker.log.directory import (
    START_OFFSET,
    remove_old_snapshots,
    remove_snapshots_after,
)
from holdfast.broker.log.errors import (
    CorruptRecords,
    OffsetOutOfRange,
    RecordsRejected,
    StorageFailed,
)
from holdfast.broker.log.files import File, read_at, remove, rename, replace_file
from holdfast.broker.log.flushing import FlushTicket
from holdfast.broker.log.index import AbortedTransaction, IndexDamaged
from holdfast.broker.log.producers import (
    EndedTransaction,
    Producer,
    ProducerSnapshot,
    WrittenBatch,
    encode_snapshot,
)
from holdfast.broker.log.reading import Places, Prefix, good_prefix, size_of_first
from holdfast.broker.log.recovery import (
    Opened,
    finish_swap,
    open_directory,
    producers_at,
    rebuild_aborted_index,
    swap_name,
)
from holdfast.broker.log.scanning import good_batch_at
from holdfast.broker.log.segment import MAX_RELATIVE_OFFSET, Segment, SegmentFacts
from holdfast.broker.log.state import CleanState, LogState, encode_checkpoint
from holdfast.broker.protocol.errors import ErrorCode
from holdfast.broker.records.batch import (
    HEADER_SIZE,
    BatchHeader,
    Marker,
    assign_offset,
    marker_of,
    stamp_append_time,
)
from holdfast.broker.topic_config import TopicConfig

CHECKPOINT_BYTES = 64 * 1024 * 1024
"""Appended bytes after which a checkpoint is due: about what a restart may have to read."""

NO_APPEND_TIME = -1


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a batch went."""

    base_offset: int
    last_offset: int
    append_time: int
    """The time that the broker gave its records; -1 if they keep the producer's."""
    duplicate: bool


class PartitionLog:
    """Record batches at dense offsets from 0, in segment files.

    One thread writes. What was appended is visible to readers when `high_watermark` has passed it:
    when a flush has returned, or at once with `expose`. A batch is in the log wholly or not at all,
    whatever the disk does.
    """

    def __init__(
        self, directory: Path, config: TopicConfig, opened: Opened, report: Callable[[str], None]
    ) -> None:
        self.directory = directory
        self.config = config
        self.log_start_offset = opened.log_start_offset
        self.end_offset = opened.end_offset
        self.high_watermark = opened.end_offset
        self.cleaned_offset = opened.cleaned_offset
        self.segments = opened.segments
        self._directory = str(directory)
        self._producers = opened.producers
        self._report = report
        self._places = Places(self.segments)
        self._unsynced: dict[str, File] = {s.path: s.file for s in opened.unsynced}
        self._directories_changed = bool(opened.unsynced)
        self._parent_changed = opened.is_new
        self._since_checkpoint = 0
        self._checkpoint_due = bool(opened.unsynced)
        self._changed = bool(opened.unsynced)
        self._generation = 0
        self._must_trim = False
        self._must_cut = False
        self.is_compacting = False
        self.uncleanable = False
        """A damaged segment was met: compaction would hide that, and is left."""
        self._reported_damage: set[tuple[int, int]] = set()

    @classmethod
    def open(
        cls,
        directory: Path,
        config: TopicConfig,
        *,
        now_ms: int,
        clean: CleanState | None,
        report: Callable[[str], None],
    ) -> "PartitionLog":
        """The log in `directory`, which is made if needed. `report` hears what recovery did."""
        try:
            opened = open_directory(directory, clean, config.index_interval_bytes, now_ms, report)
            return cls(directory, config, opened, report)
        except OSError as error:
            raise StorageFailed(f"{directory} cannot be opened: {error}") from error

    @property
    def last_stable_offset(self) -> int:
        """Below it every transaction is decided, and every reader can know how."""
        stable = self._producers.last_stable_offset(self.high_watermark)
        return max(stable, self.log_start_offset)

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    # appending

    def append(
        self, batches: memoryview, *, now_ms: int, source: Source = Source.CLIENT
    ) -> Appended:
        """Check, number and write `batches`, in place: `batches` must be writable.

        Raises RecordsRejected for the producer's faults, StorageFailed for the disk's; nothing of
        it is in the log then.
        """
        parts = split(batches)
        if len(parts) > 1 and source is Source.CLIENT:
            raise RecordsRejected(
                ErrorCode.INVALID_RECORD, "Only one record batch per partition is taken"
            )
        for header, batch in parts:
            check(header, batch, self.config, now_ms, source)
        original = self._check_producers(parts, source)
        stamps = self.config.message_timestamp_type == "LogAppendTime"
        if original is not None:
            return Appended(
                original.first_offset,
                original.last_offset,
                original.timestamp if stamps else NO_APPEND_TIME,
                duplicate=True,
            )
        first_offset = next_offset = self.end_offset
        max_timestamp = -1
        for header, batch in parts:
            if stamps:
                stamp_append_time(batch, header.attributes, now_ms)
            assign_offset(batch, next_offset, header.batch_length)
            max_timestamp = max(max_timestamp, now_ms if stamps else header.max_timestamp)
            next_offset += header.record_count
        self._write(batches, next_offset - 1, max_timestamp, now_ms)
        self.end_offset = next_offset
        self._note_producers(parts, first_offset, now_ms if stamps else None)
        return Appended(
            first_offset, next_offset - 1, now_ms if stamps else NO_APPEND_TIME, duplicate=False
        )

    def _check_producers(
        self, parts: list[tuple[BatchHeader, memoryview]], source: Source
    ) -> WrittenBatch | None:
        """The batch that a retry repeats; raises RecordsRejected for a producer out of turn."""
        for header, batch in parts:
            if header.producer_id < 0:
                continue
            if header.is_control:
                self._producers.check_marker(header, _marker_in(batch))
                continue
            if source is Source.CLIENT:
                original = self._producers.original_of(header)
                if original is not None:
                    return original
            self._producers.check_data(header, check_sequence=source is Source.CLIENT)
        return None

    def _note_producers(
        self, parts: list[tuple[BatchHeader, memoryview]], offset: int, append_time: int | None
    ) -> None:
        for header, batch in parts:
            if header.producer_id >= 0:
                timestamp = header.max_timestamp if append_time is None else append_time
                if header.is_control:
                    ended = self._producers.wrote_marker(
                        header, _marker_in(batch), offset, timestamp
                    )
                    if ended is not None and ended.aborted:
                        self._note_aborted(ended)
                else:
                    self._producers.wrote_data(header, offset, timestamp)
            offset += header.record_count

    def _note_aborted(self, ended: EndedTransaction) -> None:
        stable = self._producers.undecided_from(ended.last_offset + 1)
        self.segments.active.add_aborted(AbortedTransaction(*ended[:3], stable))

    def _write(
        self, batches: memoryview, last_offset: int, max_timestamp: int, now_ms: int
    ) -> None:
        try:
            self._repair()
            active = self.segments.active
            if self._is_full(active, len(batches), last_offset, max_timestamp):
                active = self._roll(now_ms)
            elif active.size == 0:
                active.begun_ms = now_ms
            file = active.file
            # First in the list of what must be synced: a write that fails may have left bytes too.
            self._unsynced[active.path] = file
            self._must_trim = True
            active.append(file, batches, last_offset, max_timestamp)
            self._must_trim = False
        except OSError as error:
            self._try_repair()
            raise StorageFailed(f"{self._directory} could not be written: {error}") from error
        self._changed = True
        self._since_checkpoint += len(batches)

    def _is_full(self, active: Segment, size: int, last_offset: int, max_timestamp: int) -> bool:
        if active.size == 0:
            return False
        return (
            active.size + size > self.config.segment_bytes
            or last_offset - active.base_offset > MAX_RELATIVE_OFFSET
            or retention.spans_too_long(active, max_timestamp, self.config)
        )

    def _roll(self, now_ms: int) -> Segment:
        """Begin a new segment. If the disk refuses, the old one stays the active one."""
        new = Segment.create(
            self._directory,
            self.end_offset,
            now_ms,
            self.config.index_interval_bytes,
            self._report,
        )
        self.segments.active.seal()
        self.segments.add(new)
        self._unsynced[new.path] = new.file
        self._directories_changed = self._checkpoint_due = self._changed = True
        return new

    def _repair(self) -> None:
        """Cut off what a failed write or a failed flush has left behind the end.

        Until the disk lets it, nothing is appended.
        """
        if self._must_cut:
            self._cut()
            self._must_cut = False
        if self._must_trim:
            self.segments.active.trim()
            self._must_trim = False

    def _cut(self) -> None:
        """Make the files and the producers what they were at the end offset."""
        end = self.end_offset
        while self.segments.active.base_offset > end:
            self.segments.active.delete()
            self.segments.drop_last()
        active = self.segments.active
        active.cut(active.locate(end), end)
        active.trim()
        remove_snapshots_after(self._directory, end)
        self._producers = producers_at(self._directory, self.segments, end)
        self._unsynced = {active.path: active.file}
        self._directories_changed = self._checkpoint_due = self._changed = True

    def _try_repair(self) -> None:
        try:
            self._repair()
        except OSError as error:
            self._report(f"Nothing can be appended until the end is mended: {error}")

    # durability

    def flush_targets(self) -> FlushTicket | None:
        """What to sync so that all that is appended now is durable; None if it is already."""
        if not self._unsynced and not self._directories_changed:
            return None
        directories = []
        if self._directories_changed:
            directories.append(self._directory)
        if self._parent_changed:
            directories.append(str(self.directory.parent))
        checkpoint = snapshot = None
        if self._checkpoint_is_due:
            for segment in self.segments:
                segment.write_indexes()
            checkpoint = encode_checkpoint(self._state())
            snapshot = self._snapshot()
            self._since_checkpoint = 0
            self._checkpoint_due = False
        ticket = FlushTicket(
            self._generation,
            self.end_offset,
            self._directory,
            list(self._unsynced.values()),
            directories,
            checkpoint,
            snapshot,
        )
        self._unsynced = {}
        self._directories_changed = self._parent_changed = False
        return ticket

    def flushed(self, ticket: FlushTicket) -> None:
        """The ticket's sync has returned: what it covers is durable, and visible."""
        if ticket.generation != self._generation:
            return
        self.high_watermark = max(self.high_watermark, ticket.end_offset)
        if ticket.checkpoint_error is not None:
            self._checkpoint_due = True
            self._report(f"No checkpoint could be written: {ticket.checkpoint_error}")
        elif ticket.has_checkpoint:
            remove_old_snapshots(self._directory)

    def flush_failed(self, ticket: FlushTicket, error: OSError) -> None:
        """What was not flushed was never visible: cut it off, so that a retry is taken as new.

        What the disk holds of it after a failed sync is unknown, so it must be written again.
        """
        if ticket.generation != self._generation:
            return
        self._report(
            f"A flush failed ({error}): offsets {self.high_watermark} to {self.end_offset - 1} "
            "are dropped"
        )
        self._generation += 1
        self._places.forget()
        self.end_offset = self.high_watermark
        self._parent_changed = True
        self._must_cut = True
        self._try_repair()

    def expose(self) -> None:
        """Let readers see all that is appended, durable or not."""
        self.high_watermark = self.end_offset

    @property
    def _checkpoint_is_due(self) -> bool:
        return self._checkpoint_due or self._since_checkpoint >= CHECKPOINT_BYTES

    def _state(self) -> LogState:
        return LogState(
            self.log_start_offset,
            self.end_offset,
            len(self._producers) > 0,
            self.cleaned_offset,
            tuple(segment.facts() for segment in self.segments),
        )

    def _snapshot(self) -> bytes | None:
        return encode_snapshot(self._producers, self.end_offset) if len(self._producers) else None

    def close(self) -> CleanState:
        """Make everything durable; the state opens the log again without reading it."""
        state = self._state()
        if not self._changed:
            return state
        try:
            self._repair()
            self._checkpoint_due = True
            self._directories_changed = True
            ticket = self.flush_targets()
            assert ticket is not None
            ticket.sync()
            if ticket.checkpoint_error is not None:
                raise ticket.checkpoint_error
        except OSError as error:
            raise StorageFailed(f"{self._directory} could not be closed: {error}") from error
        self.flushed(ticket)
        self._changed = False
        return self._state()

    # reading

    def read(
        self, offset: int, max_bytes: int, *, limit: int, at_least_one: bool = True
    ) -> bytes | memoryview:
        """Whole batches from the one that holds `offset` on, all below `limit`.

        Empty at the end. Never more than `max_bytes`, but for one batch that is larger itself
        (`at_least_one`). A damaged batch ends what is read; if it is the first, CorruptRecords.
        """
        if not self.log_start_offset <= offset <= self.end_offset:
            raise OffsetOutOfRange(
                f"Offset {offset} is not in [{self.log_start_offset}, {self.end_offset}]"
            )
        if offset >= limit:
            return b""
        try:
            segment, position = self._places.find(offset)
            data = read_at(segment.file, min(max_bytes, segment.size - position), position)
            if len(data) < HEADER_SIZE:
                data = read_at(segment.file, HEADER_SIZE, position)
            prefix = good_prefix(data, limit)
            if prefix.size == 0 and at_least_one and not prefix.damaged:
                data, prefix = self._read_first(segment, position, data, limit)
        except OSError as error:
            raise StorageFailed(f"{self._directory} could not be read: {error}") from error
        if prefix.damaged:
            self._report_damage(segment, position + prefix.size, prefix, offset)
        if prefix.size == 0:
            return b""
        self._places.remember(prefix.next_offset, segment, position + prefix.size)
        if 2 * prefix.size < len(data):
            return data[: prefix.size]  # a view would keep all of the bytes alive
        return memoryview(data)[: prefix.size]

    def _read_first(
        self, segment: Segment, position: int, data: bytes, limit: int
    ) -> tuple[bytes, Prefix]:
        """One batch that is larger than what was asked for."""
        if len(data) < HEADER_SIZE:
            return data, Prefix(0, -1, damaged=len(data) > 0)
        size = size_of_first(data)
        if size <= len(data):
            return data, Prefix(0, -1, damaged=False)
        if good_batch_at(segment.file, position, segment.size, segment.base_offset) is None:
            return data, Prefix(0, -1, damaged=True)
        data = read_at(segment.file, size, position)
        return data, good_prefix(data, limit)

    def _report_damage(self, segment: Segment, position: int, prefix: Prefix, offset: int) -> None:
        place = segment.base_offset, position
        message = f"{segment.path} is damaged at byte {position}: what is there is not served"
        if place not in self._reported_damage:
            self._reported_damage.add(place)
            self._report(message)
        if prefix.size == 0:
            raise CorruptRecords(f"Offset {offset}: {message}")

    def aborted_transactions(self, start: int, upto: int) -> list[AbortedTransaction]:
        """The aborted transactions with records in [start, upto)."""
        found: list[AbortedTransaction] = []
        for segment in self.segments.starting_with(start):
            if not len(segment.aborted_index):
                continue
            try:
                entries = segment.aborted()
            except IndexDamaged:
                rebuild_aborted_index(self.segments, segment, self.end_offset)
                entries = segment.aborted()
            for aborted in entries:
                if aborted.last_offset >= start and aborted.first_offset < upto:
                    found.append(aborted)
                if aborted.last_stable_offset >= upto:
                    return found
        return found

    def offset_for_time(self, timestamp: int, limit: int) -> tuple[int, int] | None:
        """Offset and time of the first record as late as `timestamp`, below `limit`."""
        return time_lookup.first_at(self.segments, timestamp, self.log_start_offset, limit)

    def max_timestamp(self, limit: int) -> tuple[int, int] | None:
        """Offset and time of the latest record by time, below `limit`."""
        return time_lookup.latest(self.segments, self.log_start_offset, limit)

    # producers

    def producers(self) -> list[ProducerSnapshot]:
        return self._producers.described()

    def expire_producers(self, now_ms: int, older_than_ms: int) -> int:
        """Forget producers that have been silent for so long; how many."""
        expired = self._producers.expire(now_ms, older_than_ms)
        self._changed = self._changed or expired > 0
        return expired

    def active_producers(self) -> Iterator[tuple[int, Producer]]:
        """Ids and states of the producers that are remembered."""
        return self._producers.items()

    # maintenance

    def apply_config(self, config: TopicConfig) -> None:
        self.config = config
        self.segments.active.interval = config.index_interval_bytes

    def delete_records_before(self, offset: int) -> int:
        """Serve nothing before `offset` from now on; durable when it returns. The new start."""
        if not 0 <= offset <= self.high_watermark:
            raise OffsetOutOfRange(f"Offset {offset} is not below {self.high_watermark}")
        if offset > self.log_start_offset:
            try:
                replace_file(f"{self._directory}/{START_OFFSET}", str(offset).encode())
            except OSError as error:
                raise StorageFailed(f"{self._directory}: {error}") from error
            self.log_start_offset = offset
            self._changed = True
            self._drop_segments(retention.before(self.segments, offset))
        return self.log_start_offset

    def retain(self, now_ms: int) -> list[str]:
        """Drop the segments that the settings do not keep; what was done, in words."""
        if retention.is_open_too_long(self.segments.active, now_ms, self.config):
            self._roll(now_ms)
        done = []
        for reason, count in retention.expired(
            self.segments,
            self.config,
            now_ms,
            self.log_start_offset,
            self.end_offset,
            self.high_watermark,
        ):
            if count == len(self.segments):
                self._roll(now_ms)
            size = self._drop_segments(count)
            done.append(f"Dropped {count} segments ({size} bytes): {reason}")
        return done

    def has_segments(self, bases: list[int], end: int) -> bool:
        """Whether just these segments are in the log between the first of them and `end`."""
        found = [s.base_offset for s in self.segments if bases[0] <= s.base_offset < end]
        return found == bases

    def adopt(self, new: SegmentFacts, bases: list[int], end: int, prepared: str) -> bool:
        """Put a compacted segment in the place of those that it was made of.

        The decision is on disk as a `.swap` file, with the indexes in the directory `prepared`.
        False if what it replaces is no longer there: then it is not needed either.
        """
        swap = swap_name(new.base_offset, end)
        if not self.has_segments(bases, end):
            remove(f"{self._directory}/{swap}")
            return False
        finish_swap(self._directory, swap)
        adopted = Segment(self._directory, new, self.config.index_interval_bytes, self._report)
        for index in adopted.indexes:
            if index.size:
                rename(f"{prepared}/{os.path.basename(index.path)}", index.path)
        self.segments.replace(new.base_offset, end, adopted)
        self._places.forget()
        self._directories_changed = self._checkpoint_due = self._changed = True
        return True

    def _drop_segments(self, count: int) -> int:
        """Remove the oldest segments, oldest first: a crash in between leaves no hole."""
        size = 0
        for _ in range(count):
            dropped = self.segments.first
            dropped.delete()
            self.segments.drop_first()
            size += dropped.size
        if count:
            self.log_start_offset = max(self.log_start_offset, self.segments.first.base_offset)
            self.cleaned_offset = max(self.cleaned_offset, self.log_start_offset)
            self._places.forget()
            self._directories_changed = self._checkpoint_due = self._changed = True
        return size


def _marker_in(batch: memoryview) -> Marker:
    marker = marker_of(batch)
    if marker is None:
        raise RecordsRejected(ErrorCode.INVALID_RECORD, "A control batch without a marker")
    return marker
