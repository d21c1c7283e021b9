# Written by tools/generate_codecs.py from AlterReplicaLogDirsRequest.json in kafka-clients-4.1.1: do not edit.
import struct
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class AlterReplicaLogDirTopic:
    name: str = ''
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class AlterReplicaLogDir:
    path: str = ''
    topics: list[AlterReplicaLogDirTopic] = field(default_factory=list)


@dataclass(slots=True)
class AlterReplicaLogDirsRequest:
    dirs: list[AlterReplicaLogDir] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack


def _decode_1(buffer: memoryview, position: int) -> AlterReplicaLogDirsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    dirs: list[AlterReplicaLogDir]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("dirs", count)
    dirs = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("alter_replica_log_dir_path", stop - position)
        alter_replica_log_dir_path = str(buffer[position:stop], "utf-8")
        position = stop
        alter_replica_log_dir_topics: list[AlterReplicaLogDirTopic]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("alter_replica_log_dir_topics", count)
        alter_replica_log_dir_topics = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("alter_replica_log_dir_topic_name", stop - position)
            alter_replica_log_dir_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            alter_replica_log_dir_topic_partitions: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("alter_replica_log_dir_topic_partitions", count)
            alter_replica_log_dir_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            alter_replica_log_dir_topics.append(AlterReplicaLogDirTopic(name=alter_replica_log_dir_topic_name, partitions=alter_replica_log_dir_topic_partitions))
        dirs.append(AlterReplicaLogDir(path=alter_replica_log_dir_path, topics=alter_replica_log_dir_topics))
    return AlterReplicaLogDirsRequest(dirs=dirs)


def _decode_2(buffer: memoryview, position: int) -> AlterReplicaLogDirsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    dirs: list[AlterReplicaLogDir]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("dirs", count)
    dirs = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("alter_replica_log_dir_path", stop - position)
        alter_replica_log_dir_path = str(buffer[position:stop], "utf-8")
        position = stop
        alter_replica_log_dir_topics: list[AlterReplicaLogDirTopic]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("alter_replica_log_dir_topics", count)
        alter_replica_log_dir_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("alter_replica_log_dir_topic_name", stop - position)
            alter_replica_log_dir_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            alter_replica_log_dir_topic_partitions: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("alter_replica_log_dir_topic_partitions", count)
            alter_replica_log_dir_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            alter_replica_log_dir_topics.append(AlterReplicaLogDirTopic(name=alter_replica_log_dir_topic_name, partitions=alter_replica_log_dir_topic_partitions))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        dirs.append(AlterReplicaLogDir(path=alter_replica_log_dir_path, topics=alter_replica_log_dir_topics))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterReplicaLogDirsRequest(dirs=dirs)


def _encode_1(message: AlterReplicaLogDirsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.dirs))
    for alter_replica_log_dir in message.dirs:
        raw = alter_replica_log_dir.path.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(alter_replica_log_dir.topics))
        for alter_replica_log_dir_topic in alter_replica_log_dir.topics:
            raw = alter_replica_log_dir_topic.name.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(len(alter_replica_log_dir_topic.partitions))
            out += struct.pack(f">{len(alter_replica_log_dir_topic.partitions)}i", *alter_replica_log_dir_topic.partitions)
    return [out]


def _encode_2(message: AlterReplicaLogDirsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.dirs) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for alter_replica_log_dir in message.dirs:
        raw = alter_replica_log_dir.path.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(alter_replica_log_dir.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for alter_replica_log_dir_topic in alter_replica_log_dir.topics:
            raw = alter_replica_log_dir_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(alter_replica_log_dir_topic.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(alter_replica_log_dir_topic.partitions)}i", *alter_replica_log_dir_topic.partitions)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterReplicaLogDirsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterReplicaLogDirsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterReplicaLogDirsRequest of version {version}: {error}") from error


def encode(version: int, message: AlterReplicaLogDirsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
