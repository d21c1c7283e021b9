"""Serving whole batches, each checked against its CRC on the way out."""

import struct
from typing import NamedTuple

from crc32c import crc32c

from holdfast.broker.log.segment import Segment
from holdfast.broker.log.segments import Segments
from holdfast.broker.records.batch import (
    CRC_START,
    HEADER_SIZE,
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
    """The offset after the last batch in it."""
    damaged: bool
    """Whether it ends because the next batch is not what was written."""


def good_prefix(data: bytes, limit: int) -> Prefix:
    """The whole, undamaged batches at the start of `data` that end below offset `limit`."""
    view = memoryview(data)
    unpack = _START_OF_HEADER.unpack_from
    position, end, next_offset = 0, len(data), -1
    while end - position >= HEADER_SIZE:
        base, length, _, magic, crc, _, last_delta = unpack(data, position)
        following = position + LENGTH_OFFSET + length
        if magic != MAGIC or length < MIN_LENGTH or last_delta < 0:
            return Prefix(position, next_offset, damaged=True)
        if base + last_delta >= limit or following > end:
            break
        if crc32c(view[position + CRC_START : following]) != crc:
            return Prefix(position, next_offset, damaged=True)
        next_offset = base + last_delta + 1
        position = following
    return Prefix(position, next_offset, damaged=False)


def size_of_first(data: bytes) -> int:
    """Bytes of the batch that begins here, as its header says."""
    return LENGTH_OFFSET + int(_START_OF_HEADER.unpack_from(data)[1])


class Places:
    """Where an offset is found. Sequential readers come back to where they left."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._remembered: dict[int, tuple[Segment, int]] = {}

    def find(self, offset: int) -> tuple[Segment, int]:
        """Segment and position of the first batch that ends at `offset` or later.

        At the end of the log this is the place where the next batch will be.
        """
        place = self._remembered.get(offset)
        if place is None:
            segment = self._segments[self._segments.number_of(offset)]
            place = segment, segment.locate(offset)
        segment, position = place
        while position >= segment.size and segment is not self._segments.active:
            # Past the end of a closed segment: what follows is in the next that has any.
            number = self._segments.number_of(segment.base_offset) + 1
            segment = self._segments[number]
            position = 0
        return segment, position

    def remember(self, next_offset: int, segment: Segment, position: int) -> None:
        """A reader has had everything before this place."""
        if len(self._remembered) >= _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        self._remembered[next_offset] = segment, position

    def forget(self) -> None:
        """Segments or positions have changed."""
        self._remembered.clear()
