"""Checks the records in a client's batch: readers must be able to parse each one.

A few kilobytes can claim millions of records or hundreds of megabytes. So the size of a batch
limits its decompressed size and its number of records. Long checks run in slices.
"""

from functools import partial

from holdfast.broker.log.errors import RecordsRejected
from holdfast.broker.topic_config import FOREVER, TopicConfig
from holdfast.broker.work import Work, finish
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import HEADER_SIZE, NO_TIMESTAMP, BatchHeader
from holdfast.wire.records.compression import (
    MAX_OUTPUT,
    DecompressedTooLarge,
    UndecodableRecords,
    decompress,
)
from holdfast.wire.records.framing import SMALLEST_RECORD, FramingCheck, Plain
from holdfast.wire.records.record import outlines

MIB = 1024 * 1024

AT_ONCE_BYTES = 2 * MIB
AT_ONCE_RECORDS = 16_000
"""About ten milliseconds of checking. librdkafka puts at most 10,000 records into a batch."""
SLICE_RECORDS = 2_000
LARGE_RECORD = 8 * 1024
"""Bytes from which a view is cheaper than a copy."""

UNFOLDED_ANYWAY = 32 * MIB
MOST_UNFOLDED = 128
"""Limit of the decompressed size of a batch: this factor times its size, or the number above."""
RECORDS_ANYWAY = 1_000
MOST_RECORDS = 4
"""Maximum records per byte of a compressed batch, in addition to the number above. Offset deltas
increase, so zstd needs at least a third of a byte for each record."""


class NeedsTime(Exception):
    """The batch is too large for one step of the event loop: inspect it in slices first."""


def inspect_at_once(
    header: BatchHeader, batch: memoryview, config: TopicConfig, now_ms: int
) -> None:
    """Raises RecordsRejected if readers or the topic do not accept the records of this batch.

    Raises NeedsTime early if the check would take too long.
    """
    _check_proportions(header)
    if header.size > AT_ONCE_BYTES or header.record_count > AT_ONCE_RECORDS:
        raise NeedsTime
    try:
        data = _unfold(header, batch, AT_ONCE_BYTES)
    except DecompressedTooLarge:
        raise NeedsTime from None
    except UndecodableRecords as error:
        raise _invalid(str(error)) from None
    finish(_inspect(header, data, config, now_ms))


def inspect_in_slices(
    header: BatchHeader, batch: memoryview, config: TopicConfig, now_ms: int
) -> Work[None]:
    """Checks a batch of any size, as `Work`."""
    _check_proportions(header)
    limit = min(MAX_OUTPUT, max(UNFOLDED_ANYWAY, MOST_UNFOLDED * header.size))
    try:
        data = yield partial(_unfold, header, batch, limit)
    except UndecodableRecords as error:
        raise _invalid(str(error)) from None
    yield from _inspect(header, data, config, now_ms)


def _check_proportions(header: BatchHeader) -> None:
    size = header.size - HEADER_SIZE
    most = size // SMALLEST_RECORD
    if header.compression:
        most = RECORDS_ANYWAY + MOST_RECORDS * size
    if header.record_count > most:
        raise _invalid(f"{header.record_count} records cannot be in {size} bytes")


def _unfold(header: BatchHeader, batch: memoryview, limit: int) -> Plain:
    payload = batch[HEADER_SIZE : header.size]
    if header.compression:
        return decompress(header.compression, payload, limit)
    return payload if header.size > LARGE_RECORD * header.record_count else bytes(payload)


def _inspect(header: BatchHeader, data: Plain, config: TopicConfig, now_ms: int) -> Work[None]:
    check = FramingCheck(data, header.record_count)
    try:
        while not check.run(SLICE_RECORDS):
            yield None
    except UndecodableRecords as error:
        raise _invalid(str(error)) from None
    if config.compacted and check.has_keyless:
        raise _invalid("A compacted topic takes no record without a key")
    if (
        config.message_timestamp_before_max_ms != FOREVER
        and config.message_timestamp_type == "CreateTime"
    ):
        plain = (yield partial(bytes, data)) if isinstance(data, memoryview) else data
        for number, outline in enumerate(outlines(plain, header.record_count)):
            check_timestamp(header.base_timestamp + outline.timestamp_delta, config, now_ms)
            if number % SLICE_RECORDS == 0:
                yield None


def check_timestamp(timestamp: int, config: TopicConfig, now_ms: int) -> None:
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


def _invalid(message: str) -> RecordsRejected:
    return RecordsRejected(ErrorCode.INVALID_RECORD, message)
