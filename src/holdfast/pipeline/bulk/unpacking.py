"""Record batches as columns: all records of an answer at once."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holdfast.pipeline.bulk.columns import slices
from holdfast.pipeline.bulk.varints import Numbers, read_varints
from holdfast.wire.protocol.generated.fetch_response import AbortedTransaction
from holdfast.wire.records.batch import (
    HEADER_SIZE,
    LENGTH_OFFSET,
    MAGIC,
    MIN_LENGTH,
    BatchHeader,
    crc_of,
    header_of,
    marker_of,
)
from holdfast.wire.records.compression import UndecodableRecords, decompress

SCHEMA = pa.schema(
    [
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),  # milliseconds
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.binary()),  # as in a record: their number, and they; null: there are none
    ]
)

_MOST_UNFOLDED = 64 * 1024**2
"""When compressed batches have come to so much, the rest of an answer is left for the next one:
repetitive events shrink a thousandfold, and an Arrow column holds two gigabytes."""


@dataclass(frozen=True, slots=True)
class _Section:
    """The records of one batch, between two places of the data."""

    header: BatchHeader
    start: int
    end: int


class Aborted:
    """Which of the batches of a partition, read in order, were aborted."""

    def __init__(self, transactions: Iterable[AbortedTransaction]) -> None:
        self._ahead = sorted(transactions, key=lambda each: each.first_offset, reverse=True)
        self._open: set[int] = set()

    def covers(self, header: BatchHeader) -> bool:
        while self._ahead and self._ahead[-1].first_offset <= header.last_offset:
            self._open.add(self._ahead.pop().producer_id)
        return header.is_transactional and header.producer_id in self._open

    def ends(self, header: BatchHeader, batch: memoryview) -> None:
        """A control batch: what its producer sends from here on belongs to another transaction."""
        marker = marker_of(batch)
        if marker is not None and not marker.commit:
            self._open.discard(header.producer_id)


def unpack(
    data: bytearray, *, start: int, end: int, aborted: Iterable[AbortedTransaction] = ()
) -> tuple[pa.RecordBatch, int]:
    """The visible records from `start` up to, and without, `end`. -> they, and where to read on

    A batch that the data ends in is left for the next answer, and so is what unfolds to too much.
    """
    sections, after = _sections(data, start, end, Aborted(aborted))
    if not sections:
        return _nothing(), after
    if any(section.header.compression for section in sections):
        data, sections, after = _unfolded(data, sections, after)
    rows = _rows(data, sections)
    offsets = rows.column(0).to_numpy()
    low, high = np.searchsorted(offsets, (start, end))
    return rows.slice(int(low), int(high - low)), after


def _nothing() -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], f.type) for f in SCHEMA], schema=SCHEMA)


def _sections(
    data: bytearray, start: int, end: int, aborted: Aborted
) -> tuple[list[_Section], int]:
    """The batches with visible records of the range, and the offset behind the last whole one."""
    view = memoryview(data)
    position, size, after = 0, len(data), start
    found: list[_Section] = []
    while size - position >= HEADER_SIZE:
        header = header_of(data, position)
        if header.batch_length < MIN_LENGTH or header.record_count < 0:
            raise UndecodableRecords(f"What is behind offset {after - 1} is no batch")
        stop = position + LENGTH_OFFSET + header.batch_length
        if stop > size:
            break
        if header.base_offset >= end:
            return found, end
        batch = view[position:stop]
        if header.magic != MAGIC or crc_of(batch) != header.crc:
            raise UndecodableRecords(
                f"The batch at offset {header.base_offset} is damaged: it does not match its CRC"
            )
        hidden = aborted.covers(header)
        if header.is_control:
            aborted.ends(header, batch)
        elif not hidden and header.last_offset >= start and header.record_count:
            found.append(_Section(header, position + HEADER_SIZE, stop))
        after = max(after, header.last_offset + 1)
        position = stop
    return found, min(after, end)


def _unfolded(
    data: bytearray, sections: list[_Section], after: int
) -> tuple[bytearray, list[_Section], int]:
    """The same, where some are compressed: all their records, plain, one behind the other."""
    plain, view = bytearray(), memoryview(data)
    moved: list[_Section] = []
    for section in sections:
        at = len(plain)
        if at >= _MOST_UNFOLDED:
            return plain, moved, section.header.base_offset
        plain += decompress(section.header.compression, view[section.start : section.end])
        moved.append(_Section(section.header, at, len(plain)))
    return plain, moved, after


def _rows(data: bytearray, sections: list[_Section]) -> pa.RecordBatch:
    begins, ends = _bounds(data, sections)
    raw = np.frombuffer(data, np.uint8)
    counts = [section.header.record_count for section in sections]
    try:
        timestamp, at = read_varints(raw, begins + 1)
        offset, at = read_varints(raw, at)
        key_size, key_at = read_varints(raw, at)
        value_size, value_at = read_varints(raw, key_at + np.maximum(key_size, 0))
        headers_at = value_at + np.maximum(value_size, 0)
        headers, after = read_varints(raw, headers_at)
    except IndexError:
        raise UndecodableRecords("A batch ends within a record") from None
    if (
        (key_size < -1).any()
        or (value_size < -1).any()
        or (headers < 0).any()
        or (after > ends).any()
        or (after[headers == 0] != ends[headers == 0]).any()
    ):
        raise UndecodableRecords("A record's length does not fit its fields")
    offset += np.repeat([section.header.base_offset for section in sections], counts)
    if (np.diff(offset) <= 0).any():
        raise UndecodableRecords("Records are not in the order of their offsets")
    timestamp += np.repeat([section.header.base_timestamp for section in sections], counts)
    for section, last in zip(sections, np.cumsum(counts), strict=True):
        if section.header.has_append_time:
            timestamp[last - section.header.record_count : last] = section.header.max_timestamp
    buffer = pa.py_buffer(data)
    headers_size = np.where(headers > 0, ends - headers_at, -1)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(offset),
            pa.array(timestamp),
            slices(buffer, key_at, key_size),
            slices(buffer, value_at, value_size),
            pa.nulls(len(offset), pa.binary())
            if not headers.any()
            else slices(buffer, headers_at, headers_size),
        ],
        schema=SCHEMA,
    )


def _bounds(data: bytearray, sections: list[_Section]) -> tuple[Numbers, Numbers]:
    """Where each record begins, behind its length, and where it ends. The one loop over records:
    each says where the next one is."""
    begins: list[int] = []
    ends: list[int] = []
    begin, end = begins.append, ends.append
    for section in sections:
        position, stop = section.start, section.end
        try:
            for _ in range(section.header.record_count):
                size = data[position]
                position += 1
                if size >= 0x80:
                    more = data[position]
                    position += 1
                    size = size & 0x7F | more << 7
                    if more >= 0x80:
                        size, position = _long(data, position, size & 0x3FFF)
                begin(position)
                position += size >> 1  # a length is positive: its zigzag is twice itself
                end(position)
        except IndexError:
            position = -1
        if position != stop:
            raise UndecodableRecords(
                f"The records of the batch at offset {section.header.base_offset} do not fill it"
            )
    return np.array(begins, np.int64), np.array(ends, np.int64)


def _long(data: bytearray, position: int, value: int) -> tuple[int, int]:
    """The rest of a length of more than two bytes."""
    for shift in (14, 21, 28):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise UndecodableRecords("A record's length does not end")
