"""Reads whole batches and checks each one.

The CRC covers neither base offset nor length. A wrong length makes the CRC fail. The offset is
checked by its position: in a log without compaction each batch begins where the previous one ends.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple

from crc32c import crc32c

from holdfast.broker.log.errors import CorruptRecords, StorageFailed
from holdfast.broker.log.files import read_at
from holdfast.broker.log.scanning import good_batch_at
from holdfast.broker.log.segment import BatchPosition, Segment
from holdfast.broker.log.segments import Segments
from holdfast.wire.records.batch import (
    CRC_START,
    HEADER_SIZE,
    LEADER_EPOCH,
    LENGTH_OFFSET,
    MAGIC,
    MIN_LENGTH,
)

_START_OF_HEADER = struct.Struct(">qiibIhi")
"""Base offset, length, leader epoch, magic, CRC, attributes, last offset delta."""
MOST_BATCHES = 5_000
"""Batches that are checked and returned at once: about five milliseconds, whatever their size."""
_REMEMBERED = 32
"""Positions of readers that are kept: up to this number of sequential readers need no search."""


class Prefix(NamedTuple):
    """The part of some bytes that can be served."""

    size: int
    next_offset: int
    """The offset after it."""
    damaged: bool = False
    """True if it ends at a damaged batch."""


def good_prefix(data: bytes, offset: int, limit: int, dense: bool) -> Prefix:
    """The whole, undamaged batches at the start of `data` that end below offset `limit`, at most
    `MOST_BATCHES`.

    The first begins at `offset`, each other one where the previous one ends. Unless `dense`, it
    may begin later.
    """
    view = memoryview(data)
    unpack = _START_OF_HEADER.unpack_from
    position, end = 0, len(data)
    for _ in range(MOST_BATCHES):
        if end - position < HEADER_SIZE:
            break
        base, length, epoch, magic, crc, _, last_delta = unpack(data, position)
        if base != offset and (dense or base < offset):
            return Prefix(position, offset, damaged=True)
        if magic != MAGIC or epoch != LEADER_EPOCH or length < MIN_LENGTH:
            return Prefix(position, offset, damaged=True)
        following = position + LENGTH_OFFSET + length
        if base >= limit or following > end:
            break
        if crc32c(view[position + CRC_START : following]) != crc:
            return Prefix(position, offset, damaged=True)
        if base + last_delta >= limit:
            break
        offset = base + last_delta + 1
        position = following
    return Prefix(position, offset)


class Reader:
    """Reads one log. Sequential readers continue where they stopped, without a search."""

    def __init__(self, segments: Segments, report: Callable[[str], None]) -> None:
        self._segments = segments
        self._report = report
        self._remembered: dict[int, tuple[Segment, int]] = {}
        self._reported: set[tuple[int, int]] = set()

    def read(
        self, offset: int, max_bytes: int, limit: int, at_least_one: bool
    ) -> bytes | memoryview:
        """See `PartitionLog.read`; the offset is in the log."""
        try:
            segment, start = self._find(offset)
            data, prefix = self._read_from(segment, start, max_bytes, limit, at_least_one)
            if prefix.damaged and prefix.size == 0:
                self._report_damage(segment, start.position)
                good = segment.locate_checked(offset)
                if good is not None:
                    start = good
                    data, prefix = self._read_from(segment, start, max_bytes, limit, at_least_one)
        except OSError as error:
            raise StorageFailed(f"Records could not be read: {error}") from error
        if prefix.damaged:
            self._report_damage(segment, start.position + prefix.size)
            if prefix.size == 0:
                raise CorruptRecords(
                    f"The records at offset {offset} are damaged on disk, and not served"
                )
        if prefix.size == 0:
            return b""
        self._remember(prefix.next_offset, segment, start.position + prefix.size)
        if prefix.size == len(data):
            return data
        if 2 * prefix.size < len(data):
            return data[: prefix.size]  # a view would keep all of the bytes alive
        return memoryview(data)[: prefix.size]

    def forget(self) -> None:
        """Forgets positions, because segments have changed."""
        self._remembered.clear()

    def _find(self, offset: int) -> tuple[Segment, BatchPosition]:
        """The first batch that ends at `offset` or later; at the end of the log, its end."""
        remembered = self._remembered.get(offset)
        if remembered is None:
            segment = self._segments[self._segments.index_of(offset)]
            start = segment.locate(offset)
        else:
            segment, position = remembered
            start = BatchPosition(position, offset)
        while start.position >= segment.size and segment is not self._segments.active:
            # Past the end of a closed segment: continue in the next segment.
            segment = self._segments[self._segments.index_of(segment.base_offset) + 1]
            start = BatchPosition(0, segment.base_offset)
        return segment, start

    def _remember(self, next_offset: int, segment: Segment, position: int) -> None:
        if len(self._remembered) >= _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        self._remembered[next_offset] = segment, position

    def _read_from(
        self, segment: Segment, start: BatchPosition, max_bytes: int, limit: int, at_least_one: bool
    ) -> tuple[bytes, Prefix]:
        file = segment.file
        room = segment.size - start.position
        if room == 0:
            return b"", Prefix(0, start.offset)
        data = read_at(file, min(room, max(max_bytes, HEADER_SIZE)), start.position)
        prefix = good_prefix(data, start.offset, limit, segment.is_dense)
        if prefix.size or prefix.damaged:
            return data, prefix
        if len(data) < HEADER_SIZE:
            return data, Prefix(0, start.offset, damaged=True)
        base, length, *_ = _START_OF_HEADER.unpack_from(data)
        size = LENGTH_OFFSET + length
        if base >= limit or size <= len(data) or not at_least_one:
            return data, prefix
        # One batch above the limit. Its length counts only if its CRC is right.
        if good_batch_at(file, start.position, segment.size, start.offset) is None:
            return data, Prefix(0, start.offset, damaged=True)
        data = read_at(file, size, start.position)
        return data, good_prefix(data, start.offset, limit, segment.is_dense)

    def _report_damage(self, segment: Segment, position: int) -> None:
        damage = segment.base_offset, position
        if damage not in self._reported:
            self._reported.add(damage)
            self._report(f"{segment.path} is damaged at byte {position}: it is not served")
