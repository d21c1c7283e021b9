# Written by tools/generate_codecs.py from FetchRequest.json in kafka-clients-4.1.1: do not edit.
import struct
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
    MOST_TAGS,
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    read_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class ReplicaState:
    replica_id: int = -1
    replica_epoch: int = -1


@dataclass(slots=True)
class FetchPartition:
    partition: int = 0
    current_leader_epoch: int = -1
    fetch_offset: int = 0
    last_fetched_epoch: int = -1
    log_start_offset: int = -1
    partition_max_bytes: int = 0
    replica_directory_id: UUID = ZERO_UUID
    high_watermark: int = 9223372036854775807


@dataclass(slots=True)
class FetchTopic:
    topic: str = ''
    topic_id: UUID = ZERO_UUID
    partitions: list[FetchPartition] = field(default_factory=list)


@dataclass(slots=True)
class ForgottenTopic:
    topic: str = ''
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class FetchRequest:
    cluster_id: str | None = None
    replica_id: int = -1
    replica_state: ReplicaState | None = None
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    isolation_level: int = 0
    session_id: int = 0
    session_epoch: int = -1
    topics: list[FetchTopic] = field(default_factory=list)
    forgotten_topics_data: list[ForgottenTopic] = field(default_factory=list)
    rack_id: str = ''


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iiibiiB = Struct(">iiibiiB").unpack_from
_unpack_iiiibi = Struct(">iiiibi").unpack_from
_unpack_iiiibiiB = Struct(">iiiibiiB").unpack_from
_unpack_iiiibiii = Struct(">iiiibiii").unpack_from
_unpack_iiqiqiB = Struct(">iiqiqiB").unpack_from
_unpack_iiqqi = Struct(">iiqqi").unpack_from
_unpack_iqB = Struct(">iqB").unpack_from
_unpack_iqi = Struct(">iqi").unpack_from
_unpack_iqqi = Struct(">iqqi").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_u = Struct(">16s").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iiibii = Struct(">iiibii").pack
_pack_iiiibi = Struct(">iiiibi").pack
_pack_iiiibii = Struct(">iiiibii").pack
_pack_iiiibiii = Struct(">iiiibiii").pack
_pack_iiqiqi = Struct(">iiqiqi").pack
_pack_iiqiqiB = Struct(">iiqiqiB").pack
_pack_iiqqi = Struct(">iiqqi").pack
_pack_iqB = Struct(">iqB").pack
_pack_iqi = Struct(">iqi").pack
_pack_iqqi = Struct(">iqqi").pack
_pack_q = Struct(">q").pack
_pack_u = Struct(">16s").pack


def _decode_4(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, count = _unpack_iiiibi(buffer, position)
    position += 21
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetch_topic_topic", stop - position)
        fetch_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetch_topic_partitions: list[FetchPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 16 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_partition, fetch_partition_fetch_offset, fetch_partition_partition_max_bytes = _unpack_iqi(buffer, position)
            position += 16
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, fetch_offset=fetch_partition_fetch_offset, partition_max_bytes=fetch_partition_partition_max_bytes))
        topics.append(FetchTopic(topic=fetch_topic_topic, partitions=fetch_topic_partitions))
    return FetchRequest(replica_id=replica_id, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, topics=topics)


def _decode_5(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, count = _unpack_iiiibi(buffer, position)
    position += 21
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetch_topic_topic", stop - position)
        fetch_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetch_topic_partitions: list[FetchPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 24 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_partition, fetch_partition_fetch_offset, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes = _unpack_iqqi(buffer, position)
            position += 24
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, fetch_offset=fetch_partition_fetch_offset, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes))
        topics.append(FetchTopic(topic=fetch_topic_topic, partitions=fetch_topic_partitions))
    return FetchRequest(replica_id=replica_id, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, topics=topics)


def _decode_7(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, count = _unpack_iiiibiii(buffer, position)
    position += 29
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetch_topic_topic", stop - position)
        fetch_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetch_topic_partitions: list[FetchPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 24 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_partition, fetch_partition_fetch_offset, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes = _unpack_iqqi(buffer, position)
            position += 24
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, fetch_offset=fetch_partition_fetch_offset, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes))
        topics.append(FetchTopic(topic=fetch_topic_topic, partitions=fetch_topic_partitions))
    forgotten_topics_data: list[ForgottenTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("forgotten_topics_data", count)
    forgotten_topics_data = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("forgotten_topic_topic", stop - position)
        forgotten_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        forgotten_topic_partitions: list[int]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("forgotten_topic_partitions", count)
        forgotten_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        forgotten_topics_data.append(ForgottenTopic(topic=forgotten_topic_topic, partitions=forgotten_topic_partitions))
    return FetchRequest(replica_id=replica_id, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, session_id=session_id, session_epoch=session_epoch, topics=topics, forgotten_topics_data=forgotten_topics_data)


def _decode_9(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, count = _unpack_iiiibiii(buffer, position)
    position += 29
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetch_topic_topic", stop - position)
        fetch_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetch_topic_partitions: list[FetchPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 28 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_partition, fetch_partition_current_leader_epoch, fetch_partition_fetch_offset, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes = _unpack_iiqqi(buffer, position)
            position += 28
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, current_leader_epoch=fetch_partition_current_leader_epoch, fetch_offset=fetch_partition_fetch_offset, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes))
        topics.append(FetchTopic(topic=fetch_topic_topic, partitions=fetch_topic_partitions))
    forgotten_topics_data: list[ForgottenTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("forgotten_topics_data", count)
    forgotten_topics_data = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("forgotten_topic_topic", stop - position)
        forgotten_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        forgotten_topic_partitions: list[int]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("forgotten_topic_partitions", count)
        forgotten_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        forgotten_topics_data.append(ForgottenTopic(topic=forgotten_topic_topic, partitions=forgotten_topic_partitions))
    return FetchRequest(replica_id=replica_id, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, session_id=session_id, session_epoch=session_epoch, topics=topics, forgotten_topics_data=forgotten_topics_data)


def _decode_11(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, count = _unpack_iiiibiii(buffer, position)
    position += 29
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetch_topic_topic", stop - position)
        fetch_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetch_topic_partitions: list[FetchPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 28 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_partition, fetch_partition_current_leader_epoch, fetch_partition_fetch_offset, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes = _unpack_iiqqi(buffer, position)
            position += 28
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, current_leader_epoch=fetch_partition_current_leader_epoch, fetch_offset=fetch_partition_fetch_offset, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes))
        topics.append(FetchTopic(topic=fetch_topic_topic, partitions=fetch_topic_partitions))
    forgotten_topics_data: list[ForgottenTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("forgotten_topics_data", count)
    forgotten_topics_data = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("forgotten_topic_topic", stop - position)
        forgotten_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        forgotten_topic_partitions: list[int]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("forgotten_topic_partitions", count)
        forgotten_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        forgotten_topics_data.append(ForgottenTopic(topic=forgotten_topic_topic, partitions=forgotten_topic_partitions))
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("rack_id", stop - position)
    rack_id = str(buffer[position:stop], "utf-8")
    position = stop
    return FetchRequest(replica_id=replica_id, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, session_id=session_id, session_epoch=session_epoch, topics=topics, forgotten_topics_data=forgotten_topics_data, rack_id=rack_id)


def _decode_12(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, count = _unpack_iiiibiiB(buffer, position)
    position += 26
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("fetch_topic_topic", stop - position)
        fetch_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetch_topic_partitions: list[FetchPartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 33 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_partition, fetch_partition_current_leader_epoch, fetch_partition_fetch_offset, fetch_partition_last_fetched_epoch, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes, tags = _unpack_iiqiqiB(buffer, position)
            position += 33
            if tags:
                position = skip_tags(buffer, position, tags)
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, current_leader_epoch=fetch_partition_current_leader_epoch, fetch_offset=fetch_partition_fetch_offset, last_fetched_epoch=fetch_partition_last_fetched_epoch, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(FetchTopic(topic=fetch_topic_topic, partitions=fetch_topic_partitions))
    forgotten_topics_data: list[ForgottenTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("forgotten_topics_data", count)
    forgotten_topics_data = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("forgotten_topic_topic", stop - position)
        forgotten_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        forgotten_topic_partitions: list[int]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("forgotten_topic_partitions", count)
        forgotten_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        forgotten_topics_data.append(ForgottenTopic(topic=forgotten_topic_topic, partitions=forgotten_topic_partitions))
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("rack_id", stop - position)
    rack_id = str(buffer[position:stop], "utf-8")
    position = stop
    cluster_id: str | None = None
    tags = buffer[position]
    position += 1
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of FetchRequest", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_fetch_request = position + size
            if after_tag_of_fetch_request > end:
                raise bad_length("A tagged field of FetchRequest", size)
            if tag == 0:
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("cluster_id", stop - position)
                    cluster_id = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    cluster_id = None
            else:
                position = after_tag_of_fetch_request
            if position != after_tag_of_fetch_request:
                raise bad_length("A tagged field of FetchRequest", size)
    return FetchRequest(cluster_id=cluster_id, replica_id=replica_id, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, session_id=session_id, session_epoch=session_epoch, topics=topics, forgotten_topics_data=forgotten_topics_data, rack_id=rack_id)


def _decode_13(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, count = _unpack_iiiibiiB(buffer, position)
    position += 26
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        fetch_topic_partitions: list[FetchPartition]
        fetch_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        fetch_topic_topic_id = uuid_of(fetch_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 33 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_partition, fetch_partition_current_leader_epoch, fetch_partition_fetch_offset, fetch_partition_last_fetched_epoch, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes, tags = _unpack_iiqiqiB(buffer, position)
            position += 33
            if tags:
                position = skip_tags(buffer, position, tags)
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, current_leader_epoch=fetch_partition_current_leader_epoch, fetch_offset=fetch_partition_fetch_offset, last_fetched_epoch=fetch_partition_last_fetched_epoch, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(FetchTopic(topic_id=fetch_topic_topic_id, partitions=fetch_topic_partitions))
    forgotten_topics_data: list[ForgottenTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("forgotten_topics_data", count)
    forgotten_topics_data = []
    for _ in range(count):
        forgotten_topic_partitions: list[int]
        forgotten_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        forgotten_topic_topic_id = uuid_of(forgotten_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("forgotten_topic_partitions", count)
        forgotten_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        forgotten_topics_data.append(ForgottenTopic(topic_id=forgotten_topic_topic_id, partitions=forgotten_topic_partitions))
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("rack_id", stop - position)
    rack_id = str(buffer[position:stop], "utf-8")
    position = stop
    cluster_id: str | None = None
    tags = buffer[position]
    position += 1
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of FetchRequest", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_fetch_request = position + size
            if after_tag_of_fetch_request > end:
                raise bad_length("A tagged field of FetchRequest", size)
            if tag == 0:
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("cluster_id", stop - position)
                    cluster_id = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    cluster_id = None
            else:
                position = after_tag_of_fetch_request
            if position != after_tag_of_fetch_request:
                raise bad_length("A tagged field of FetchRequest", size)
    return FetchRequest(cluster_id=cluster_id, replica_id=replica_id, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, session_id=session_id, session_epoch=session_epoch, topics=topics, forgotten_topics_data=forgotten_topics_data, rack_id=rack_id)


def _decode_15(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, count = _unpack_iiibiiB(buffer, position)
    position += 22
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        fetch_topic_partitions: list[FetchPartition]
        fetch_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        fetch_topic_topic_id = uuid_of(fetch_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 33 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_partition, fetch_partition_current_leader_epoch, fetch_partition_fetch_offset, fetch_partition_last_fetched_epoch, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes, tags = _unpack_iiqiqiB(buffer, position)
            position += 33
            if tags:
                position = skip_tags(buffer, position, tags)
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, current_leader_epoch=fetch_partition_current_leader_epoch, fetch_offset=fetch_partition_fetch_offset, last_fetched_epoch=fetch_partition_last_fetched_epoch, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(FetchTopic(topic_id=fetch_topic_topic_id, partitions=fetch_topic_partitions))
    forgotten_topics_data: list[ForgottenTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("forgotten_topics_data", count)
    forgotten_topics_data = []
    for _ in range(count):
        forgotten_topic_partitions: list[int]
        forgotten_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        forgotten_topic_topic_id = uuid_of(forgotten_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("forgotten_topic_partitions", count)
        forgotten_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        forgotten_topics_data.append(ForgottenTopic(topic_id=forgotten_topic_topic_id, partitions=forgotten_topic_partitions))
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("rack_id", stop - position)
    rack_id = str(buffer[position:stop], "utf-8")
    position = stop
    cluster_id: str | None = None
    replica_state: ReplicaState | None = None
    tags = buffer[position]
    position += 1
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of FetchRequest", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_fetch_request = position + size
            if after_tag_of_fetch_request > end:
                raise bad_length("A tagged field of FetchRequest", size)
            if tag == 0:
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("cluster_id", stop - position)
                    cluster_id = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    cluster_id = None
            elif tag == 1:
                replica_state_replica_id, replica_state_replica_epoch, tags = _unpack_iqB(buffer, position)
                position += 13
                if tags:
                    position = skip_tags(buffer, position, tags)
                replica_state = ReplicaState(replica_id=replica_state_replica_id, replica_epoch=replica_state_replica_epoch)
            else:
                position = after_tag_of_fetch_request
            if position != after_tag_of_fetch_request:
                raise bad_length("A tagged field of FetchRequest", size)
    return FetchRequest(cluster_id=cluster_id, replica_state=replica_state, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, session_id=session_id, session_epoch=session_epoch, topics=topics, forgotten_topics_data=forgotten_topics_data, rack_id=rack_id)


def _decode_17(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, count = _unpack_iiibiiB(buffer, position)
    position += 22
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        fetch_topic_partitions: list[FetchPartition]
        fetch_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        fetch_topic_topic_id = uuid_of(fetch_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 33 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_replica_directory_id: UUID = ZERO_UUID
            fetch_partition_partition, fetch_partition_current_leader_epoch, fetch_partition_fetch_offset, fetch_partition_last_fetched_epoch, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes, tags = _unpack_iiqiqiB(buffer, position)
            position += 33
            if tags:
                if tags > MOST_TAGS:
                    raise bad_length("The tagged fields of FetchPartition", tags)
                for _ in range(tags):
                    tag, position = read_uvarint(buffer, position)
                    size, position = read_uvarint(buffer, position)
                    after_tag_of_fetch_partition = position + size
                    if after_tag_of_fetch_partition > end:
                        raise bad_length("A tagged field of FetchPartition", size)
                    if tag == 0:
                        (fetch_partition_replica_directory_id,) = _unpack_u(buffer, position)
                        position += 16
                        fetch_partition_replica_directory_id = uuid_of(fetch_partition_replica_directory_id)
                    else:
                        position = after_tag_of_fetch_partition
                    if position != after_tag_of_fetch_partition:
                        raise bad_length("A tagged field of FetchPartition", size)
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, current_leader_epoch=fetch_partition_current_leader_epoch, fetch_offset=fetch_partition_fetch_offset, last_fetched_epoch=fetch_partition_last_fetched_epoch, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes, replica_directory_id=fetch_partition_replica_directory_id))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(FetchTopic(topic_id=fetch_topic_topic_id, partitions=fetch_topic_partitions))
    forgotten_topics_data: list[ForgottenTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("forgotten_topics_data", count)
    forgotten_topics_data = []
    for _ in range(count):
        forgotten_topic_partitions: list[int]
        forgotten_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        forgotten_topic_topic_id = uuid_of(forgotten_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("forgotten_topic_partitions", count)
        forgotten_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        forgotten_topics_data.append(ForgottenTopic(topic_id=forgotten_topic_topic_id, partitions=forgotten_topic_partitions))
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("rack_id", stop - position)
    rack_id = str(buffer[position:stop], "utf-8")
    position = stop
    cluster_id: str | None = None
    replica_state: ReplicaState | None = None
    tags = buffer[position]
    position += 1
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of FetchRequest", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_fetch_request = position + size
            if after_tag_of_fetch_request > end:
                raise bad_length("A tagged field of FetchRequest", size)
            if tag == 0:
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("cluster_id", stop - position)
                    cluster_id = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    cluster_id = None
            elif tag == 1:
                replica_state_replica_id, replica_state_replica_epoch, tags = _unpack_iqB(buffer, position)
                position += 13
                if tags:
                    position = skip_tags(buffer, position, tags)
                replica_state = ReplicaState(replica_id=replica_state_replica_id, replica_epoch=replica_state_replica_epoch)
            else:
                position = after_tag_of_fetch_request
            if position != after_tag_of_fetch_request:
                raise bad_length("A tagged field of FetchRequest", size)
    return FetchRequest(cluster_id=cluster_id, replica_state=replica_state, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, session_id=session_id, session_epoch=session_epoch, topics=topics, forgotten_topics_data=forgotten_topics_data, rack_id=rack_id)


def _decode_18(buffer: memoryview, position: int) -> FetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[FetchTopic]
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, count = _unpack_iiibiiB(buffer, position)
    position += 22
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        fetch_topic_partitions: list[FetchPartition]
        fetch_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        fetch_topic_topic_id = uuid_of(fetch_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 33 <= end - position or room < 0:
            raise bad_length("fetch_topic_partitions", count)
        fetch_topic_partitions = []
        for _ in range(count):
            fetch_partition_replica_directory_id: UUID = ZERO_UUID
            fetch_partition_high_watermark: int = 9223372036854775807
            fetch_partition_partition, fetch_partition_current_leader_epoch, fetch_partition_fetch_offset, fetch_partition_last_fetched_epoch, fetch_partition_log_start_offset, fetch_partition_partition_max_bytes, tags = _unpack_iiqiqiB(buffer, position)
            position += 33
            if tags:
                if tags > MOST_TAGS:
                    raise bad_length("The tagged fields of FetchPartition", tags)
                for _ in range(tags):
                    tag, position = read_uvarint(buffer, position)
                    size, position = read_uvarint(buffer, position)
                    after_tag_of_fetch_partition = position + size
                    if after_tag_of_fetch_partition > end:
                        raise bad_length("A tagged field of FetchPartition", size)
                    if tag == 0:
                        (fetch_partition_replica_directory_id,) = _unpack_u(buffer, position)
                        position += 16
                        fetch_partition_replica_directory_id = uuid_of(fetch_partition_replica_directory_id)
                    elif tag == 1:
                        (fetch_partition_high_watermark,) = _unpack_q(buffer, position)
                        position += 8
                    else:
                        position = after_tag_of_fetch_partition
                    if position != after_tag_of_fetch_partition:
                        raise bad_length("A tagged field of FetchPartition", size)
            fetch_topic_partitions.append(FetchPartition(partition=fetch_partition_partition, current_leader_epoch=fetch_partition_current_leader_epoch, fetch_offset=fetch_partition_fetch_offset, last_fetched_epoch=fetch_partition_last_fetched_epoch, log_start_offset=fetch_partition_log_start_offset, partition_max_bytes=fetch_partition_partition_max_bytes, replica_directory_id=fetch_partition_replica_directory_id, high_watermark=fetch_partition_high_watermark))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(FetchTopic(topic_id=fetch_topic_topic_id, partitions=fetch_topic_partitions))
    forgotten_topics_data: list[ForgottenTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("forgotten_topics_data", count)
    forgotten_topics_data = []
    for _ in range(count):
        forgotten_topic_partitions: list[int]
        forgotten_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        forgotten_topic_topic_id = uuid_of(forgotten_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("forgotten_topic_partitions", count)
        forgotten_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        forgotten_topics_data.append(ForgottenTopic(topic_id=forgotten_topic_topic_id, partitions=forgotten_topic_partitions))
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("rack_id", stop - position)
    rack_id = str(buffer[position:stop], "utf-8")
    position = stop
    cluster_id: str | None = None
    replica_state: ReplicaState | None = None
    tags = buffer[position]
    position += 1
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of FetchRequest", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_fetch_request = position + size
            if after_tag_of_fetch_request > end:
                raise bad_length("A tagged field of FetchRequest", size)
            if tag == 0:
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("cluster_id", stop - position)
                    cluster_id = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    cluster_id = None
            elif tag == 1:
                replica_state_replica_id, replica_state_replica_epoch, tags = _unpack_iqB(buffer, position)
                position += 13
                if tags:
                    position = skip_tags(buffer, position, tags)
                replica_state = ReplicaState(replica_id=replica_state_replica_id, replica_epoch=replica_state_replica_epoch)
            else:
                position = after_tag_of_fetch_request
            if position != after_tag_of_fetch_request:
                raise bad_length("A tagged field of FetchRequest", size)
    return FetchRequest(cluster_id=cluster_id, replica_state=replica_state, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, isolation_level=isolation_level, session_id=session_id, session_epoch=session_epoch, topics=topics, forgotten_topics_data=forgotten_topics_data, rack_id=rack_id)


def _encode_4(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiiibi(message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, len(message.topics))
    for fetch_topic in message.topics:
        raw = fetch_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetch_topic.partitions))
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iqi(fetch_partition.partition, fetch_partition.fetch_offset, fetch_partition.partition_max_bytes)
    return [out]


def _encode_5(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiiibi(message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, len(message.topics))
    for fetch_topic in message.topics:
        raw = fetch_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetch_topic.partitions))
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iqqi(fetch_partition.partition, fetch_partition.fetch_offset, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes)
    return [out]


def _encode_7(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiiibiii(message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, len(message.topics))
    for fetch_topic in message.topics:
        raw = fetch_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetch_topic.partitions))
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iqqi(fetch_partition.partition, fetch_partition.fetch_offset, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes)
    out += _pack_i(len(message.forgotten_topics_data))
    for forgotten_topic in message.forgotten_topics_data:
        raw = forgotten_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(forgotten_topic.partitions))
        out += struct.pack(f">{len(forgotten_topic.partitions)}i", *forgotten_topic.partitions)
    return [out]


def _encode_9(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiiibiii(message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, len(message.topics))
    for fetch_topic in message.topics:
        raw = fetch_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetch_topic.partitions))
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iiqqi(fetch_partition.partition, fetch_partition.current_leader_epoch, fetch_partition.fetch_offset, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes)
    out += _pack_i(len(message.forgotten_topics_data))
    for forgotten_topic in message.forgotten_topics_data:
        raw = forgotten_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(forgotten_topic.partitions))
        out += struct.pack(f">{len(forgotten_topic.partitions)}i", *forgotten_topic.partitions)
    return [out]


def _encode_11(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiiibiii(message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, len(message.topics))
    for fetch_topic in message.topics:
        raw = fetch_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetch_topic.partitions))
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iiqqi(fetch_partition.partition, fetch_partition.current_leader_epoch, fetch_partition.fetch_offset, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes)
    out += _pack_i(len(message.forgotten_topics_data))
    for forgotten_topic in message.forgotten_topics_data:
        raw = forgotten_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(forgotten_topic.partitions))
        out += struct.pack(f">{len(forgotten_topic.partitions)}i", *forgotten_topic.partitions)
    raw = message.rack_id.encode()
    out += _pack_h(len(raw))
    out += raw
    return [out]


def _encode_12(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiiibii(message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for fetch_topic in message.topics:
        raw = fetch_topic.topic.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(fetch_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iiqiqiB(fetch_partition.partition, fetch_partition.current_leader_epoch, fetch_partition.fetch_offset, fetch_partition.last_fetched_epoch, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes, 0)
        out.append(0)
    size = len(message.forgotten_topics_data) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for forgotten_topic in message.forgotten_topics_data:
        raw = forgotten_topic.topic.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(forgotten_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(forgotten_topic.partitions)}i", *forgotten_topic.partitions)
        out.append(0)
    raw = message.rack_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    tags = (message.cluster_id is not None)
    out.append(tags)
    if tags:
        if message.cluster_id is not None:
            around_fetch_request, out = out, bytearray()
            if message.cluster_id is None:
                out.append(0)
            else:
                raw = message.cluster_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            around_fetch_request.append(0)
            around_fetch_request += uvarint(len(out))
            around_fetch_request += out
            out = around_fetch_request
    return [out]


def _encode_13(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiiibii(message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for fetch_topic in message.topics:
        out += _pack_u(fetch_topic.topic_id.bytes)
        size = len(fetch_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iiqiqiB(fetch_partition.partition, fetch_partition.current_leader_epoch, fetch_partition.fetch_offset, fetch_partition.last_fetched_epoch, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes, 0)
        out.append(0)
    size = len(message.forgotten_topics_data) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for forgotten_topic in message.forgotten_topics_data:
        out += _pack_u(forgotten_topic.topic_id.bytes)
        size = len(forgotten_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(forgotten_topic.partitions)}i", *forgotten_topic.partitions)
        out.append(0)
    raw = message.rack_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    tags = (message.cluster_id is not None)
    out.append(tags)
    if tags:
        if message.cluster_id is not None:
            around_fetch_request, out = out, bytearray()
            if message.cluster_id is None:
                out.append(0)
            else:
                raw = message.cluster_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            around_fetch_request.append(0)
            around_fetch_request += uvarint(len(out))
            around_fetch_request += out
            out = around_fetch_request
    return [out]


def _encode_15(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiibii(message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for fetch_topic in message.topics:
        out += _pack_u(fetch_topic.topic_id.bytes)
        size = len(fetch_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iiqiqiB(fetch_partition.partition, fetch_partition.current_leader_epoch, fetch_partition.fetch_offset, fetch_partition.last_fetched_epoch, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes, 0)
        out.append(0)
    size = len(message.forgotten_topics_data) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for forgotten_topic in message.forgotten_topics_data:
        out += _pack_u(forgotten_topic.topic_id.bytes)
        size = len(forgotten_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(forgotten_topic.partitions)}i", *forgotten_topic.partitions)
        out.append(0)
    raw = message.rack_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    tags = (message.cluster_id is not None) + (message.replica_state is not None)
    out.append(tags)
    if tags:
        if message.cluster_id is not None:
            around_fetch_request, out = out, bytearray()
            if message.cluster_id is None:
                out.append(0)
            else:
                raw = message.cluster_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            around_fetch_request.append(0)
            around_fetch_request += uvarint(len(out))
            around_fetch_request += out
            out = around_fetch_request
        if message.replica_state is not None:
            around_fetch_request, out = out, bytearray()
            replica_state = message.replica_state
            out += _pack_iqB(replica_state.replica_id, replica_state.replica_epoch, 0)
            around_fetch_request.append(1)
            around_fetch_request += uvarint(len(out))
            around_fetch_request += out
            out = around_fetch_request
    return [out]


def _encode_17(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiibii(message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for fetch_topic in message.topics:
        out += _pack_u(fetch_topic.topic_id.bytes)
        size = len(fetch_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iiqiqi(fetch_partition.partition, fetch_partition.current_leader_epoch, fetch_partition.fetch_offset, fetch_partition.last_fetched_epoch, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes)
            tags = (fetch_partition.replica_directory_id != ZERO_UUID)
            out.append(tags)
            if tags:
                if fetch_partition.replica_directory_id != ZERO_UUID:
                    around_fetch_partition, out = out, bytearray()
                    out += _pack_u(fetch_partition.replica_directory_id.bytes)
                    around_fetch_partition.append(0)
                    around_fetch_partition += uvarint(len(out))
                    around_fetch_partition += out
                    out = around_fetch_partition
        out.append(0)
    size = len(message.forgotten_topics_data) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for forgotten_topic in message.forgotten_topics_data:
        out += _pack_u(forgotten_topic.topic_id.bytes)
        size = len(forgotten_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(forgotten_topic.partitions)}i", *forgotten_topic.partitions)
        out.append(0)
    raw = message.rack_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    tags = (message.cluster_id is not None) + (message.replica_state is not None)
    out.append(tags)
    if tags:
        if message.cluster_id is not None:
            around_fetch_request, out = out, bytearray()
            if message.cluster_id is None:
                out.append(0)
            else:
                raw = message.cluster_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            around_fetch_request.append(0)
            around_fetch_request += uvarint(len(out))
            around_fetch_request += out
            out = around_fetch_request
        if message.replica_state is not None:
            around_fetch_request, out = out, bytearray()
            replica_state = message.replica_state
            out += _pack_iqB(replica_state.replica_id, replica_state.replica_epoch, 0)
            around_fetch_request.append(1)
            around_fetch_request += uvarint(len(out))
            around_fetch_request += out
            out = around_fetch_request
    return [out]


def _encode_18(message: FetchRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_iiibii(message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for fetch_topic in message.topics:
        out += _pack_u(fetch_topic.topic_id.bytes)
        size = len(fetch_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for fetch_partition in fetch_topic.partitions:
            out += _pack_iiqiqi(fetch_partition.partition, fetch_partition.current_leader_epoch, fetch_partition.fetch_offset, fetch_partition.last_fetched_epoch, fetch_partition.log_start_offset, fetch_partition.partition_max_bytes)
            tags = (fetch_partition.replica_directory_id != ZERO_UUID) + (fetch_partition.high_watermark != 9223372036854775807)
            out.append(tags)
            if tags:
                if fetch_partition.replica_directory_id != ZERO_UUID:
                    around_fetch_partition, out = out, bytearray()
                    out += _pack_u(fetch_partition.replica_directory_id.bytes)
                    around_fetch_partition.append(0)
                    around_fetch_partition += uvarint(len(out))
                    around_fetch_partition += out
                    out = around_fetch_partition
                if fetch_partition.high_watermark != 9223372036854775807:
                    around_fetch_partition, out = out, bytearray()
                    out += _pack_q(fetch_partition.high_watermark)
                    around_fetch_partition.append(1)
                    around_fetch_partition += uvarint(len(out))
                    around_fetch_partition += out
                    out = around_fetch_partition
        out.append(0)
    size = len(message.forgotten_topics_data) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for forgotten_topic in message.forgotten_topics_data:
        out += _pack_u(forgotten_topic.topic_id.bytes)
        size = len(forgotten_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(forgotten_topic.partitions)}i", *forgotten_topic.partitions)
        out.append(0)
    raw = message.rack_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    tags = (message.cluster_id is not None) + (message.replica_state is not None)
    out.append(tags)
    if tags:
        if message.cluster_id is not None:
            around_fetch_request, out = out, bytearray()
            if message.cluster_id is None:
                out.append(0)
            else:
                raw = message.cluster_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            around_fetch_request.append(0)
            around_fetch_request += uvarint(len(out))
            around_fetch_request += out
            out = around_fetch_request
        if message.replica_state is not None:
            around_fetch_request, out = out, bytearray()
            replica_state = message.replica_state
            out += _pack_iqB(replica_state.replica_id, replica_state.replica_epoch, 0)
            around_fetch_request.append(1)
            around_fetch_request += uvarint(len(out))
            around_fetch_request += out
            out = around_fetch_request
    return [out]


_DECODERS = {4: _decode_4, 5: _decode_5, 6: _decode_5, 7: _decode_7, 8: _decode_7, 9: _decode_9, 10: _decode_9, 11: _decode_11, 12: _decode_12, 13: _decode_13, 14: _decode_13, 15: _decode_15, 16: _decode_15, 17: _decode_17, 18: _decode_18}
_ENCODERS = {4: _encode_4, 5: _encode_5, 6: _encode_5, 7: _encode_7, 8: _encode_7, 9: _encode_9, 10: _encode_9, 11: _encode_11, 12: _encode_12, 13: _encode_13, 14: _encode_13, 15: _encode_15, 16: _encode_15, 17: _encode_17, 18: _encode_18}


def decode(version: int, buffer: Buffer, position: int = 0) -> FetchRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"FetchRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No FetchRequest of version {version}: {error}") from error


def encode(version: int, message: FetchRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
