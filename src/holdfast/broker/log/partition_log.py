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
    snapshot_path,
)
from holdfast.broker.log.errors import OffsetOutOfRange, RecordsRejected, StorageFailed
from holdfast.broker.log.files import remove, rename, replace_file, sync_directory
from holdfast.broker.log.flushing import FlushTicket, Unsynced
from holdfast.broker.log.index import AbortedTransaction, IndexDamaged
from holdfast.broker.log.leftovers import finish_swap, swap_name
from holdfast.broker.log.producers import Producer, ProducerSnapshot, WrittenBatch
from holdfast.broker.log.reading import Reader
from holdfast.broker.log.recovery import Opened, open_directory
from holdfast.broker.log.replay import producers_at, rebuild_aborted_index
from holdfast.broker.log.segment import MAX_RELATIVE_OFFSET, Segment, SegmentFacts
from holdfast.broker.log.snapshot import encode_snapshot
from holdfast.broker.log.state import CleanState, LogState
from holdfast.broker.topic_config import TopicConfig
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import (
    BatchHeader,
    assign_offset,
    iterate_batches,
    stamp_append_time,
)

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
        self.segments = opened.segments
        self.cleaned_offset = opened.cleaned_offset
        self.checkpoint_base = opened.checkpoint_base
        """Where the segment begins that the checkpoint takes for the active one: recovery goes on
        in it by position, so it and what follows must not be rewritten."""
        self.is_compacting = False
        self.uncleanable = False
        """A damaged segment was met: compaction would hide that, so there is none any more."""
        self._directory = str(directory)
        self._report = report
        self._producers = opened.producers
        self._reader = Reader(self.segments, report)
        self._unsynced = Unsynced()
        self._producers_kept_at = opened.producers_kept_at
        self._changed = False
        self._generation = 0
        self._must_trim = False
        self._must_cut = False
        for segment in opened.unsynced:
            self._unsynced.wrote(segment.file, 0)
            self._files_changed()
        if opened.is_new:
            self._unsynced.named(str(directory.parent))

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
        """The log in `directory`, which is made if needed. `report` hears what recovery did.

        What was found after a crash may be in the page cache alone: flush before it is served.
        """
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
        stamps = self.config.message_timestamp_type == "LogAppendTime"
        append_time = now_ms if stamps else NO_APPEND_TIME
        self._ensure_mended()
        original = self._admit_producers(parts, source)
        if original is not None:
            written_at = original.timestamp if stamps else NO_APPEND_TIME
            return Appended(original.first_offset, original.last_offset, written_at, True)
        first_offset = next_offset = self.end_offset
        max_timestamp = append_time
        for header, batch in parts:
            if stamps:
                stamp_append_time(batch, header.attributes, now_ms)
            else:
                max_timestamp = max(max_timestamp, header.max_timestamp)
            assign_offset(batch, next_offset, header.batch_length)
            next_offset += header.record_count
        self._write(batches, next_offset - 1, max_timestamp, now_ms)
        self.end_offset = next_offset
        self._note_producers(parts, first_offset, append_time, now_ms)
        return Appended(first_offset, next_offset - 1, append_time, False)

    def _admit_producers(
        self, parts: list[tuple[BatchHeader, memoryview]], source: Source
    ) -> WrittenBatch | None:
        """The batch that a retry repeats; raises RecordsRejected for a producer out of turn."""
        for header, batch in parts:
            if header.producer_id >= 0:
                original = self._producers.admit(header, batch, source is Source.CLIENT)
                if original is not None:
                    return original
        return None

    def _note_producers(
        self,
        parts: list[tuple[BatchHeader, memoryview]],
        offset: int,
        append_time: int,
        now_ms: int,
    ) -> None:
        for header, batch in parts:
            if header.producer_id >= 0:
                timestamp = append_time if append_time >= 0 else header.max_timestamp
                aborted = self._producers.wrote(header, batch, offset, timestamp)
                self._producers.heard(header.producer_id, now_ms)
                if aborted is not None:
                    self.segments.active.add_aborted(aborted)
            offset += header.record_count

    def _write(
        self, batches: memoryview, last_offset: int, max_timestamp: int, now_ms: int
    ) -> None:
        try:
            active = self.segments.active
            if self._is_full(active, len(batches), last_offset, max_timestamp):
                active = self._roll(now_ms)
            elif active.size == 0:
                active.begun_ms = now_ms
            file = active.file
            self._changed = self._must_trim = True
            active.append(file, batches, last_offset, max_timestamp)
            self._must_trim = False
        except OSError as error:
            self._try_to_mend()
            raise StorageFailed(f"{self._directory} could not be written: {error}") from error
        self._unsynced.wrote(file, len(batches))

    def _is_full(self, active: Segment, size: int, last_offset: int, max_timestamp: int) -> bool:
        return active.size > 0 and (
            active.size + size > self.config.segment_bytes
            or last_offset - active.base_offset > MAX_RELATIVE_OFFSET
            or retention.spans_too_long(active, max_timestamp, self.config)
        )

    def _roll(self, now_ms: int) -> Segment:
        """Begin a new segment. If the disk refuses, the old one stays the active one."""
        interval = self.config.index_interval_bytes
        new = Segment.create(self._directory, self.end_offset, now_ms, interval, self._report)
        full = self.segments.active
        full.seal()
        self._unsynced.wrote(full.file, 0)
        self.segments.add(new)
        self._unsynced.wrote(new.file, 0)
        self._files_changed()
        return new

    def _files_changed(self) -> None:
        self._unsynced.named(self._directory)
        self._changed = True

    # mending: what a failed write or a failed flush has left is cut off before anything else

    def _ensure_mended(self) -> None:
        try:
            self._mend()
        except OSError as error:
            raise StorageFailed(f"{self._directory} could not be mended: {error}") from error

    def _try_to_mend(self) -> None:
        try:
            self._mend()
        except OSError as error:
            self._report(f"Nothing can be appended until the end is mended: {error}")

    def _mend(self) -> None:
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
        active.cut(active.locate(end).position, end)
        active.trim()
        self._producers = producers_at(self._directory, self.segments, end)
        self._unsynced.wrote(active.file, 0)
        self._files_changed()

    # durability

    def flush_targets(self) -> FlushTicket | None:
        """What to sync so that all that is appended now is durable; None if it is already."""
        ticket = self._unsynced.ticket(self._directory, self._generation, self.end_offset)
        if ticket is not None and self._unsynced.checkpoint_due and not self._must_cut:
            for segment in self.segments:
                segment.write_indexes()
            has_producers = len(self._producers) > 0
            snapshot = encode_snapshot(self._producers, self.end_offset) if has_producers else None
            ticket.add_checkpoint(self._state(), snapshot)
            self._unsynced.checkpointed()
        return ticket

    def flushed(self, ticket: FlushTicket) -> None:
        """The ticket's sync has returned: what it covers is durable, and visible."""
        if ticket.generation != self._generation:
            return
        self.high_watermark = max(self.high_watermark, ticket.end_offset)
        self._producers.seen_upto(self.high_watermark)
        if ticket.checkpoint_error is not None:
            self._unsynced.want_checkpoint()
            self._report(f"No checkpoint could be written: {ticket.checkpoint_error}")
        elif ticket.checkpoint_base is not None:
            self.checkpoint_base = ticket.checkpoint_base
            self._producers_kept_at = ticket.end_offset
            self._tidy_snapshots()

    def _tidy_snapshots(self) -> None:
        try:
            remove_old_snapshots(self._directory)
        except OSError as error:  # they are in nobody's way, and those who wait must hear
            self._report(f"Old snapshots of producers are still there: {error}")

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
        self._reader.forget()
        self.end_offset = self.high_watermark
        self._unsynced.again(ticket)
        self._unsynced.named(str(self.directory.parent))
        self._must_cut = True
        self._try_to_mend()

    def expose(self) -> None:
        """Let readers see all that is appended, durable or not."""
        self.high_watermark = self.end_offset
        self._producers.seen_upto(self.high_watermark)

    def close(self) -> CleanState:
        """Make everything durable; the state opens the log again without reading it."""
        if self._changed:
            try:
                self._mend()
                self.segments.active.trim()
                self._unsynced.want_checkpoint()
                ticket = self.flush_targets()
                assert ticket is not None
                # Both are checked when they are read, and a stop of many partitions is quick.
                ticket.sync(durable_checkpoint=False)
                if ticket.checkpoint_error is not None:
                    raise ticket.checkpoint_error
            except OSError as error:
                raise StorageFailed(f"{self._directory} could not be closed: {error}") from error
            self.flushed(ticket)
            self._changed = False
        return self._state()

    def abandon(self) -> None:
        """The topic is deleted. Its files are let go of, so that their room is free, and never
        touched again: the next topic of that name has its own in their place."""
        self._unsynced.abandon()
        self._generation += 1  # a sync under way has nothing to tell any more
        self._must_cut = self._must_trim = False
        self._reader.forget()
        for segment in self.segments:
            segment.forget()

    @property
    def is_abandoned(self) -> bool:
        return self._unsynced.is_abandoned

    def _state(self) -> LogState:
        return LogState(
            self.log_start_offset,
            self.end_offset,
            len(self._producers) > 0,
            self.cleaned_offset,
            tuple(segment.facts() for segment in self.segments),
        )

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
        return self._reader.read(offset, max_bytes, limit, at_least_one)

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

    def aborted_in(
        self, start: int, batches: bytes | bytearray | memoryview
    ) -> list[AbortedTransaction]:
        """The aborted transactions with records in what was read from `start` on."""
        if not any(len(s.aborted_index) for s in self.segments.starting_with(start)):
            return []
        end = start
        for header, _ in iterate_batches(batches):
            end = header.last_offset + 1
        return self.aborted_transactions(start, end)

    def offset_for_time(self, timestamp: int, limit: int) -> tuple[int, int] | None:
        """Offset and time of the first record as late as `timestamp`, below `limit`."""
        return time_lookup.first_at(self.segments, timestamp, self.log_start_offset, limit)

    def max_timestamp(self, limit: int) -> tuple[int, int] | None:
        """Offset and time of the latest record by time, below `limit`."""
        return time_lookup.latest(self.segments, self.log_start_offset, limit)

    # producers

    def producers(self) -> list[ProducerSnapshot]:
        return self._producers.described()

    def active_producers(self) -> Iterator[tuple[int, Producer]]:
        """Ids and states of the producers that are remembered."""
        return self._producers.items()

    def expire_producers(self, now_ms: int, older_than_ms: int) -> int:
        """Forget producers that have been silent for so long; how many."""
        expired = self._producers.expire(now_ms, older_than_ms)
        self._changed = self._changed or expired > 0
        return expired

    # maintenance

    def apply_config(self, config: TopicConfig) -> None:
        self.config = config
        self.segments.active.interval = config.index_interval_bytes

    def delete_records_before(self, offset: int) -> int:
        """Serve nothing before `offset` from now on; durable when it returns. The new start."""
        if not 0 <= offset <= self.high_watermark:
            raise OffsetOutOfRange(f"Offset {offset} is past the end, {self.high_watermark}")
        if offset > self.log_start_offset:
            try:
                replace_file(f"{self._directory}/{START_OFFSET}", str(offset).encode())
                self._changed = True
                self.log_start_offset = offset
                self._drop_segments(retention.before(self.segments, offset))
            except OSError as error:
                raise StorageFailed(f"{self._directory}: {error}") from error
        return self.log_start_offset

    def retain(self, now_ms: int) -> list[str]:
        """Drop the segments that the settings do not keep; what was done, in words."""
        if self.is_abandoned:
            return []
        self._mend()
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
                # Its name tells where the log goes on, when nothing else is left to tell it.
                sync_directory(self._directory)
            before = len(self.segments)
            size = self._drop_segments(count)
            if len(self.segments) < before:
                done.append(
                    f"Dropped {before - len(self.segments)} segments ({size} bytes): {reason}"
                )
        return done

    def _drop_segments(self, count: int) -> int:
        """Remove the oldest segments, oldest first: a crash in between leaves no hole.

        What they say of producers must be kept elsewhere by then. If it is not, they stay for now.
        """
        size = 0
        while count and not self._keep_producers(self.segments[count].base_offset):
            count -= 1
        for _ in range(count):
            self._reader.forget()
            self._files_changed()
            dropped = self.segments.first
            dropped.delete()
            self.segments.drop_first()
            self.log_start_offset = max(self.log_start_offset, self.segments.first.base_offset)
            self.cleaned_offset = max(self.cleaned_offset, self.log_start_offset)
            size += dropped.size
        return size

    def _keep_producers(self, offset: int) -> bool:
        """Whether producers as of `offset` can be known without the log before it."""
        if self._producers_kept_at >= offset or not len(self._producers):
            return True
        if self.high_watermark < self.end_offset:
            return False  # a snapshot is of the end, and the end may yet be cut
        snapshot = encode_snapshot(self._producers, self.end_offset)
        replace_file(snapshot_path(self._directory, self.end_offset), snapshot)
        self._producers_kept_at = self.end_offset
        return True

    def has_segments(self, bases: list[int], end: int) -> bool:
        """Whether just these segments are in the log between the first of them and `end`."""
        if self.is_abandoned:
            return False
        return bases == [s.base_offset for s in self.segments if bases[0] <= s.base_offset < end]

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
        interval = self.config.index_interval_bytes
        adopted = Segment(self._directory, new, interval, self._report, is_dense=False)
        for index in adopted.indexes:
            if index.size:
                rename(f"{prepared}/{os.path.basename(index.path)}", index.path)
        self.segments.replace(new.base_offset, end, adopted)
        self._reader.forget()
        self._files_changed()
        return True
