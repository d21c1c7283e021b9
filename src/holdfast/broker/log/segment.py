"""One segment: a part of the log in a file, with its indexes."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.broker.log.files import (
    File,
    open_files,
    read_at,
    remove,
    rename,
    truncate,
    unlink,
    write_at,
)
from holdfast.broker.log.index import (
    ABORTED_ENTRY,
    OFFSET_ENTRY,
    TIME_ENTRY,
    AbortedTransaction,
    IndexDamaged,
    IndexFile,
)
from holdfast.broker.log.scanning import Scanned, walk_checked, walk_headers
from holdfast.wire.records.batch import HEADER_SIZE, BatchHeader, header_of

MAX_RELATIVE_OFFSET = 2**31 - 1
MOST_UNINDEXED_BYTES = 64 * 1024
"""Upper bound of the distance of index entries, whatever `index.interval.bytes` is: a reader's
search between two entries delays other clients."""
DELETED_SUFFIX = ".deleted"
"""Suffix of a file that is no longer part of the log, and is about to be removed."""
ROOM_BYTES = 64 * 1024
"""How far the active file is extended beyond the log, as a hole, when a small batch needs it. While
the length of the file does not change, a sync need not journal it and takes a quarter less. The
hole is small, because recovery reads it and there may be thousands of holes."""


class SegmentFacts(NamedTuple):
    """All that is needed to use a segment without reading it."""

    base_offset: int
    size: int
    begun_ms: int
    """When its first batch was appended, by this machine's clock."""
    first_timestamp: int
    max_timestamp: int
    max_timestamp_offset: int
    index_size: int
    time_index_size: int
    aborted_index_size: int


def segment_stem(directory: str, base_offset: int) -> str:
    """Path of a segment's files, without their suffix."""
    return f"{directory}/{base_offset:020d}"


def empty_facts(base_offset: int, begun_ms: int, size: int = 0) -> SegmentFacts:
    """A segment of which only base offset and size are known."""
    return SegmentFacts(base_offset, size, begun_ms, -1, -1, -1, 0, 0, 0)


class BatchPosition(NamedTuple):
    """A position in a segment, and the lowest offset of a batch there."""

    position: int
    offset: int


class Segment:
    """Batches at consecutive positions. Only the last segment of a log grows."""

    __slots__ = (
        "aborted_index",
        "base_offset",
        "begun_ms",
        "first_timestamp",
        "interval",
        "is_dense",
        "max_timestamp",
        "max_timestamp_offset",
        "offset_index",
        "path",
        "reach",
        "report",
        "size",
        "time_index",
        "unindexed_bytes",
    )

    def __init__(
        self,
        directory: str,
        facts: SegmentFacts,
        interval: int,
        report: Callable[[str], None],
        is_dense: bool = True,
    ) -> None:
        stem = segment_stem(directory, facts.base_offset)
        self.path = stem + ".log"
        self.base_offset = facts.base_offset
        self.size = self.reach = facts.size
        self.begun_ms = facts.begun_ms
        self.first_timestamp = facts.first_timestamp
        self.max_timestamp = facts.max_timestamp
        self.max_timestamp_offset = facts.max_timestamp_offset
        self.offset_index = IndexFile(stem + ".index", OFFSET_ENTRY, facts.index_size)
        self.time_index = IndexFile(stem + ".timeindex", TIME_ENTRY, facts.time_index_size)
        self.aborted_index = IndexFile(stem + ".txnindex", ABORTED_ENTRY, facts.aborted_index_size)
        self.unindexed_bytes = 0
        self.interval = interval
        self.is_dense = is_dense
        """True until it is compacted: each batch begins where the previous one ends."""
        self.report = report

    @classmethod
    def create(
        cls,
        directory: str,
        base_offset: int,
        begun_ms: int,
        interval: int,
        report: Callable[[str], None],
    ) -> "Segment":
        """A new, empty segment on disk."""
        segment = cls(directory, empty_facts(base_offset, begun_ms), interval, report)
        open_files.create(segment.path)
        return segment

    @property
    def indexes(self) -> tuple[IndexFile, IndexFile, IndexFile]:
        return self.offset_index, self.time_index, self.aborted_index

    @property
    def file(self) -> File:
        return open_files.get(self.path)

    def facts(self) -> SegmentFacts:
        return SegmentFacts(
            self.base_offset,
            self.size,
            self.begun_ms,
            self.first_timestamp,
            self.max_timestamp,
            self.max_timestamp_offset,
            self.offset_index.size,
            self.time_index.size,
            self.aborted_index.size,
        )

    def append(self, file: File, data: memoryview, last_offset: int, max_timestamp: int) -> None:
        """Writes batches that end at `last_offset`. After an OSError none of them is in the log."""
        end = self.size + len(data)
        if end > self.reach and len(data) < ROOM_BYTES:
            truncate(file, end + ROOM_BYTES)
            self.reach = end + ROOM_BYTES
        write_at(file, data, self.size)
        self.note(self.size, len(data), last_offset, max_timestamp)
        self.size = end

    def note(self, position: int, size: int, last_offset: int, max_timestamp: int) -> None:
        """Updates the times for bytes written at `position`, and adds index entries if due."""
        if self.first_timestamp < 0:
            self.first_timestamp = max_timestamp
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        if self.unindexed_bytes > min(self.interval, MOST_UNINDEXED_BYTES):
            self.offset_index.append(last_offset - self.base_offset, position)
            self._index_time()
            self.unindexed_bytes = 0
        self.unindexed_bytes += size

    def add_aborted(self, aborted: AbortedTransaction) -> None:
        self.aborted_index.append(*aborted, aborted.crc)

    def seal(self) -> None:
        """Ends appending: cuts the file where the log ends, and completes the indexes."""
        self.trim()
        self._index_time()
        self.write_indexes()

    def write_indexes(self) -> None:
        """Writes index entries to disk. Entries that cannot be written stay in memory."""
        for index in self.indexes:
            index.write()

    def locate(self, offset: int) -> BatchPosition:
        """The first batch that ends at `offset` or later; the end of the segment if there is none.

        If that batch may be in a damaged part, the position of the damage.
        """
        start = self._indexed_position(offset)
        before: BatchPosition | None = None  # damage right before the current batch
        next_offset = start.offset
        walk = walk_headers(self.file, start.position, self.size, start.offset, self.is_dense)
        for found in walk:
            if found.header is None:
                before = BatchPosition(found.position, next_offset)
                continue
            if found.header.last_offset >= offset:
                if before is not None and found.header.base_offset > offset:
                    return before
                return BatchPosition(found.position, found.header.base_offset)
            next_offset = found.header.last_offset + 1
            before = None
        return BatchPosition(self.size, next_offset) if before is None else before

    def locate_checked(self, offset: int) -> BatchPosition | None:
        """The good batch with `offset`, found by CRCs because damaged headers precede it."""
        for position, header in self.headers(self._indexed_position(offset)):
            if header.last_offset >= offset:
                return (
                    BatchPosition(position, header.base_offset)
                    if header.base_offset <= offset
                    else None
                )
        return None

    def time_floor(self, timestamp: int) -> int:
        """An offset below which all records are earlier than `timestamp`."""
        try:
            entry = self.time_index.floor(timestamp - 1)
            if entry is None:
                return self.base_offset
            offset = self.base_offset + entry[1]
            header = self._header_at(self.locate(offset).position)
            if header.max_timestamp != entry[0] or header.last_offset != offset:
                raise IndexDamaged(f"{self.time_index.path} does not match the log")
        except IndexDamaged as damage:
            self.rebuild_indexes(str(damage))
            return self.base_offset
        return offset

    def aborted(self, start: int = 0) -> Iterator[AbortedTransaction]:
        """The transactions whose abort marker is in this segment, at offset `start` or later, in
        order of the markers; raises IndexDamaged."""
        earlier = self.aborted_index.count_upto(
            start - 1, lambda entry: self._checked(entry).last_offset
        )
        yield from map(self._checked, self.aborted_index.entries(earlier))

    def _checked(self, entry: tuple[int, ...]) -> AbortedTransaction:
        aborted = AbortedTransaction(*entry[:-1])
        if aborted.crc != entry[-1]:
            raise IndexDamaged(f"{self.aborted_index.path} is damaged")
        return aborted

    def headers(self, start: BatchPosition | None = None) -> Iterator[tuple[int, BatchHeader]]:
        """Position and header of each good batch from `start` on."""
        for found in self.checked(start):
            if found.header is not None:
                yield found.position, found.header

    def checked(self, start: BatchPosition | None = None) -> Iterator[Scanned]:
        """Checked batches from `start` on, and the damaged parts between them."""
        start = start or BatchPosition(0, self.base_offset)
        return walk_checked(self.file, start.position, self.size, start.offset, self.is_dense)

    def read_batch(self, position: int, header: BatchHeader) -> bytes:
        return read_at(self.file, header.size, position)

    def rebuild_indexes(self, reason: str) -> None:
        """Rebuilds offset and time index from the log. The index of aborted transactions needs
        earlier segments too: see `replay.rebuild_aborted_index`."""
        self.report(f"Rebuilding the indexes of {self.path}: {reason}")
        self.offset_index.reset()
        self.time_index.reset()
        self.first_timestamp = self.max_timestamp = self.max_timestamp_offset = -1
        self.unindexed_bytes = 0
        for position, header in self.headers():
            self.note(position, header.size, header.last_offset, header.max_timestamp)
        self._index_time()
        self.offset_index.write()
        self.time_index.write()

    def cut(self, position: int, next_offset: int) -> None:
        """Removes everything from `position` on, where `next_offset` would begin.

        `trim` cuts the file itself. It may fail and be called again.
        """
        self.size = position
        relative = next_offset - self.base_offset
        try:
            self.aborted_index.cut(
                sum(1 for aborted in self.aborted() if aborted.last_offset < next_offset)
            )
            self.time_index.cut(sum(1 for _, last in self.time_index.entries() if last < relative))
            self.offset_index.cut(self.offset_index.count_upto(relative - 1))
            self._recount()
        except IndexDamaged as damage:
            self.rebuild_indexes(str(damage))

    def trim(self) -> None:
        """Cuts the file where the log ends."""
        truncate(self.file, self.size)
        self.reach = self.size

    def _recount(self) -> None:
        """Restores times and counts from the indexes and the batches after their last entry."""
        self.unindexed_bytes = 0
        self.max_timestamp = self.max_timestamp_offset = -1
        if len(self.time_index):
            timestamp, relative = self.time_index.at(len(self.time_index) - 1)
            self.max_timestamp = timestamp
            self.max_timestamp_offset = self.base_offset + relative
        start = BatchPosition(0, self.base_offset)
        if len(self.offset_index):
            position = self.offset_index.at(len(self.offset_index) - 1)[1]
            start = BatchPosition(position, self._header_at(position).base_offset)
        else:
            self.first_timestamp = -1
        for position, header in self.headers(start):
            self.note(position, header.size, header.last_offset, header.max_timestamp)

    def forget(self) -> None:
        """Closes all files."""
        open_files.forget(self.path)
        for index in self.indexes:
            open_files.forget(index.path)

    def delete(self) -> None:
        """Removes the files, the log first: recovery removes an index without a log."""
        remove(self.path)
        for index in self.indexes:
            remove(index.path)

    def set_aside(self) -> None:
        """Drops the segment from the log, without its cost: `remove_aside` removes the files. After
        a crash, recovery does."""
        self.forget()
        rename(self.path, self.path + DELETED_SUFFIX)

    def remove_aside(self) -> None:
        """Removes the files of a segment that was set aside. Works on any thread."""
        for path in (self.path + DELETED_SUFFIX, *(index.path for index in self.indexes)):
            unlink(path)

    def _indexed_position(self, offset: int) -> BatchPosition:
        """A batch from which to search for `offset`."""
        start = BatchPosition(0, self.base_offset)
        relative = offset - self.base_offset
        if relative <= 0 or not len(self.offset_index):
            return start
        try:
            entry = self.offset_index.floor(min(relative, MAX_RELATIVE_OFFSET))
            if entry is None:
                return start
            header = self._header_at(entry[1])
            if header.last_offset != self.base_offset + entry[0]:
                raise IndexDamaged(f"{self.offset_index.path} does not match the log")
        except IndexDamaged as damage:
            self.rebuild_indexes(str(damage))
            return start
        return BatchPosition(entry[1], header.base_offset)

    def _header_at(self, position: int) -> BatchHeader:
        if not 0 <= position <= self.size - HEADER_SIZE:
            raise IndexDamaged(f"an entry points past the end of {self.path}")
        return header_of(read_at(self.file, HEADER_SIZE, position))

    def _index_time(self) -> None:
        index = self.time_index
        if self.max_timestamp < 0:
            return
        if len(index) and index.at(len(index) - 1)[0] >= self.max_timestamp:
            return
        index.append(self.max_timestamp, self.max_timestamp_offset - self.base_offset)
