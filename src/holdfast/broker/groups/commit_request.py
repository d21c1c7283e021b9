"""The offsets of OffsetCommit and TxnOffsetCommit requests: accepted and refused ones."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from holdfast.broker.groups.records import CommittedOffset, TopicPartition
from holdfast.wire.protocol.errors import ErrorCode

MAX_METADATA_BYTES = 4096
"""Kafka's default of `offset.metadata.max.bytes`. Kafka counts characters; the memory of a group is
limited in bytes, and a character may have four of them."""


class _Partition(Protocol):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


class _Topic(Protocol):
    name: str

    @property
    def partitions(self) -> Sequence[_Partition]: ...


class CommitRequest(NamedTuple):
    """Offsets to commit, and the errors of the others."""

    offsets: dict[TopicPartition, CommittedOffset]
    refused: dict[TopicPartition, ErrorCode]


def read_commit_request(
    topics: Sequence[_Topic],
    exists: Callable[[TopicPartition], bool],
    *,
    now_ms: int,
    expire_ms: int = -1,
) -> CommitRequest:
    request = CommitRequest({}, {})
    for topic in topics:
        for partition in topic.partitions:
            at = TopicPartition(topic.name, partition.partition_index)
            metadata = partition.committed_metadata or ""
            if not exists(at):
                request.refused[at] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif _bytes_of(metadata) > MAX_METADATA_BYTES:
                request.refused[at] = ErrorCode.OFFSET_METADATA_TOO_LARGE
            else:
                request.offsets[at] = CommittedOffset(
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    metadata,
                    now_ms,
                    expire_ms,
                )
    return request


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
