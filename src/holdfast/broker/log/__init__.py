"""The log of a partition: append, retention, reading, recovery and compaction.

| module | content |
|---|---|
| `admission` | the checks of a batch before it is appended |
| `cleaning` | rewrites segments so that each key keeps its last record |
| `compaction` | runs the compaction of a log in its own process |
| `directory` | the files of a partition's directory, by name |
| `errors` | errors of a log |
| `files` | the system calls of the log |
| `flushing` | files to sync before records are durable |
| `index` | index files |
| `inspection` | checks the records in a client's batch |
| `leftovers` | finishes work that a crash interrupted |
| `partition_log` | one partition's records on disk |
| `producers` | the producers of a partition |
| `reading` | reads whole batches and checks each one |
| `recovery` | opens a log, also after a crash |
| `replay` | restores producers and their transactions from the log |
| `retention` | the segments that a log drops or closes |
| `scanning` | finds batches in a segment file |
| `segment` | one segment |
| `segments` | the segments of a log in order |
| `snapshot` | the file format of a snapshot of producers |
| `state` | the saved state of a log |
| `time_lookup` | offsets by time |
"""

from holdfast.broker.log.admission import Source
from holdfast.broker.log.errors import (
    CorruptRecords,
    OffsetOutOfRange,
    RecordsRejected,
    StorageFailed,
)
from holdfast.broker.log.flushing import FlushTicket
from holdfast.broker.log.index import AbortedTransaction
from holdfast.broker.log.inspection import NeedsTime
from holdfast.broker.log.partition_log import Appended, PartitionLog
from holdfast.broker.log.producers import ProducerSnapshot
from holdfast.broker.log.state import CleanState

__all__ = [
    "AbortedTransaction",
    "Appended",
    "CleanState",
    "CorruptRecords",
    "FlushTicket",
    "NeedsTime",
    "OffsetOutOfRange",
    "PartitionLog",
    "ProducerSnapshot",
    "RecordsRejected",
    "Source",
    "StorageFailed",
]
