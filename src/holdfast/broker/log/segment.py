"""One segment: a stretch of the log in a file, with the indexes beside it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.broker.log.files import File, open_files, read_at, remove, truncate, write_at
from holdfast.broker.log.index import (
    ABORTED_ENTRY,
    OFFSET_ENTRY,
    TIME_ENTRY,
    AbortedTransaction,
    IndexDamaged,
    IndexFile,
)
from holdfast.broker.log.scanning import Found, walk_checked, walk_headers
from holdfast.wire.records.batch import HEADER_SIZE, BatchHeader, header_of

MAX_RELATIVE_OFFSET = 2**31 - 1
ROOM_BYTES = 64 * 1024
"""How far the active file is made to reach beyond the log, as a hole, when a small batch needs it.
While its length stays as it is, a sync need not journal it, which takes a quarter off a small one.
Recovery reads the hole, and there may be thousands of them: so no more than for a few hundred."""


class SegmentFacts(NamedTuple):
    """What has to be known of a segment to use it without reading it."""

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
    """Path of a segment's files, without what follows the dot."""
    return f"{directory}/{base_offset:020d}"


def empty_facts(base_offset: int, begun_ms: int, size: int = 0) -> SegmentFacts:
    """A segment of which nothing but its place is known."""
    return SegmentFacts(base_offset, size, begun_ms, -1, -1, -1, 0, 0, 0)


class Place(NamedTuple):
    """A position in a segment, and the offset at which a batch there begins at the earliest."""

    position: int
    offset: int


class Segment:
    """Batches at consecutive positions; appended to while it is the last, then only read."""

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
        """Whether each batch begins where the one before ended: so until it is compacted."""
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
        """Write batches that end at `last_offset`. After an OSError nothing of them counts."""
        end = self.size + len(data)
        if end > self.reach and len(data) < ROOM_BYTES:
            truncate(file, end + ROOM_BYTES)
            self.reach = end + ROOM_BYTES
        write_at(file, data, self.size)
        self.note(self.size, len(data), last_offset, max_timestamp)
        self.size = end

    def note(self, position: int, size: int, last_offset: int, max_timestamp: int) -> None:
        """Take what was written at `position` into account, and index it when one is due."""
        if self.first_timestamp < 0:
            self.first_timestamp = max_timestamp
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        if self.unindexed_bytes > self.interval:
            self.offset_index.append(last_offset - self.base_offset, position)
            self._index_time()
            self.unindexed_bytes = 0
        self.unindexed_bytes += size

    def add_aborted(self, aborted: AbortedTransaction) -> None:
        self.aborted_index.append(*aborted, aborted.crc)

    def seal(self) -> None:
        """Nothing more will be appended: end the file where the log ends, complete the indexes."""
        self.trim()
        self._index_time()
        self.write_indexes()

    def write_indexes(self) -> None:
        """Put index entries on disk; those that the disk refuses stay known in memory."""
        for index in self.indexes:
            index.write()

    def locate(self, offset: int) -> Place:
        """Where the first batch is that ends at `offset` or later: at the end, if there is none.

        If damage may have taken that batch, the place of the damage.
        """
        start = self._indexed_place(offset)
        before: Place | None = None  # damage right before the batch that is looked at
        next_offset = start.offset
        walk = walk_headers(self.file, start.position, self.size, start.offset, self.is_dense)
        for found in walk:
            if found.header is None:
                before = Place(found.position, next_offset)
                continue
            if found.header.last_offset >= offset:
                if before is not None and found.header.base_offset > offset:
                    return before
                return Place(found.position, found.header.base_offset)
            next_offset = found.header.last_offset + 1
            before = None
        return Place(self.size, next_offset) if before is None else before

    def locate_checked(self, offset: int) -> Place | None:
        """The good batch that holds `offset`, where damaged headers before it have misled."""
        for position, header in self.headers(self._indexed_place(offset)):
            if header.last_offset >= offset:
                return Place(position, header.base_offset) if header.base_offset <= offset else None
        return None

    def time_floor(self, timestamp: int) -> int:
        """An offset before which no record is as late as `timestamp`."""
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

    def aborted(self) -> list[AbortedTransaction]:
        """The transactions whose abort marker is in this segment, in order of the markers."""
        found = []
        for *fields, crc in self.aborted_index.entries():
            aborted = AbortedTransaction(*fields)
            if aborted.crc != crc:
                raise IndexDamaged(f"{self.aborted_index.path} is damaged")
            found.append(aborted)
        return found

    def headers(self, start: Place | None = None) -> Iterator[tuple[int, BatchHeader]]:
        """Position and header of each good batch from `start` on."""
        for found in self.checked(start):
            if found.header is not None:
                yield found.position, found.header

    def checked(self, start: Place | None = None) -> Iterator[Found]:
        """Batches from `start` on, each checked, and what is damaged between them."""
        start = start or Place(0, self.base_offset)
        return walk_checked(self.file, start.position, self.size, start.offset, self.is_dense)

    def read_batch(self, position: int, header: BatchHeader) -> bytes:
        return read_at(self.file, header.size, position)

    def rebuild_indexes(self, reason: str) -> None:
        """Make offset and time index anew from the log. The aborted transactions need more than
        this segment to be known, and have their own way."""
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
        """Forget what lies from `position` (where `next_offset` would begin) on.

        The file itself is cut by `trim`, which may fail and be tried again.
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
        """Cut from the file what is not part of the log."""
        truncate(self.file, self.size)
        self.reach = self.size

    def _recount(self) -> None:
        """Know again, from the indexes and what follows them, what appending kept count of."""
        self.unindexed_bytes = 0
        self.max_timestamp = self.max_timestamp_offset = -1
        if len(self.time_index):
            timestamp, relative = self.time_index.at(len(self.time_index) - 1)
            self.max_timestamp = timestamp
            self.max_timestamp_offset = self.base_offset + relative
        start = Place(0, self.base_offset)
        if len(self.offset_index):
            position = self.offset_index.at(len(self.offset_index) - 1)[1]
            start = Place(position, self._header_at(position).base_offset)
        else:
            self.first_timestamp = -1
        for position, header in self.headers(start):
            self.note(position, header.size, header.last_offset, header.max_timestamp)

    def forget(self) -> None:
        """Hold none of the files open."""
        open_files.forget(self.path)
        for index in self.indexes:
            open_files.forget(index.path)

    def delete(self) -> None:
        """Remove the files, the log itself first: an index alone is known to be a leftover."""
        remove(self.path)
        for index in self.indexes:
            remove(index.path)

    def _indexed_place(self, offset: int) -> Place:
        """A batch to start looking for `offset` from."""
        start = Place(0, self.base_offset)
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
        return Place(entry[1], header.base_offset)

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
