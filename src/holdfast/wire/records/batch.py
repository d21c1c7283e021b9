"""Record batches, version 2: header, walking, building.

Batches are mostly opaque: the broker reads only their 61-byte headers.
"""

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crc32c import crc32c

from holdfast.wire.records.compression import Compression, compress
from holdfast.wire.records.record import Record, decode_records, encode_record

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE = HEADER.size
LENGTH_OFFSET = 12
"""The length does not include the base offset and the length field itself."""
MIN_LENGTH = HEADER_SIZE - LENGTH_OFFSET
CRC_START = 21
"""The CRC covers the bytes after it, so base offset and leader epoch can be rewritten freely."""
MAGIC = 2
LEADER_EPOCH = 0
"""There is one broker, which is always the leader."""

COMPRESSION_BITS = 0x07
LOG_APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40
"""The base timestamp is the time from which compaction may drop tombstones and markers."""

NO_TIMESTAMP = -1
NO_PRODUCER = -1
NO_SEQUENCE = -1
SEQUENCE_MODULUS = 2**31

_OFFSET_AND_EPOCH = struct.Struct(">qii")
_CRC = struct.Struct(">I")
_CRC_POSITION = 17
_ATTRIBUTES = struct.Struct(">h")
_ATTRIBUTES_POSITION = 21
_MAX_TIMESTAMP = struct.Struct(">q")
_MAX_TIMESTAMP_POSITION = 35
_PRODUCER = struct.Struct(">qh")
_PRODUCER_POSITION = 43
_SEQUENCE = struct.Struct(">i")
_SEQUENCE_POSITION = 53
_MARKER_KEY = struct.Struct(">hh")
_MARKER_VALUE = struct.Struct(">hi")


class MalformedBatch(ValueError):
    """The bytes are not a complete batch of version 2."""


class BatchHeader(NamedTuple):
    """The fields of a batch before its records."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return LENGTH_OFFSET + self.batch_length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) % SEQUENCE_MODULUS

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def has_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME_BIT)

    @property
    def delete_horizon(self) -> int | None:
        """When compaction may drop this batch's tombstones or marker; None until it is set."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None

    @property
    def compression(self) -> int:
        return self.attributes & COMPRESSION_BITS


class Marker(NamedTuple):
    """The end of a transaction, from its control record."""

    commit: bool
    coordinator_epoch: int

    def __bool__(self) -> bool:
        return self.commit


def header_of(buffer: bytes | bytearray | memoryview, position: int = 0) -> BatchHeader:
    """The header at `position`, unchecked. The buffer must have 61 bytes there."""
    return BatchHeader._make(HEADER.unpack_from(buffer, position))


def peek_compression(batches: memoryview) -> int:
    """The compression codec of a batch; 0 (none) if the bytes are not a batch."""
    if len(batches) < HEADER_SIZE:
        return Compression.NONE
    return batches[_ATTRIBUTES_POSITION + 1] & COMPRESSION_BITS


def peek_transaction(batches: memoryview) -> tuple[int, int] | None:
    """Producer id and epoch of a transactional batch; None for all other bytes."""
    if len(batches) < HEADER_SIZE or not batches[_ATTRIBUTES_POSITION + 1] & TRANSACTIONAL_BIT:
        return None
    producer: tuple[int, int] = _PRODUCER.unpack_from(batches, _PRODUCER_POSITION)
    return producer


def peek_sequence(batch: memoryview) -> int:
    """The first sequence number of a batch, which must have a whole header."""
    sequence: int = _SEQUENCE.unpack_from(batch, _SEQUENCE_POSITION)[0]
    return sequence


def crc_of(batch: bytes | bytearray | memoryview) -> int:
    """The CRC-32C that the header of this batch should have."""
    return int(crc32c(memoryview(batch)[CRC_START:]))


def iterate_batches(
    buffer: bytes | bytearray | memoryview,
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Header and bytes of each batch; CRCs are not checked. Raises MalformedBatch at a bad one."""
    view = memoryview(buffer)
    position, end = 0, len(view)
    while position < end:
        if end - position < HEADER_SIZE:
            raise MalformedBatch(f"{end - position} bytes are too few for a batch")
        header = header_of(view, position)
        if header.magic != MAGIC:
            raise MalformedBatch(f"Magic {header.magic} is not version 2")
        if header.batch_length < MIN_LENGTH or header.size > end - position:
            raise MalformedBatch(f"Batch length {header.batch_length} does not fit")
        yield header, view[position : position + header.size]
        position += header.size


def records_of(batch: bytes | bytearray | memoryview) -> Iterator[Record]:
    """The records of one batch, decompressed. Raises UndecodableRecords if they are invalid."""
    header = header_of(batch)
    return decode_records(
        memoryview(batch)[HEADER_SIZE : header.size],
        count=header.record_count,
        compression=header.compression,
        base_offset=header.base_offset,
        base_timestamp=header.base_timestamp,
        append_time=header.max_timestamp if header.has_append_time else None,
    )


def build_batch(
    records: Iterable[Record | tuple[bytes | None, bytes | None]],
    *,
    base_offset: int = 0,
    timestamp: int,
    producer_id: int = NO_PRODUCER,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    compression: Compression = Compression.NONE,
) -> bytearray:
    """A batch of records at consecutive offsets. A (key, value) pair gets `timestamp`."""
    made = [
        record if isinstance(record, Record) else Record(-1, timestamp, *record, ())
        for record in records
    ]
    attributes = (
        compression | (TRANSACTIONAL_BIT if transactional else 0) | (CONTROL_BIT if control else 0)
    )
    dense = [r._replace(offset=base_offset + delta) for delta, r in enumerate(made)]
    header = BatchHeader(
        base_offset, 0, LEADER_EPOCH, MAGIC, 0, attributes, len(dense) - 1,
        dense[0].timestamp if dense else timestamp,
        max((r.timestamp for r in dense), default=timestamp),
        producer_id, producer_epoch, base_sequence, len(dense),
    )  # fmt: skip
    return assemble(header, dense)


def assemble(header: BatchHeader, records: Iterable[Record]) -> bytearray:
    """A batch with this header and these records; length, count and CRC are computed."""
    payload = bytearray()
    count = 0
    for record in records:
        encode_record(payload, record, header.base_offset, header.base_timestamp)
        count += 1
    codec = Compression(header.compression)
    body = compress(codec, payload) if codec and count else payload
    batch = bytearray(HEADER_SIZE)
    HEADER.pack_into(batch, 0, *header._replace(batch_length=MIN_LENGTH + len(body),
                                                record_count=count))  # fmt: skip
    batch += body
    seal(batch)
    return batch


def control_batch(
    producer_id: int, producer_epoch: int, commit: bool, coordinator_epoch: int, timestamp: int
) -> bytearray:
    """The marker that ends a producer's transaction in one partition."""
    key = _MARKER_KEY.pack(0, 1 if commit else 0)
    value = _MARKER_VALUE.pack(0, coordinator_epoch)
    return build_batch(
        [(key, value)],
        timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
    )


def marker_of(batch: bytes | bytearray | memoryview) -> Marker | None:
    """The marker in a control batch; None if compaction emptied the batch, or for other kinds."""
    for record in records_of(batch):
        if record.key is None or record.value is None:
            return None
        if len(record.key) < _MARKER_KEY.size or len(record.value) < _MARKER_VALUE.size:
            return None
        kind = _MARKER_KEY.unpack_from(record.key)[1]
        if kind not in (0, 1):
            return None
        return Marker(kind == 1, _MARKER_VALUE.unpack_from(record.value)[1])
    return None


def assign_offset(batch: memoryview, base_offset: int, batch_length: int) -> None:
    """Write the log offset into a received batch, in place. The CRC stays valid."""
    _OFFSET_AND_EPOCH.pack_into(batch, 0, base_offset, batch_length, LEADER_EPOCH)


def stamp_append_time(batch: memoryview, attributes: int, now_ms: int) -> None:
    """Set the time of every record to `now_ms`, in place, and update the CRC."""
    _ATTRIBUTES.pack_into(batch, _ATTRIBUTES_POSITION, attributes | LOG_APPEND_TIME_BIT)
    _MAX_TIMESTAMP.pack_into(batch, _MAX_TIMESTAMP_POSITION, now_ms)
    seal(batch)


def seal(batch: bytearray | memoryview) -> None:
    """Compute and write the CRC."""
    _CRC.pack_into(batch, _CRC_POSITION, crc_of(batch))
