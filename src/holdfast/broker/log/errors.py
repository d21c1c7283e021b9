"""Errors of a log: of the producer, the disk or the reader."""

from holdfast.errors import TerminalError, TransientError
from holdfast.wire.protocol.errors import ErrorCode


class RecordsRejected(TerminalError):
    """The log does not accept the producer's batch. Nothing was written."""

    def __init__(self, error_code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.message = message


class StorageFailed(TransientError):
    """The disk failed. Nothing of the request is in the log, and a retry can succeed."""

    error_code = ErrorCode.KAFKA_STORAGE_ERROR


class CorruptRecords(TerminalError):
    """The stored bytes are damaged. They are kept, and not served."""

    error_code = ErrorCode.CORRUPT_MESSAGE


class OffsetOutOfRange(TerminalError):
    """The offset is not in the log."""

    error_code = ErrorCode.OFFSET_OUT_OF_RANGE
