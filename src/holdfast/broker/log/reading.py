"""Serving whole batches, each checked on the way out.

The CRC covers neither the base offset nor the length. The length is checked through the CRC, and
the offset by its place: in a log that was never compacted each batch begins where the one before
ended.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple

from crc32c import crc32c

from holdfast.broker.log.errors import CorruptRecords, StorageFailed
from holdfast.broker.log.files import read_at
from holdfast.broker.log.scanning import good_batch_at
from holdfast.broker.log.segment import Place, Segment
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
_REMEMBERED = 32
"""Places where readers stopped: as many sequential readers of one log go on without a search."""


class Prefix(NamedTuple):
    """How much of some bytes can be served."""

    size: int
    next_offset: int
    """The offset after it."""
    damaged: bool = False
    """Whether it ends because the next batch is not what was written."""


def good_prefix(data: bytes, offset: int, limit: int, dense: bool) -> Prefix:
    """The whole, undamaged batches at the start of `data` that end below offset `limit`.

    The first begins at `offset`, and each where the one before ended; or later, unless `dense`.
    """
    view = memoryview(data)
    unpack = _START_OF_HEADER.unpack_from
    position, end = 0, len(data)
    while end - position >= HEADER_SIZE:
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
    """Reads of one log. Sequential readers go on where they left, without a search."""

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
            segment, place = self._find(offset)
            data, prefix = self._read_from(segment, place, max_bytes, limit, at_least_one)
            if prefix.damaged and prefix.size == 0:
                self._report_damage(segment, place.position)
                good = segment.locate_checked(offset)
                if good is not None:
                    place = good
                    data, prefix = self._read_from(segment, place, max_bytes, limit, at_least_one)
        except OSError as error:
            raise StorageFailed(f"Records could not be read: {error}") from error
        if prefix.damaged:
            self._report_damage(segment, place.position + prefix.size)
            if prefix.size == 0:
                raise CorruptRecords(
                    f"The records at offset {offset} are damaged on disk, and not served"
                )
        if prefix.size == 0:
            return b""
        self._remember(prefix.next_offset, segment, place.position + prefix.size)
        if prefix.size == len(data):
            return data
        if 2 * prefix.size < len(data):
            return data[: prefix.size]  # a view would keep all of the bytes alive
        return memoryview(data)[: prefix.size]

    def forget(self) -> None:
        """Segments or positions have changed."""
        self._remembered.clear()

    def _find(self, offset: int) -> tuple[Segment, Place]:
        """Where the first batch is that ends at `offset` or later.

        At the end of the log this is the place where the next batch will be.
        """
        remembered = self._remembered.get(offset)
        if remembered is None:
            segment = self._segments[self._segments.number_of(offset)]
            place = segment.locate(offset)
        else:
            segment, position = remembered
            place = Place(position, offset)
        while place.position >= segment.size and segment is not self._segments.active:
            # Past the end of a closed segment: what follows is in the next that has any.
            segment = self._segments[self._segments.number_of(segment.base_offset) + 1]
            place = Place(0, segment.base_offset)
        return segment, place

    def _remember(self, next_offset: int, segment: Segment, position: int) -> None:
        if len(self._remembered) >= _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        self._remembered[next_offset] = segment, position

    def _read_from(
        self, segment: Segment, place: Place, max_bytes: int, limit: int, at_least_one: bool
    ) -> tuple[bytes, Prefix]:
        file = segment.file
        room = segment.size - place.position
        if room == 0:
            return b"", Prefix(0, place.offset)
        data = read_at(file, min(room, max(max_bytes, HEADER_SIZE)), place.position)
        prefix = good_prefix(data, place.offset, limit, segment.is_dense)
        if prefix.size or prefix.damaged:
            return data, prefix
        if len(data) < HEADER_SIZE:
            return data, Prefix(0, place.offset, damaged=True)
        base, length, *_ = _START_OF_HEADER.unpack_from(data)
        size = LENGTH_OFFSET + length
        if base >= limit or size <= len(data) or not at_least_one:
            return data, prefix
        # One batch larger than was asked for. Its length is only believed once its CRC fits.
        if good_batch_at(file, place.position, segment.size, place.offset) is None:
            return data, Prefix(0, place.offset, damaged=True)
        data = read_at(file, size, place.position)
        return data, good_prefix(data, place.offset, limit, segment.is_dense)

    def _report_damage(self, segment: Segment, position: int) -> None:
        place = segment.base_offset, position
        if place not in self._reported:
            self._reported.add(place)
            self._report(f"{segment.path} is damaged at byte {position}: it is not served")
