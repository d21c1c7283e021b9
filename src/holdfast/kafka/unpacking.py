"""Record batches as columns: all records of an answer at once."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holdfast.kafka.columns import slices
from holdfast.kafka.varints import Bytes, Numbers, read_varints
from holdfast.wire.protocol.generated.fetch_response import AbortedTransaction
from holdfast.wire.records.batch import (
    CRC_START,
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

BY_BROKER = pa.field("by_broker", pa.bool_())
"""True if the timestamp is the broker's: a column that is there only if it is asked for."""

_MOST_UNFOLDED = 64 * 1024**2
"""Maximum decompressed bytes per response; further batches are fetched again. Repetitive events
shrink a thousandfold, and an Arrow column holds two gigabytes."""


@dataclass(frozen=True, slots=True)
class _Section:
    """The records of one batch, between two positions in the data."""

    header: BatchHeader
    start: int
    end: int


class UnreadableBatch(UndecodableRecords):
    """A batch that cannot be read, with nothing readable before it."""

    def __init__(self, why: str, start: int, end: int | None) -> None:
        super().__init__(why)
        self.start = start
        """The first offset of the batch that was requested."""
        self.end = end
        """The offset behind the batch; None if its header cannot be trusted."""


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
    data: bytearray,
    *,
    start: int,
    end: int,
    aborted: Iterable[AbortedTransaction] = (),
    by_broker: bool = False,
) -> tuple[pa.RecordBatch, int]:
    """Returns the visible records from `start` up to, and without, `end`, and where to read on.
    `by_broker`: with the column of that name.

    An incomplete last batch is left for the next reply, and so are batches that decompress to too
    much. An unreadable batch ends the records too. UnreadableBatch is raised if it is the first.
    """
    sections, after, bad = _sections(data, start, end, Aborted(aborted))
    try:
        rows, after = _unpacked(data, sections, after, by_broker)
    except UndecodableRecords:
        sections, bad = _readable(data, sections)
        rows, after = _unpacked(data, sections, max(start, bad.start), by_broker)
    if bad is not None and after <= max(start, bad.start) and not rows.num_rows:
        bad.start = max(start, bad.start)
        raise bad
    offsets = rows.column(0).to_numpy()
    low, high = np.searchsorted(offsets, (start, end))
    return rows.slice(int(low), int(high - low)), after


def _unpacked(
    data: bytearray, sections: list[_Section], after: int, by_broker: bool = False
) -> tuple[pa.RecordBatch, int]:
    if any(section.header.compression for section in sections):
        data, sections, after = _unfolded(data, sections, after)
    rows = _rows(data, sections) if sections else _nothing()
    if by_broker:
        rows = rows.append_column(BY_BROKER, _by_broker(sections))
    return rows, after


def _by_broker(sections: list[_Section]) -> pa.Array:
    counts = [section.header.record_count for section in sections]
    return pa.array(np.repeat([s.header.has_append_time for s in sections], counts), pa.bool_())


def _readable(data: bytearray, sections: list[_Section]) -> tuple[list[_Section], UnreadableBatch]:
    """The batches before the first one that cannot be read, and that one."""
    for index, section in enumerate(sections):
        try:
            _unpacked(data, [section], 0)
        except UndecodableRecords as error:
            header = section.header
            return sections[:index], UnreadableBatch(
                str(error), header.base_offset, header.last_offset + 1
            )
    raise AssertionError("batches that can be read one by one can be read together")


def _nothing() -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], f.type) for f in SCHEMA], schema=SCHEMA)


def _sections(
    data: bytearray, start: int, end: int, aborted: Aborted
) -> tuple[list[_Section], int, UnreadableBatch | None]:
    """The batches with visible records of the range, the offset behind the last whole one, and the
    batch that cannot be read, if that is why they end."""
    view = memoryview(data)
    position, size, after, behind = 0, len(data), start, -1
    found: list[_Section] = []
    while size - position >= HEADER_SIZE:
        header = header_of(data, position)
        stop = position + LENGTH_OFFSET + header.batch_length
        if header.batch_length >= MIN_LENGTH and stop > size:
            break
        if behind <= header.base_offset and header.base_offset >= end:
            return found, end, None
        batch = view[position:stop]
        why = _flaw(header, batch, behind)
        hidden = not why and aborted.covers(header)
        if not why and header.is_control:
            try:
                aborted.ends(header, batch)
            except UndecodableRecords as error:
                why = str(error)
        if why:
            # The header of a batch is trusted if its CRC is right.
            sound = header.magic == MAGIC and len(batch) > CRC_START and crc_of(batch) == header.crc
            return (
                found,
                after,
                UnreadableBatch(why, after, header.last_offset + 1 if sound else None),
            )
        visible = not (hidden or header.is_control) and header.last_offset >= start
        if visible and header.record_count:
            found.append(_Section(header, position + HEADER_SIZE, stop))
        behind = header.last_offset + 1
        after = max(after, behind)
        position = stop
    return found, min(after, end), None


def _flaw(header: BatchHeader, batch: memoryview, behind: int) -> str:
    """The fault of a batch that its header or its CRC shows; empty if there is none."""
    if header.batch_length < MIN_LENGTH:
        return "The data is not a record batch"
    if header.magic != MAGIC:
        return f"The batch has the unknown format {header.magic} (magic byte)"
    if crc_of(batch) != header.crc:
        return "The batch is damaged: it does not match its CRC"
    if header.record_count < 0 or header.last_offset_delta < 0 or header.base_offset < behind:
        return "The counts or offsets in the batch's header are impossible"
    if not header.record_count and len(batch) > HEADER_SIZE:
        return "The batch has bytes behind its last record"
    return ""


def _unfolded(
    data: bytearray, sections: list[_Section], after: int
) -> tuple[bytearray, list[_Section], int]:
    """The data and its sections with all records uncompressed."""
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
        value_size, value_at = read_varints(raw, key_at + _length(key_size, len(raw)))
        headers_at = value_at + _length(value_size, len(raw))
        headers, after = read_varints(raw, headers_at)
        _check_headers(raw, headers, after, ends)
    except IndexError:
        raise UndecodableRecords("A batch ends within a record") from None
    offset += np.repeat([section.header.base_offset for section in sections], counts)
    _check_offsets(offset, sections, counts)
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


def _length(sizes: Numbers, most: int) -> Numbers:
    """How many bytes fields of these sizes take: none, where there is no field."""
    if (sizes < -1).any() or (sizes > most).any():
        raise UndecodableRecords("A record's length does not fit its fields")
    return np.maximum(sizes, 0)


def _check_headers(raw: Bytes, counts: Numbers, at: Numbers, ends: Numbers) -> None:
    """Headers go on unread, but never broken: each is followed to the end of its record. `at` is
    where the first one is."""
    while True:
        last = counts == 0
        if (counts < 0).any() or (at > ends).any() or (at[last] != ends[last]).any():
            raise UndecodableRecords("A record's length does not fit its fields")
        if last.all():
            return
        if last.any():
            counts, at, ends = counts[~last], at[~last], ends[~last]
        name, at = read_varints(raw, at)
        if (name < 0).any():
            raise UndecodableRecords("A header has no name")
        value, at = read_varints(raw, at + _length(name, len(raw)))
        at = at + _length(np.maximum(value, -1), len(raw))
        counts = counts - 1


def _check_offsets(offsets: Numbers, sections: list[_Section], counts: list[int]) -> None:
    ends = np.cumsum(counts)
    first = np.array([section.header.base_offset for section in sections])
    last = np.array([section.header.last_offset for section in sections])
    if (
        (np.diff(offsets) <= 0).any()
        or (offsets[ends - counts] < first).any()
        or (offsets[ends - 1] > last).any()
    ):
        raise UndecodableRecords("Records are not in the order of their offsets")


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
