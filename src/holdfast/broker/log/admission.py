"""The checks of a batch before it is appended. The error codes are those of Apache Kafka 4."""

from enum import Enum

from holdfast.broker.log.errors import RecordsRejected
from holdfast.broker.log.inspection import check_timestamp, inspect_at_once
from holdfast.broker.topic_config import TopicConfig
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import (
    HEADER_SIZE,
    MAGIC,
    MIN_LENGTH,
    BatchHeader,
    crc_of,
    header_of,
)
from holdfast.wire.records.compression import Compression

_MAGIC_POSITION = 16


class Source(Enum):
    """The origin of a batch: a client, whose batches are fully checked, or a coordinator."""

    CLIENT = "client"
    COORDINATOR = "coordinator"


def split(batches: memoryview, source: Source) -> list[tuple[BatchHeader, memoryview]]:
    """Splits bytes into batches. They must be complete and have version 2.

    A client may send one batch. It is refused after the second: a request has room for a million.
    """
    parts: list[tuple[BatchHeader, memoryview]] = []
    position = 0
    while position < len(batches):
        if len(parts) > 1 and source is Source.CLIENT:
            break
        header = _header_at(batches, position)
        parts.append((header, batches[position : position + header.size]))
        position += header.size
    if not parts:
        raise _invalid("There is no record batch")
    if len(parts) > 1 and source is Source.CLIENT:
        raise _invalid("A request may have only one record batch per partition")
    return parts


def _header_at(batches: memoryview, position: int) -> BatchHeader:
    size = len(batches) - position
    if size > _MAGIC_POSITION:
        magic = batches[position + _MAGIC_POSITION]
        if magic < MAGIC:
            raise RecordsRejected(
                ErrorCode.INVALID_RECORD,
                f"Only record batches of magic 2 are accepted, not {magic}",
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
    header: BatchHeader,
    batch: memoryview,
    config: TopicConfig,
    now_ms: int,
    source: Source,
    inspected: bool = False,
) -> None:
    """Raises RecordsRejected if this batch may not be appended.

    Checks its records too, unless they were `inspected` before. If that takes too long for one step
    of the event loop, raises NeedsTime.
    """
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
        if not inspected:
            inspect_at_once(header, batch, config, now_ms)


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
        check_timestamp(timestamp, config, now_ms)


def _invalid(message: str) -> RecordsRejected:
    return RecordsRejected(ErrorCode.INVALID_RECORD, message)
