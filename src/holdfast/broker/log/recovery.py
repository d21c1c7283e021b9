"""Opens a log: from the state of a clean stop, or after a crash from its bytes.

After a crash, everything up to the checkpoint is on disk. The rest is read batch by batch, with the
CRC of each. Incomplete bytes at the end are a torn tail, which was never acknowledged: they are cut
off. If a good batch follows, they are damage: they are reported and kept, and reading them fails.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.broker.log.directory import (
    CHECKPOINT,
    COMPACTED,
    INDEX_SUFFIXES,
    LOG_SUFFIX,
    Listing,
    lacks_snapshot_copy,
    listing_of,
    read_checkpoint,
    read_snapshot,
    read_start_offset,
    remove_snapshots_after,
    segment_bases,
)
from holdfast.broker.log.files import read_at, remove
from holdfast.broker.log.index import AbortedTransaction
from holdfast.broker.log.leftovers import finish_leftovers
from holdfast.broker.log.producers import Producers
from holdfast.broker.log.replay import (
    newest_snapshot,
    producers_at,
    rebuild_aborted_index,
    replay,
)
from holdfast.broker.log.segment import (
    ROOM_BYTES,
    BatchPosition,
    Segment,
    SegmentFacts,
    empty_facts,
)
from holdfast.broker.log.segments import Segments
from holdfast.broker.log.state import LogState

Report = Callable[[str], None]


@dataclass(slots=True)
class Opened:
    """A log as it is on disk."""

    segments: Segments
    producers: Producers
    log_start_offset: int
    end_offset: int
    cleaned_offset: int
    unsynced: list[Segment] = field(default_factory=list)
    """Segments that recovery has read or changed: their bytes may be in the page cache only."""
    is_new: bool = False
    checkpoint_base: int = 0
    """Where the last segment of the checkpoint begins."""
    needs_snapshot: bool = False
    """A snapshot of producers, or its copy, is missing or damaged."""


def open_directory(
    directory: Path, clean: LogState | None, interval: int, now_ms: int, report: Report
) -> Opened:
    """The log in `directory`, which is created if needed."""
    name = str(directory)
    os.makedirs(name, exist_ok=True)
    listing = listing_of(name)
    if finish_leftovers(name, listing, report):
        listing = listing_of(name)
    if clean is not None:
        opened = _open_clean(name, clean, listing, interval, report)
        if opened is not None:
            return opened
    if not segment_bases(listing):
        return _open_new(name, interval, now_ms, report)
    return _Recovery(name, listing, interval, now_ms, report).run()


def _open_new(directory: str, interval: int, now_ms: int, report: Report) -> Opened:
    start = read_start_offset(directory)
    segment = Segment.create(directory, start, now_ms, interval, report)
    return Opened(Segments([segment]), Producers(), start, start, start, [segment], is_new=True)


def _open_clean(
    directory: str, state: LogState, listing: Listing, interval: int, report: Report
) -> Opened | None:
    """The log after a clean stop; None if the files do not match its state."""
    stated = {f"{facts.base_offset:020d}{LOG_SUFFIX}": facts.size for facts in state.segments}
    actual = {name: size for name, size in listing.items() if name.endswith(LOG_SUFFIX)}
    if not stated or stated != actual:
        report("The files do not match the state of the last stop: recovering as after a crash")
        return None
    dense = COMPACTED not in listing
    last = state.segments[-1]
    segments = Segments(
        [
            Segment(directory, facts, interval, report, is_dense=dense or facts is last)
            for facts in state.segments
        ]
    )
    for segment in segments:
        for index in segment.indexes[:2]:
            if listing.get(os.path.basename(index.path), 0) < index.size:
                segment.rebuild_indexes(f"{index.path} is missing or cut")
                break
    producers: Producers | None = Producers()
    damaged = lacks_snapshot_copy(listing)
    if state.has_producers:
        producers = read_snapshot(directory, state.end_offset)
        if producers is None:
            report("The snapshot of producers is missing or damaged: reading the log for them")
            damaged = True
            producers = producers_at(directory, segments, state.end_offset, report)
    assert producers is not None
    opened = Opened(
        segments,
        producers,
        state.log_start_offset,
        state.end_offset,
        state.cleaned_offset,
        checkpoint_base=state.segments[-1].base_offset,
        needs_snapshot=damaged,
    )
    for segment in segments:
        if (
            listing.get(os.path.basename(segment.aborted_index.path), 0)
            < segment.aborted_index.size
        ):
            rebuild_aborted_index(segments, segment, state.end_offset)
    return opened


class _Recovery:
    """One pass over the files after a crash."""

    def __init__(
        self, directory: str, listing: Listing, interval: int, now_ms: int, report: Report
    ) -> None:
        self._directory = directory
        self._now_ms = now_ms
        self._listing = listing
        self._interval = interval
        self._report = report
        self._checkpoint = read_checkpoint(directory)
        if self._checkpoint is None and CHECKPOINT in listing:
            report("The checkpoint is damaged: reading the whole log")
        self._ends: dict[int, int] = {}
        """The offset after each segment, by base."""
        self._torn: dict[int, BatchPosition] = {}
        """The position of incomplete bytes at the end of a segment, by base."""
        self._needs_aborted: dict[int, int] = {}
        """The offset from which to search for a segment's aborted transactions, by base."""
        self._unsynced: list[Segment] = []
        self._scanned_bytes = 0
        self._needs_snapshot = lacks_snapshot_copy(listing)

    def run(self) -> Opened:
        segments: list[Segment] = []
        bases = segment_bases(self._listing)
        for base in bases:
            segment, self._ends[base] = self._open_segment(base, is_last=base == bases[-1])
            segments.append(segment)
        end = self._cut_tail(segments)
        start = max(read_start_offset(self._directory), segments[0].base_offset)
        if end < start:
            end = self._begin_again(segments, start)
        found = Segments(segments)
        checkpoint = self._checkpoint
        if checkpoint is not None and end < checkpoint.end_offset:
            self._report(
                f"Offsets {end} to {checkpoint.end_offset - 1} had been synced, and are lost"
            )
            remove(f"{self._directory}/{CHECKPOINT}")
        remove_snapshots_after(self._directory, end)
        producers = self._find_producers(found, end)
        for segment in found:
            segment.write_indexes()
        if self._scanned_bytes:
            self._report(
                f"Recovered after an unclean stop: read {self._scanned_bytes} bytes, "
                f"offsets {start} to {end}"
            )
        cleaned = 0 if checkpoint is None else min(checkpoint.cleaned_offset, end)
        return Opened(
            found,
            producers,
            start,
            end,
            cleaned,
            self._unsynced,
            checkpoint_base=0 if checkpoint is None else checkpoint.segments[-1].base_offset,
            needs_snapshot=self._needs_snapshot,
        )

    def _open_segment(self, base: int, is_last: bool) -> tuple[Segment, int]:
        """The segment and the end offset after it."""
        size = self._listing[f"{base:020d}{LOG_SUFFIX}"]
        facts, synced = self._facts_of(base, size)
        dense = is_last or COMPACTED not in self._listing
        segment = Segment(self._directory, facts, self._interval, self._report, is_dense=dense)
        if synced and facts.size == size:
            following = self._known_end(base)
            if following is not None:
                self._check_indexes(segment)
                return segment, following
        start = BatchPosition(facts.size, base)
        if synced and self._checkpoint is not None:
            start = BatchPosition(facts.size, max(base, self._checkpoint.end_offset))
        else:
            for index in segment.indexes:
                index.reset()
        self._needs_aborted[base] = start.offset
        return segment, self._scan(segment, start, size)

    def _facts_of(self, base: int, size: int) -> tuple[SegmentFacts, bool]:
        """The checkpoint's facts of a segment, as far as they match the files."""
        known = self._checkpoint.segments if self._checkpoint is not None else ()
        for facts in known:
            if facts.base_offset != base:
                continue
            is_last = facts is known[-1]
            if size == facts.size or (is_last and size > facts.size and self._has_indexes(facts)):
                return facts, True
            self._report(
                f"Segment {base} has {size} bytes, where the checkpoint says {facts.size}: "
                "reading all of it"
            )
        return empty_facts(base, self._now_ms), False

    def _has_indexes(self, facts: SegmentFacts) -> bool:
        sizes = (facts.index_size, facts.time_index_size, facts.aborted_index_size)
        for suffix, size in zip(INDEX_SUFFIXES, sizes, strict=True):
            name = f"{facts.base_offset:020d}{suffix}"
            if self._listing.get(name, 0) < size:
                self._report(f"{name} is missing or cut: rebuilding it from the log")
                return False
        return True

    def _known_end(self, base: int) -> int | None:
        """The offset after a segment that is completely below the checkpoint."""
        assert self._checkpoint is not None
        bases = [facts.base_offset for facts in self._checkpoint.segments]
        number = bases.index(base) + 1
        return bases[number] if number < len(bases) else self._checkpoint.end_offset

    def _check_indexes(self, segment: Segment) -> None:
        for index in segment.indexes:
            if self._listing.get(os.path.basename(index.path), 0) >= index.size:
                continue
            if index is segment.aborted_index:
                self._report(f"{index.path} is missing or cut: rebuilding it from the log")
                index.reset()
                self._needs_aborted[segment.base_offset] = segment.base_offset
            else:
                segment.rebuild_indexes(f"{index.path} is missing or cut")

    def _scan(self, segment: Segment, start: BatchPosition, size: int) -> int:
        """Reads and indexes a segment from `start` on. Returns the offset after it."""
        self._scanned_bytes += size - start.position
        self._unsynced.append(segment)
        segment.size = size
        end = start.offset
        for found in segment.checked(start):
            if found.header is not None:
                header = found.header
                segment.note(found.position, header.size, header.last_offset, header.max_timestamp)
                end = header.last_offset + 1
            elif found.end == size:
                self._torn[segment.base_offset] = BatchPosition(found.position, end)
            else:
                self._report_damage(segment, found.position, found.end, end)
        return end

    def _report_damage(self, segment: Segment, start: int, end: int, offset: int) -> None:
        self._report(
            f"{segment.path} is damaged: bytes {start} to {end - 1}, from offset {offset} on, "
            f"are damaged. They are kept, and not served"
        )

    def _cut_tail(self, segments: list[Segment]) -> int:
        """Cuts everything after the last good batch. Returns the offset after it.

        A segment that begins after the end of the log follows lost records. One that begins before
        the end is from a roll that failed.
        """
        last = len(segments) - 1
        while last > 0 and not self._has_batches(segments[last]):
            last -= 1
        end = self._ends[segments[last].base_offset]
        while len(segments) - 1 > last and (
            segments[-1].base_offset != end or len(segments) - 2 > last
        ):
            self._report(f"Removed {segments[-1].path}: it is empty")
            self._discard_last(segments)
        starts_of_next = [segment.base_offset for segment in segments[1:]] + [end]
        for segment, start_of_next in zip(segments, starts_of_next, strict=True):
            if segment.base_offset in self._torn:
                self._cut_torn(segment, start_of_next)
        return end

    def _has_batches(self, segment: Segment) -> bool:
        torn = self._torn.get(segment.base_offset)
        return segment.size > 0 if torn is None else torn.position > 0

    def _cut_torn(self, segment: Segment, start_of_next: int) -> None:
        """Cuts incomplete bytes at the end of a segment, unless they are missing offsets."""
        position, offset = self._torn[segment.base_offset]
        if offset < start_of_next:
            self._report_damage(segment, position, segment.size, offset)
            return
        room = _room_at_the_end(segment, segment.size - position)
        self._scanned_bytes -= room
        torn = segment.size - position - room
        if torn:
            self._report(
                f"Cut a torn tail of {torn} bytes off {segment.path}, after offset {offset - 1}"
            )
        segment.size = position
        segment.trim()

    def _begin_again(self, segments: list[Segment], start: int) -> int:
        """Handles a log whose remaining records were all deleted, and whose later ones are lost.

        The log continues in a new segment: in the old one the missing offsets would be damage.
        """
        new = Segment.create(self._directory, start, self._now_ms, self._interval, self._report)
        while segments:
            self._discard_last(segments)
        segments.append(new)
        self._unsynced.append(new)
        return start

    def _discard_last(self, segments: list[Segment]) -> None:
        segment = segments.pop()
        self._torn.pop(segment.base_offset, None)
        self._needs_aborted.pop(segment.base_offset, None)
        if segment in self._unsynced:
            self._unsynced.remove(segment)
        segment.delete()

    def _find_producers(self, segments: Segments, end: int) -> Producers:
        """Restores the producers, and the aborted transactions that no index has."""
        checkpoint = self._checkpoint
        start = segments.first.base_offset
        if checkpoint is not None and not checkpoint.has_producers:
            start = max(start, min(checkpoint.end_offset, end))
        producers, start = newest_snapshot(self._directory, end, start, self._report_snapshot)
        kept_at = checkpoint.end_offset if checkpoint and checkpoint.has_producers else 0
        if start < kept_at <= end:
            self._report_snapshot("The snapshot of producers is missing: reading the log")

        def add(segment: Segment, aborted: AbortedTransaction) -> None:
            needed_from = self._needs_aborted.get(segment.base_offset)
            if needed_from is not None and aborted.last_offset >= needed_from >= start:
                segment.add_aborted(aborted)

        replay(segments, producers, start, end, add)
        for segment in segments:
            if self._needs_aborted.get(segment.base_offset, start) < start:
                rebuild_aborted_index(segments, segment, end)
        return producers

    def _report_snapshot(self, text: str) -> None:
        self._needs_snapshot = True
        self._report(text)


def _room_at_the_end(segment: Segment, size: int) -> int:
    """The number of bytes at the end of the file that were allocated and never written."""
    size = min(size, ROOM_BYTES)
    last = read_at(segment.file, size, segment.size - size)
    return size - len(last.rstrip(b"\0"))
