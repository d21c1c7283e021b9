"""The log of a partition: what is appended, kept, read, recovered and compacted."""

from holdfast.broker.log.admission import Source
from holdfast.broker.log.errors import (
    CorruptRecords,
    OffsetOutOfRange,
    RecordsRejected,
    StorageFailed,
)
from holdfast.broker.log.flushing import FlushTicket
from holdfast.broker.log.index import AbortedTransaction
from holdfast.broker.log.partition_log import Appended, PartitionLog
from holdfast.broker.log.producers import ProducerSnapshot
from holdfast.broker.log.state import CleanState

__all__ = [
    "AbortedTransaction",
    "Appended",
    "CleanState",
    "CorruptRecords",
    "FlushTicket",
    "OffsetOutOfRange",
    "PartitionLog",
    "ProducerSnapshot",
    "RecordsRejected",
    "Source",
    "StorageFailed",
]
