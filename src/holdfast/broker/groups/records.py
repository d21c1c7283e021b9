"""Kafka's layouts of the records in `__consumer_offsets`, so that Kafka's tools can read them.

A key begins with its kind: 1 is an offset, 2 is a group. Values have version 3, the newest without
tagged fields. Offsets with their own expiry have version 1, the only one with that field. The
broker reads these versions only, because nothing else writes this log.
"""

from dataclasses import dataclass
from typing import NamedTuple

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.generated import (
    group_metadata_key,
    group_metadata_value,
    offset_commit_key,
    offset_commit_value,
)

_OFFSET_VALUE = 3
_OFFSET_VALUE_WITH_EXPIRY = 1
_GROUP_VALUE = 3


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class OffsetKey(NamedTuple):
    """The key of a committed offset."""

    group_id: str
    at: TopicPartition


class GroupKey(NamedTuple):
    """The key of a group's record."""

    group_id: str


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """The position of a group in a partition."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int = -1
    """Expiry that the client has set; -1: the broker's retention applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRecord:
    """A member in a group's record."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecord:
    """A stable group with its members, or an empty group."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    since_ms: int
    """When it reached this state."""
    members: tuple[MemberRecord, ...]


class UnreadableRecord(ValueError):
    """A record of the internal log with a layout that this broker does not write."""


def encode_offset_key(group_id: str, at: TopicPartition) -> bytes:
    return offset_commit_key.pack(
        offset_commit_key.OffsetCommitKey(group_id, at.topic, at.partition)
    )


def encode_group_key(group_id: str) -> bytes:
    return group_metadata_key.pack(group_metadata_key.GroupMetadataKey(group_id))


def decode_key(key: bytes) -> OffsetKey | GroupKey | None:
    """The key; None for a kind that this broker does not know."""
    try:
        kind = int.from_bytes(key[:2], "big")
        if kind == offset_commit_key.RECORD_TYPE:
            offset = offset_commit_key.unpack(key)
            return OffsetKey(offset.group, TopicPartition(offset.topic, offset.partition))
        if kind == group_metadata_key.RECORD_TYPE:
            return GroupKey(group_metadata_key.unpack(key).group)
    except MalformedMessage as error:
        raise UnreadableRecord(f"a key that cannot be read ({error})") from None
    return None


def encode_offset(committed: CommittedOffset) -> bytes:
    has_expiry = committed.expire_ms >= 0
    return offset_commit_value.pack(
        _OFFSET_VALUE_WITH_EXPIRY if has_expiry else _OFFSET_VALUE,
        offset_commit_value.OffsetCommitValue(
            offset=committed.offset,
            leader_epoch=committed.leader_epoch,
            metadata=committed.metadata,
            commit_timestamp=committed.commit_ms,
            expire_timestamp=committed.expire_ms,
        ),
    )


def decode_offset(value: bytes) -> CommittedOffset:
    try:
        version, record = offset_commit_value.unpack(value)
    except MalformedMessage as error:
        raise UnreadableRecord(f"an offset that cannot be read ({error})") from None
    if version not in (_OFFSET_VALUE, _OFFSET_VALUE_WITH_EXPIRY):
        raise UnreadableRecord(f"an offset in version {version}")
    return CommittedOffset(
        record.offset,
        record.leader_epoch,
        record.metadata,
        record.commit_timestamp,
        record.expire_timestamp,
    )


def encode_group(group: GroupRecord) -> bytes:
    return group_metadata_value.pack(
        _GROUP_VALUE,
        group_metadata_value.GroupMetadataValue(
            protocol_type=group.protocol_type,
            generation=group.generation,
            protocol=group.protocol,
            leader=group.leader,
            current_state_timestamp=group.since_ms,
            members=[
                group_metadata_value.MemberMetadata(
                    member_id=member.member_id,
                    group_instance_id=member.instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    rebalance_timeout=member.rebalance_timeout_ms,
                    session_timeout=member.session_timeout_ms,
                    subscription=member.subscription,
                    assignment=member.assignment,
                )
                for member in group.members
            ],
        ),
    )


def decode_group(value: bytes) -> GroupRecord:
    try:
        version, record = group_metadata_value.unpack(value)
    except MalformedMessage as error:
        raise UnreadableRecord(f"a group that cannot be read ({error})") from None
    if version != _GROUP_VALUE:
        raise UnreadableRecord(f"a group in version {version}")
    return GroupRecord(
        protocol_type=record.protocol_type,
        generation=record.generation,
        protocol=record.protocol,
        leader=record.leader,
        since_ms=record.current_state_timestamp,
        members=tuple(
            MemberRecord(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout,
                session_timeout_ms=member.session_timeout,
                subscription=member.subscription,
                assignment=member.assignment,
            )
            for member in record.members
        ),
    )
