"""Offsets by time.

A batch may have a million records, and a segment millions of batches: after DeleteRecords its
latest record may be gone, so that the whole segment is searched in vain. So the search runs in
slices, and continues by offset: the log may change between them.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from holdfast.broker.log.segment import Segment
from holdfast.broker.log.segments import Segments
from holdfast.broker.work import Work
from holdfast.wire.records.batch import HEADER_SIZE, BatchHeader
from holdfast.wire.records.compression import DecompressedTooLarge, UndecodableRecords, decompress
from holdfast.wire.records.record import outlines

_SLICE_RECORDS = 1_000
_SLICE_BATCHES = 1_000
_SLICE_BYTES = 8 * 1024 * 1024
"""Each batch is checked with its CRC. Both take about five milliseconds."""
_AT_ONCE_BYTES = 256 * 1024
"""Maximum size of a batch that is decompressed on the loop. Larger ones need a thread."""


class _Batch(NamedTuple):
    header: BatchHeader
    data: bytes


def first_at(
    segments: Segments, timestamp: int, start: int, limit: int
) -> Work[tuple[int, int] | None]:
    """Offset and time of the first record in [start, limit) with at least this timestamp."""
    while (batch := (yield from _batch_at(segments, timestamp, start, limit))) is not None:
        for index, (offset, time) in enumerate((yield from _times(batch))):
            if time >= timestamp and start <= offset < limit:
                return offset, time
            if index % _SLICE_RECORDS == 0:
                yield None
        # The batch has no such record. The log may have changed meanwhile: search again from here.
        start = max(start, batch.header.last_offset + 1)
        yield None
    return None


def _batch_at(segments: Segments, timestamp: int, start: int, limit: int) -> Work[_Batch | None]:
    """The first batch from `start` on whose header has at least this timestamp."""
    while start < limit:
        segment = segments.with_offset(start)
        if segment.max_timestamp < timestamp:
            step = _Step([], segments.next_base(segment))
        else:
            start = max(start, segment.time_floor(timestamp))
            step = _step(segments, segment, start, limit, until=timestamp)
        for position, header in step.headers[-1:]:
            if header.max_timestamp >= timestamp and not header.is_control:
                return _Batch(header, segment.read_batch(position, header))
        if step.next_offset is None:
            return None
        start = step.next_offset
        yield None
    return None


def latest(segments: Segments, start: int, limit: int) -> Work[tuple[int, int] | None]:
    """Offset and time of the first record with the largest time in [start, limit)."""
    batch = yield from _latest_batch(segments, start, limit)
    if batch is None:
        return None
    best: tuple[int, int] | None = None
    for index, (offset, time) in enumerate((yield from _times(batch))):
        if best is None or time > best[1]:
            best = offset, time
        if index % _SLICE_RECORDS == 0:
            yield None
    return best


def _latest_batch(segments: Segments, start: int, limit: int) -> Work[_Batch | None]:
    """The first batch with the largest timestamp."""
    best: _Batch | None = None
    while start < limit:
        segment = segments.with_offset(start)
        largest = -1 if best is None else best.header.max_timestamp
        if best is not None and segment.max_timestamp <= largest:
            step = _Step([], segments.next_base(segment))
        else:
            if start <= segment.max_timestamp_offset < limit:
                start = segment.max_timestamp_offset
            step = _step(segments, segment, start, limit, until=segment.max_timestamp)
        whole = [found for found in step.headers if found[1].last_offset < limit]
        if whole:
            position, header = max(whole, key=lambda found: found[1].max_timestamp)
            if best is None or header.max_timestamp > largest:
                # Read now: the segment may be gone after the next pause.
                best = _Batch(header, segment.read_batch(position, header))
        if step.next_offset is None:
            break
        start = step.next_offset
        yield None
    return best


class _Step(NamedTuple):
    """Some batches of one segment."""

    headers: list[tuple[int, BatchHeader]]
    next_offset: int | None
    """Where to continue; None at the end of the log or at the limit."""


def _step(segments: Segments, segment: Segment, start: int, limit: int, until: int) -> _Step:
    """Good batches from `start` on that begin below `limit`, through the first with at least the
    timestamp `until`: at most `_SLICE_BATCHES`, and few more than `_SLICE_BYTES`."""
    headers: list[tuple[int, BatchHeader]] = []
    begin = segment.locate(start)
    for position, header in segment.headers(begin):
        if header.base_offset >= limit:
            return _Step(headers, None)
        headers.append((position, header))
        if (
            header.max_timestamp >= until
            or len(headers) == _SLICE_BATCHES
            or position - begin.position > _SLICE_BYTES
        ):
            return _Step(headers, header.last_offset + 1)
    return _Step(headers, segments.next_base(segment))


def _times(batch: _Batch) -> Work[Iterator[tuple[int, int]]]:
    """Offset and time of each record of a batch."""
    header = batch.header
    packed = memoryview(batch.data)[HEADER_SIZE : header.size]
    try:
        try:
            data = decompress(header.compression, packed, _AT_ONCE_BYTES)
        except DecompressedTooLarge:
            data = yield partial(decompress, header.compression, packed)
        return _of_records(header, data)
    except UndecodableRecords:
        return iter([(header.base_offset, header.max_timestamp)])


def _of_records(header: BatchHeader, data: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """Offset and time of each readable record; those of the batch where it is unreadable."""
    try:
        for outline in outlines(data, header.record_count):
            timestamp = header.base_timestamp + outline.timestamp_delta
            if header.has_append_time:
                timestamp = header.max_timestamp
            yield header.base_offset + outline.offset_delta, timestamp
    except UndecodableRecords:
        yield header.base_offset, header.max_timestamp
