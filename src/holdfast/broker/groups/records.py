"""Kafka's own layouts of the records in `__consumer_offsets`, so that its tools can read ours.

Keys begin with a version that tells their kind: 1 an offset, 2 a group. Values are written in
version 3, the newest that is not tagged; offsets with an expiry of their own in version 1, the only
one that has the field. Just those are read back, for nobody else writes this log.
"""

import struct
from dataclasses import dataclass
from typing import NamedTuple

_OFFSET_KEY = 1
_GROUP_KEY = 2
_OFFSET_VALUE = 3
_OFFSET_VALUE_WITH_EXPIRY = 1
_GROUP_VALUE = 3

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")


class TopicPartition(NamedTuple):
    topic: str
    partition: int


class OffsetKey(NamedTuple):
    group_id: str
    at: TopicPartition


class GroupKey(NamedTuple):
    group_id: str


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """How far a group has read a partition."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int = -1
    """When the client itself wanted it gone; -1: by the broker's retention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRecord:
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
    """A group at rest: stable with these members, or empty."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    since_ms: int
    """When it came to rest."""
    members: tuple[MemberRecord, ...]


class UnreadableRecord(ValueError):
    """A record of the internal log that is not in a layout that this broker writes."""


def encode_offset_key(group_id: str, at: TopicPartition) -> bytes:
    return b"".join(
        (_INT16.pack(_OFFSET_KEY), _string(group_id), _string(at.topic), _INT32.pack(at.partition))
    )


def encode_group_key(group_id: str) -> bytes:
    return _INT16.pack(_GROUP_KEY) + _string(group_id)


def decode_key(key: bytes) -> OffsetKey | GroupKey | None:
    """The key, or None if it is of a kind that says nothing to this broker."""
    reader = _Reader(key)
    version = reader.int16()
    if version == _OFFSET_KEY:
        return OffsetKey(reader.string(), TopicPartition(reader.string(), reader.int32()))
    return GroupKey(reader.string()) if version == _GROUP_KEY else None


def encode_offset(committed: CommittedOffset) -> bytes:
    offset = _INT64.pack(committed.offset)
    metadata = _string(committed.metadata)
    commit_ms = _INT64.pack(committed.commit_ms)
    if committed.expire_ms < 0:
        version, epoch = _INT16.pack(_OFFSET_VALUE), _INT32.pack(committed.leader_epoch)
        return b"".join((version, offset, epoch, metadata, commit_ms))
    version, expiry = _INT16.pack(_OFFSET_VALUE_WITH_EXPIRY), _INT64.pack(committed.expire_ms)
    return b"".join((version, offset, metadata, commit_ms, expiry))


def decode_offset(value: bytes) -> CommittedOffset:
    reader = _Reader(value)
    version = reader.int16()
    if version not in (_OFFSET_VALUE, _OFFSET_VALUE_WITH_EXPIRY):
        raise UnreadableRecord(f"an offset in version {version}")
    offset = reader.int64()
    leader_epoch = reader.int32() if version == _OFFSET_VALUE else -1
    metadata, commit_ms = reader.string(), reader.int64()
    expire_ms = reader.int64() if version == _OFFSET_VALUE_WITH_EXPIRY else -1
    return CommittedOffset(offset, leader_epoch, metadata, commit_ms, expire_ms)


def encode_group(group: GroupRecord) -> bytes:
    parts = [
        _INT16.pack(_GROUP_VALUE),
        _string(group.protocol_type),
        _INT32.pack(group.generation),
        _nullable_string(group.protocol),
        _nullable_string(group.leader),
        _INT64.pack(group.since_ms),
        _INT32.pack(len(group.members)),
    ]
    for member in group.members:
        parts += (
            _string(member.member_id),
            _nullable_string(member.instance_id),
            _string(member.client_id),
            _string(member.client_host),
            _INT32.pack(member.rebalance_timeout_ms),
            _INT32.pack(member.session_timeout_ms),
            _bytes(member.subscription),
            _bytes(member.assignment),
        )
    return b"".join(parts)


def decode_group(value: bytes) -> GroupRecord:
    reader = _Reader(value)
    version = reader.int16()
    if version != _GROUP_VALUE:
        raise UnreadableRecord(f"a group in version {version}")
    return GroupRecord(
        protocol_type=reader.string(),
        generation=reader.int32(),
        protocol=reader.nullable_string(),
        leader=reader.nullable_string(),
        since_ms=reader.int64(),
        members=tuple(_decode_member(reader) for _ in range(reader.int32())),
    )


def _decode_member(reader: "_Reader") -> MemberRecord:
    return MemberRecord(
        member_id=reader.string(),
        instance_id=reader.nullable_string(),
        client_id=reader.string(),
        client_host=reader.string(),
        rebalance_timeout_ms=reader.int32(),
        session_timeout_ms=reader.int32(),
        subscription=reader.blob(),
        assignment=reader.blob(),
    )


def _string(text: str) -> bytes:
    raw = text.encode()
    return _INT16.pack(len(raw)) + raw


def _nullable_string(text: str | None) -> bytes:
    return b"\xff\xff" if text is None else _string(text)


def _bytes(raw: bytes) -> bytes:
    return _INT32.pack(len(raw)) + raw


class _Reader:
    """Reads one record from its beginning on."""

    __slots__ = ("_data", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def int16(self) -> int:
        return self._number(_INT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def int64(self) -> int:
        return self._number(_INT64)

    def string(self) -> str:
        return self._take(self.int16()).decode()

    def nullable_string(self) -> str | None:
        length = self.int16()
        return None if length < 0 else self._take(length).decode()

    def blob(self) -> bytes:
        return self._take(self.int32())

    def _number(self, layout: struct.Struct) -> int:
        number: int = layout.unpack(self._take(layout.size))[0]
        return number

    def _take(self, size: int) -> bytes:
        start, self._position = self._position, self._position + size
        if size < 0 or self._position > len(self._data):
            raise UnreadableRecord("a record that ends too early")
        return self._data[start : self._position]
