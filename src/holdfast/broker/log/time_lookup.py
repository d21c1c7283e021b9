"""Offsets by time."""

from holdfast.broker.log.segment import Segment
from holdfast.broker.log.segments import Segments
from holdfast.wire.records.batch import BatchHeader, records_of
from holdfast.wire.records.compression import UndecodableRecords


def first_at(segments: Segments, timestamp: int, start: int, limit: int) -> tuple[int, int] | None:
    """Offset and time of the first record in [start, limit) that is as late as `timestamp`."""
    for segment in segments.starting_with(start):
        if segment.base_offset >= limit:
            return None
        if segment.max_timestamp < timestamp:
            continue
        begin = max(start, segment.time_floor(timestamp))
        for position, header in segment.headers(segment.locate(begin)):
            if header.base_offset >= limit:
                return None
            if header.max_timestamp < timestamp or header.is_control:
                continue
            for offset, found in _times(segment, position, header):
                if found >= timestamp and start <= offset < limit:
                    return offset, found
    return None


def latest(segments: Segments, start: int, limit: int) -> tuple[int, int] | None:
    """Offset and time of the first record with the largest time in [start, limit)."""
    best: tuple[int, Segment, int, BatchHeader] | None = None
    for segment in segments.starting_with(start):
        if segment.base_offset >= limit:
            break
        if best is not None and segment.max_timestamp <= best[0]:
            continue
        begin = start
        if start <= segment.max_timestamp_offset < limit:
            begin = segment.max_timestamp_offset
        for position, header in segment.headers(segment.locate(begin)):
            if header.last_offset >= limit:
                break
            if best is None or header.max_timestamp > best[0]:
                best = header.max_timestamp, segment, position, header
            if best[0] == segment.max_timestamp:
                break
    if best is None:
        return None
    return max(_times(*best[1:]), key=lambda found: (found[1], -found[0]), default=None)


def _times(segment: Segment, position: int, header: BatchHeader) -> list[tuple[int, int]]:
    """Offset and time of each record of a batch; of the batch, if its inside cannot be read."""
    try:
        batch = segment.read_batch(position, header)
        return [(record.offset, record.timestamp) for record in records_of(batch)]
    except UndecodableRecords:
        return [(header.base_offset, header.max_timestamp)]
