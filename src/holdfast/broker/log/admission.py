"""What a batch must be to enter a log. The codes are those that Apache Kafka 4 answers with.

The inside of a batch stays unread unless the topic asks about single records: keys on a compacted
topic, or a bound on how old a record may be. Garbage inside a compressed batch is therefore kept
as it came (Kafka unpacks every batch to find out); it harms none but its readers.
"""

from enum import Enum

from holdfast.broker.log.errors import RecordsRejected
from holdfast.broker.topic_config import FOREVER, TopicConfig
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import (
    HEADER_SIZE,
    MAGIC,
    MIN_LENGTH,
    NO_TIMESTAMP,
    BatchHeader,
    crc_of,
    header_of,
)
from holdfast.wire.records.compression import Compression, UndecodableRecords
from holdfast.wire.records.record import outlines

_MAGIC_POSITION = 16


class Source(Enum):
    """Who appends: a client, whose every word is checked, or a coordinator of this broker."""

    CLIENT = "client"
    COORDINATOR = "coordinator"


def split(batches: memoryview) -> list[tuple[BatchHeader, memoryview]]:
    """The batches in `batches`, which must be whole ones of version 2."""
    found: list[tuple[BatchHeader, memoryview]] = []
    position = 0
    while position < len(batches):
        header = _header_at(batches, position)
        found.append((header, batches[position : position + header.size]))
        position += header.size
    if not found:
        raise RecordsRejected(ErrorCode.INVALID_RECORD, "There is no record batch")
    return found


def _header_at(batches: memoryview, position: int) -> BatchHeader:
    size = len(batches) - position
    if size > _MAGIC_POSITION:
        magic = batches[position + _MAGIC_POSITION]
        if magic < MAGIC:
            raise RecordsRejected(
                ErrorCode.INVALID_RECORD, f"Only record batches of magic 2 are taken, not {magic}"
            )
        if magic > MAGIC:
            raise RecordsRejected(ErrorCode.CORRUPT_MESSAGE, f"There is no magic {magic}")
    if size < HEADER_SIZE:
        raise RecordsRejected(ErrorCode.INVALID_RECORD, "The record batch is cut short")
    header = header_of(batches, position)
    if header.batch_length < MIN_LENGTH:
        raise RecordsRejected(
            ErrorCode.CORRUPT_MESSAGE, f"Batch length {header.batch_length} is impossible"
        )
    if header.size > size:
        raise RecordsRejected(ErrorCode.INVALID_RECORD, "The record batch is cut short")
    return header


def check(
    header: BatchHeader, batch: memoryview, config: TopicConfig, now_ms: int, source: Source
) -> None:
    """Raises RecordsRejected unless this batch may be appended as it stands."""
    from_client = source is Source.CLIENT
    if from_client and header.size > config.max_message_bytes:
        raise RecordsRejected(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"A batch of {header.size} bytes is larger than max.message.bytes "
            f"({config.max_message_bytes})",
        )
    if crc_of(batch) != header.crc:
        raise RecordsRejected(ErrorCode.CORRUPT_MESSAGE, "The batch does not match its CRC")
    _check_counts(header)
    if from_client:
        _check_client(header)
        _check_timestamps(header, config, now_ms)
        _check_inside(header, batch, config, now_ms)


def _check_counts(header: BatchHeader) -> None:
    if header.record_count <= 0:
        raise _invalid(f"A record count of {header.record_count} is not possible")
    if header.last_offset_delta != header.record_count - 1:
        raise _invalid(
            f"{header.record_count} records do not fit a last offset delta of "
            f"{header.last_offset_delta}"
        )


def _check_client(header: BatchHeader) -> None:
    if header.base_offset != 0:
        raise _invalid(f"The base offset of a new batch must be 0, not {header.base_offset}")
    if header.is_control:
        raise _invalid("Clients may not write control records")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise _invalid(
            f"Producer {header.producer_id} sent the sequence number {header.base_sequence}"
        )
    if header.is_transactional and header.producer_id < 0:
        raise _invalid("A transactional batch names no producer")
    if header.compression > Compression.ZSTD:
        raise _invalid(f"There is no compression codec {header.compression}")


def _check_timestamps(header: BatchHeader, config: TopicConfig, now_ms: int) -> None:
    if header.has_append_time:
        raise RecordsRejected(
            ErrorCode.INVALID_TIMESTAMP, "Producers may not set LogAppendTime themselves"
        )
    if config.message_timestamp_type == "LogAppendTime":
        return
    for timestamp in (header.base_timestamp, header.max_timestamp):
        _check_timestamp(timestamp, config, now_ms)


def _check_timestamp(timestamp: int, config: TopicConfig, now_ms: int) -> None:
    if timestamp == NO_TIMESTAMP:
        return
    age = now_ms - timestamp
    if age > config.message_timestamp_before_max_ms or -age > config.message_timestamp_after_max_ms:
        raise RecordsRejected(
            ErrorCode.INVALID_TIMESTAMP,
            f"Timestamp {timestamp} is out of range: it may lie "
            f"{config.message_timestamp_before_max_ms} ms before and "
            f"{config.message_timestamp_after_max_ms} ms after {now_ms}",
        )


def _check_inside(header: BatchHeader, batch: memoryview, config: TopicConfig, now_ms: int) -> None:
    ages = (
        config.message_timestamp_before_max_ms != FOREVER
        and config.message_timestamp_type == "CreateTime"
    )
    if not config.compacted and not ages:
        return
    try:
        for outline in outlines(
            batch[HEADER_SIZE:], count=header.record_count, compression=header.compression
        ):
            if config.compacted and not outline.has_key:
                raise _invalid("A compacted topic takes no record without a key")
            if ages:
                timestamp = header.base_timestamp + outline.timestamp_delta
                _check_timestamp(timestamp, config, now_ms)
    except UndecodableRecords as error:
        raise _invalid(str(error)) from None


def _invalid(message: str) -> RecordsRejected:
    return RecordsRejected(ErrorCode.INVALID_RECORD, message)
