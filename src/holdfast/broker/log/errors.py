"""Why a log refuses: the producer's fault, the disk's, or the reader's."""

from holdfast.errors import TerminalError, TransientError
from holdfast.wire.protocol.errors import ErrorCode


class RecordsRejected(TerminalError):
    """The producer sent what this log does not take. Nothing was written."""

    def __init__(self, error_code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.message = message


class StorageFailed(TransientError):
    """The disk refused. Nothing of the request stays, and it can be tried again."""

    error_code = ErrorCode.KAFKA_STORAGE_ERROR


class CorruptRecords(TerminalError):
    """The bytes at this place are not those that were written. They are kept, and not served."""

    error_code = ErrorCode.CORRUPT_MESSAGE


class OffsetOutOfRange(TerminalError):
    """There is no such offset in the log."""

    error_code = ErrorCode.OFFSET_OUT_OF_RANGE
