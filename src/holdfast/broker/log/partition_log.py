"""One partition's records on disk."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from holdfast.broker.log import retention, time_lookup
from holdfast.broker.log.admission import Source, check, split
from holdfast.broker.log.directory import (
    START_OFFSET,
    listing_of,
    remove_old_snapshots,
    snapshot_offsets,
    write_snapshot,
)
from holdfast.broker.log.errors import OffsetOutOfRange, StorageFailed
from holdfast.broker.log.files import remove, rename, replace_file, sync_directory
from holdfast.broker.log.flushing import FlushTicket, Unsynced
from holdfast.broker.log.index import AbortedTransaction, IndexDamaged
from holdfast.broker.log.inspection import inspect_in_slices
from holdfast.broker.log.leftovers import finish_swap, swap_name
from holdfast.broker.log.producers import (
    MOST_PRODUCERS,
    Producer,
    ProducerSnapshot,
    WrittenBatch,
)
from holdfast.broker.log.reading import Reader
from holdfast.broker.log.recovery import Opened, open_directory
from holdfast.broker.log.replay import producers_at, rebuild_aborted_index
from holdfast.broker.log.segment import MAX_RELATIVE_OFFSET, Segment, SegmentFacts
from holdfast.broker.log.snapshot import encode_snapshot
from holdfast.broker.log.state import CleanState, LogState
from holdfast.broker.topic_config import TopicConfig
from holdfast.broker.work import OnThread, Work
from holdfast.wire.records.batch import (
    BatchHeader,
    assign_offset,
    iterate_batches,
    stamp_append_time,
)

NO_APPEND_TIME = -1
MANY_SEGMENTS = 10_000
LARGE_SEGMENT = 64 * 1024 * 1024
"""The minimum size of a segment, whatever the topic's settings, in a log with `MANY_SEGMENTS`."""


@dataclass(frozen=True, slots=True)
class Appended:
    """Offsets and time of an appended batch."""

    base_offset: int
    last_offset: int
    append_time: int
    """The broker's time for its records; -1 if they keep the producer's."""
    duplicate: bool


class PartitionLog:
    """Record batches at dense offsets from 0, in segment files.

    One thread writes. Readers see appended records when `high_watermark` has passed them: after a
    flush, or at once with `expose`. A batch is in the log as a whole or not at all, whatever the
    disk does.
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
        """Base offset of the last segment in the checkpoint. Recovery continues in it by position,
        so this segment and later ones must not be rewritten."""
        self.is_compacting = False
        self.uncleanable = False
        """A segment is damaged. Compaction would hide that, so it has stopped."""
        self._directory = str(directory)
        self._written_start = 0
        """The start offset in its file, if it was written since the log was opened."""
        self._report = report
        self._producers = opened.producers
        self._reader = Reader(self.segments, report)
        self._unsynced = Unsynced()
        self._producers_kept_at = 0
        """Producers as of this offset are in a snapshot and in its copy."""
        self._changed = False
        self._generation = 0
        self._must_trim = False
        self._must_cut = False
        for segment in opened.unsynced:
            self._unsynced.wrote(segment.path, 0)
            self._files_changed()
        if opened.needs_snapshot:
            self._files_changed()  # the next flush writes another
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
        """The log in `directory`, which is created if needed. `report` gets the steps of recovery.

        Records found after a crash may be in the page cache only: flush before serving them.
        """
        try:
            opened = open_directory(directory, clean, config.index_interval_bytes, now_ms, report)
            return cls(directory, config, opened, report)
        except OSError as error:
            raise StorageFailed(f"{directory} cannot be opened: {error}") from error

    @property
    def last_stable_offset(self) -> int:
        """All transactions below it are decided, and readers can see how."""
        stable = self._producers.last_stable_offset(self.high_watermark)
        return max(stable, self.log_start_offset)

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    # appending

    def append(
        self,
        batches: memoryview,
        *,
        now_ms: int,
        source: Source = Source.CLIENT,
        inspected: bool = False,
    ) -> Appended:
        """Checks batches, assigns their offsets in the given (writable) bytes, and writes them.

        Raises RecordsRejected for errors of the producer, StorageFailed for errors of the disk, and
        NeedsTime for a batch that must be `inspect`ed first. Nothing is in the log then.
        """
        parts = split(batches, source)
        for header, batch in parts:
            check(header, batch, self.config, now_ms, source, inspected)
        stamps = self.config.message_timestamp_type == "LogAppendTime"
        append_time = now_ms if stamps else NO_APPEND_TIME
        self._ensure_repaired()
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

    def inspect(self, batches: memoryview, now_ms: int) -> Work[None]:
        """Checks the records in a client's batch, in slices; raises RecordsRejected."""
        for header, batch in split(batches, Source.CLIENT):
            yield from inspect_in_slices(header, batch, self.config, now_ms)

    def _admit_producers(
        self, parts: list[tuple[BatchHeader, memoryview]], source: Source
    ) -> WrittenBatch | None:
        """The batch that a retry repeats; raises RecordsRejected if the producer may not write."""
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
                if len(self._producers) > MOST_PRODUCERS:
                    self.forget_silent_producers(MOST_PRODUCERS // 10)
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
            self._try_to_repair()
            raise StorageFailed(f"{self._directory} could not be written: {error}") from error
        self._unsynced.wrote(active.path, len(batches))

    def _is_full(self, active: Segment, size: int, last_offset: int, max_timestamp: int) -> bool:
        if last_offset - active.base_offset > MAX_RELATIVE_OFFSET:
            return True
        if active.size == 0 or self._has_many_segments(active.size + size):
            return False
        return active.size + size > self.config.segment_bytes or retention.spans_too_long(
            active, max_timestamp, self.config
        )

    def _has_many_segments(self, size: int) -> bool:
        """Returns True if a segment of this size should grow, because the log has many segments.
        Each is kept in memory, and a topic's settings may allow one per batch."""
        return len(self.segments) >= MANY_SEGMENTS and size <= LARGE_SEGMENT

    def _roll(self, now_ms: int) -> Segment:
        """Starts a new segment. If the disk fails, the old one stays active."""
        interval = self.config.index_interval_bytes
        new = Segment.create(self._directory, self.end_offset, now_ms, interval, self._report)
        full = self.segments.active
        full.seal()
        self._unsynced.wrote(full.path, 0)
        self.segments.add(new)
        self._unsynced.wrote(new.path, 0)
        self._files_changed()
        return new

    def _files_changed(self) -> None:
        self._unsynced.named(self._directory)
        self._changed = True

    # repair: the remains of a failed write or flush are cut off first

    def _ensure_repaired(self) -> None:
        try:
            self._repair()
        except OSError as error:
            raise StorageFailed(f"{self._directory} could not be repaired: {error}") from error

    def _try_to_repair(self) -> None:
        try:
            self._repair()
        except OSError as error:
            self._report(f"Nothing can be appended until the end of the log is repaired: {error}")

    def _repair(self) -> None:
        if self._must_cut:
            self._cut()
            self._must_cut = False
        if self._must_trim:
            self.segments.active.trim()
            self._must_trim = False

    def _cut(self) -> None:
        """Restores files and producers as of the end offset."""
        end = self.end_offset
        while self.segments.active.base_offset > end:
            self.segments.active.delete()
            self.segments.drop_last()
        active = self.segments.active
        active.cut(active.locate(end).position, end)
        active.trim()
        self._producers = producers_at(self._directory, self.segments, end, self._report)
        self._unsynced.wrote(active.path, 0)
        self._files_changed()

    # durability

    def flush_targets(self) -> FlushTicket | None:
        """The sync that makes all appended records durable; None if they are durable."""
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
        """Makes the records of a finished sync visible."""
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
        except OSError as error:  # harmless; waiting requests must get their reply
            self._report(f"Old snapshots of producers are still there: {error}")

    def flush_failed(self, ticket: FlushTicket, error: OSError) -> None:
        """Cuts off records whose sync failed, so that a retry writes them again. They were never
        visible, and their state on disk is unknown.
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
        self._try_to_repair()

    def expose(self) -> None:
        """Makes all appended records visible, durable or not."""
        self.high_watermark = self.end_offset
        self._producers.seen_upto(self.high_watermark)

    def close(self) -> CleanState:
        """Makes everything durable. Returns the state with which the log opens without a scan."""
        if self._changed:
            try:
                self._repair()
                self.segments.active.trim()
                self._unsynced.want_checkpoint()
                ticket = self.flush_targets()
                assert ticket is not None
                # Both are checked when they are read. So a stop of many partitions is fast.
                ticket.sync(durable_checkpoint=False)
                if ticket.checkpoint_error is not None:
                    raise ticket.checkpoint_error
            except OSError as error:
                raise StorageFailed(f"{self._directory} could not be closed: {error}") from error
            self.flushed(ticket)
            self._changed = False
        return self._state()

    def end_writing(self) -> Work[None]:
        """Waits for threads that write files of this deleted topic, and prevents further writes."""
        tenure = self._unsynced.tenure
        tenure.is_over = True
        if tenure.lock.locked():
            yield OnThread(tenure.end)

    def abandon(self) -> None:
        """Closes the files of a deleted topic, which frees their disk space. They are never touched
        again: a new topic of the same name has the same paths."""
        self._unsynced.abandon()
        self._generation += 1  # the result of a running sync does not matter any more
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
        """Whole batches below `limit`, starting with the batch that has `offset`.

        Empty at the end. At most `max_bytes`, except for a single larger batch (`at_least_one`).
        Reading stops before a damaged batch; if it is the first, raises CorruptRecords.
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
        transactions: list[AbortedTransaction] = []
        for segment in self.segments.starting_with(start):
            if not len(segment.aborted_index):
                continue
            try:
                found, is_last = _aborted_in(segment, start, upto)
            except IndexDamaged:
                rebuild_aborted_index(self.segments, segment, self.end_offset)
                found, is_last = _aborted_in(segment, start, upto)
            transactions += found
            if is_last:
                break
        return transactions

    def aborted_in(
        self, start: int, batches: bytes | bytearray | memoryview
    ) -> list[AbortedTransaction]:
        """The aborted transactions with records in `batches`, which begin at `start`."""
        if not any(len(s.aborted_index) for s in self.segments.starting_with(start)):
            return []
        end = start
        for header, _ in iterate_batches(batches):
            end = header.last_offset + 1
        return self.aborted_transactions(start, end)

    def offset_for_time(self, timestamp: int, limit: int) -> Work[tuple[int, int] | None]:
        """Offset and time of the first record below `limit` with at least this timestamp."""
        return time_lookup.first_at(self.segments, timestamp, self.log_start_offset, limit)

    def max_timestamp(self, limit: int) -> Work[tuple[int, int] | None]:
        """Offset and time of the latest record by time, below `limit`."""
        return time_lookup.latest(self.segments, self.log_start_offset, limit)

    # producers

    def producers(self) -> list[ProducerSnapshot]:
        return self._producers.described()

    def producer(self, producer_id: int) -> Producer | None:
        return self._producers.get(producer_id)

    def active_producers(self) -> Iterator[tuple[int, Producer]]:
        """Ids and states of the known producers."""
        return self._producers.items()

    @property
    def producer_count(self) -> int:
        return len(self._producers)

    def forget_silent_producers(self, count: int) -> None:
        """Forgets the producers that have been silent longest, to make room."""
        forgotten = self._producers.forget_silent(count)
        self._changed = self._changed or forgotten > 0
        if forgotten:
            self._report(
                f"Forgot the {forgotten} producers that were silent longest: there are too many"
            )

    def expire_producers(self, now_ms: int, older_than_ms: int) -> int:
        """Forgets producers without a batch for `older_than_ms`. Returns their number."""
        expired = self._producers.expire(now_ms, older_than_ms)
        self._changed = self._changed or expired > 0
        return expired

    # maintenance

    def apply_config(self, config: TopicConfig) -> None:
        self.config = config
        self.segments.active.interval = config.index_interval_bytes

    def delete_records_before(self, offset: int) -> Work[int]:
        """Deletes records before `offset`, durably. Returns the new start offset."""
        if not 0 <= offset <= self.high_watermark:
            raise OffsetOutOfRange(f"Offset {offset} is past the end, {self.high_watermark}")
        if offset > self.log_start_offset:
            try:
                yield OnThread(partial(self._write_start, offset))
                self._changed = True
                self.log_start_offset = max(self.log_start_offset, offset)
                yield from self._drop_before(offset)
            except OSError as error:
                raise StorageFailed(f"{self._directory}: {error}") from error
        return self.log_start_offset

    def _write_start(self, offset: int) -> None:
        """Writes the start offset to its file, unless it is there. Works on any thread."""
        with self._unsynced.tenure.owned(self._directory):
            if offset > self._written_start:
                replace_file(f"{self._directory}/{START_OFFSET}", str(offset).encode())
                self._written_start = offset

    def retain(self, now_ms: int) -> Work[list[str]]:
        """Deletes segments past their retention. Returns messages for the operator."""
        if self.is_abandoned:
            return []
        self._repair()
        active = self.segments.active
        is_old = retention.is_open_too_long(active, now_ms, self.config)
        if is_old and not self._has_many_segments(active.size):
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
            rolls = count == len(self.segments)
            if rolls:
                self._roll(now_ms)
            offset = self.segments[count].base_offset
            if rolls:
                # The new segment's name is then the only record of the end offset.
                yield OnThread(partial(sync_directory, self._directory))
            dropped, size = yield from self._drop_before(offset)
            if dropped:
                done.append(f"Dropped {dropped} segments ({size} bytes): {reason}")
        return done

    def _drop_before(self, offset: int) -> Work[tuple[int, int]]:
        """Deletes the segments that end before `offset`, oldest first, so that a crash leaves no
        gap. Returns their number and size.

        Their producers must be in a snapshot first. Otherwise the segments stay for now. The system
        needs a millisecond for each file, so a thread removes them.
        """
        count = size = 0
        offset = self.segments.with_offset(offset).base_offset
        if not (yield from self._keep_producers(offset)):
            offset = min(offset, self._producers_kept_at)
        while not self.is_abandoned and self.segments.with_offset(offset) != self.segments.first:
            dropped = self.segments.first
            dropped.set_aside()
            self._reader.forget()
            self._files_changed()
            self.segments.drop_first()
            self.log_start_offset = max(self.log_start_offset, self.segments.first.base_offset)
            self.cleaned_offset = max(self.cleaned_offset, self.log_start_offset)
            count, size = count + 1, size + dropped.size
            yield OnThread(partial(self._remove_aside, dropped))
        return count, size

    def _remove_aside(self, dropped: Segment) -> None:
        """Removes the files of a dropped segment. If it cannot, the next start does."""
        try:
            with self._unsynced.tenure.owned(self._directory):
                dropped.remove_aside()
        except OSError as error:
            self._report(f"{dropped.path} is dropped, but its files are still there: {error}")

    def _keep_producers(self, offset: int) -> Work[bool]:
        """Returns True if a snapshot makes the log before `offset` unnecessary for producers."""
        if self._producers_kept_at >= offset or not len(self._producers):
            return True
        if self.high_watermark < self.end_offset:
            return False  # a snapshot is for the end offset, which may still be cut
        end = self.end_offset
        yield OnThread(partial(self._write_producers, end, encode_snapshot(self._producers, end)))
        self._producers_kept_at = max(self._producers_kept_at, end)
        return True

    def _write_producers(self, end: int, snapshot: bytes) -> None:
        with self._unsynced.tenure.owned(self._directory):
            written = snapshot_offsets(listing_of(self._directory))
            if not written or written[-1] < end:  # a sync may have written a later one
                write_snapshot(self._directory, end, snapshot)

    def has_segments(self, bases: list[int], end: int) -> bool:
        """Returns True if exactly these segments are in the log between the first one and `end`."""
        if self.is_abandoned:
            return False
        return bases == [s.base_offset for s in self.segments if bases[0] <= s.base_offset < end]

    def adopt(self, new: SegmentFacts, bases: list[int], end: int, prepared: str) -> bool:
        """Replaces segments by their compacted one.

        The decision is on disk as a `.swap` file, with the indexes in the directory `prepared`.
        Returns False if the replaced segments are gone: then the new one is not needed.
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


def _aborted_in(segment: Segment, start: int, upto: int) -> tuple[list[AbortedTransaction], bool]:
    """The aborted transactions with a marker in this segment and records in [start, upto), and
    whether later segments have none."""
    transactions = []
    for aborted in segment.aborted(start):
        if aborted.first_offset < upto:
            transactions.append(aborted)
        if aborted.last_stable_offset >= upto:
            return transactions, True
    return transactions, False
