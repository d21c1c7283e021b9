# Written by tools/generate_codecs.py from DescribeQuorumResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class ReplicaState:
    replica_id: int = 0
    replica_directory_id: UUID = ZERO_UUID
    log_end_offset: int = 0
    last_fetch_timestamp: int = -1
    last_caught_up_timestamp: int = -1


@dataclass(slots=True)
class PartitionData:
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = ''
    leader_id: int = 0
    leader_epoch: int = 0
    high_watermark: int = 0
    current_voters: list[ReplicaState] = field(default_factory=list)
    observers: list[ReplicaState] = field(default_factory=list)


@dataclass(slots=True)
class TopicData:
    topic_name: str = ''
    partitions: list[PartitionData] = field(default_factory=list)


@dataclass(slots=True)
class Listener:
    name: str = ''
    host: str = ''
    port: int = 0


@dataclass(slots=True)
class Node:
    node_id: int = 0
    listeners: list[Listener] = field(default_factory=list)


@dataclass(slots=True)
class DescribeQuorumResponse:
    error_code: int = 0
    error_message: str | None = ''
    topics: list[TopicData] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)


_unpack_HB = Struct(">HB").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ihiiqB = Struct(">ihiiqB").unpack_from
_unpack_iiqB = Struct(">iiqB").unpack_from
_unpack_iqB = Struct(">iqB").unpack_from
_unpack_iqqqB = Struct(">iqqqB").unpack_from
_unpack_iuqqqB = Struct(">i16sqqqB").unpack_from
_pack_HB = Struct(">HB").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihiiq = Struct(">ihiiq").pack
_pack_iiq = Struct(">iiq").pack
_pack_iqB = Struct(">iqB").pack
_pack_iqqqB = Struct(">iqqqB").pack
_pack_iuqqqB = Struct(">i16sqqqB").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeQuorumResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[TopicData]
    error_code, count = _unpack_hB(buffer, position)
    position += 3
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
            raise bad_length("topic_data_topic_name", stop - position)
        topic_data_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_data_partitions: list[PartitionData]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 25 <= end - position or room < 0:
            raise bad_length("topic_data_partitions", count)
        topic_data_partitions = []
        for _ in range(count):
            partition_data_current_voters: list[ReplicaState]
            partition_data_partition_index, partition_data_error_code, partition_data_leader_id, partition_data_leader_epoch, partition_data_high_watermark, count = _unpack_ihiiqB(buffer, position)
            position += 23
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 13 <= end - position or room < 0:
                raise bad_length("partition_data_current_voters", count)
            partition_data_current_voters = []
            for _ in range(count):
                replica_state_replica_id, replica_state_log_end_offset, tags = _unpack_iqB(buffer, position)
                position += 13
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_data_current_voters.append(ReplicaState(replica_id=replica_state_replica_id, log_end_offset=replica_state_log_end_offset))
            partition_data_observers: list[ReplicaState]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 13 <= end - position or room < 0:
                raise bad_length("partition_data_observers", count)
            partition_data_observers = []
            for _ in range(count):
                replica_state_replica_id, replica_state_log_end_offset, tags = _unpack_iqB(buffer, position)
                position += 13
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_data_observers.append(ReplicaState(replica_id=replica_state_replica_id, log_end_offset=replica_state_log_end_offset))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_data_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, leader_id=partition_data_leader_id, leader_epoch=partition_data_leader_epoch, high_watermark=partition_data_high_watermark, current_voters=partition_data_current_voters, observers=partition_data_observers))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TopicData(topic_name=topic_data_topic_name, partitions=topic_data_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeQuorumResponse(error_code=error_code, topics=topics)


def _decode_1(buffer: memoryview, position: int) -> DescribeQuorumResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[TopicData]
    error_code, count = _unpack_hB(buffer, position)
    position += 3
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
            raise bad_length("topic_data_topic_name", stop - position)
        topic_data_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_data_partitions: list[PartitionData]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 25 <= end - position or room < 0:
            raise bad_length("topic_data_partitions", count)
        topic_data_partitions = []
        for _ in range(count):
            partition_data_current_voters: list[ReplicaState]
            partition_data_partition_index, partition_data_error_code, partition_data_leader_id, partition_data_leader_epoch, partition_data_high_watermark, count = _unpack_ihiiqB(buffer, position)
            position += 23
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 29 <= end - position or room < 0:
                raise bad_length("partition_data_current_voters", count)
            partition_data_current_voters = []
            for _ in range(count):
                replica_state_replica_id, replica_state_log_end_offset, replica_state_last_fetch_timestamp, replica_state_last_caught_up_timestamp, tags = _unpack_iqqqB(buffer, position)
                position += 29
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_data_current_voters.append(ReplicaState(replica_id=replica_state_replica_id, log_end_offset=replica_state_log_end_offset, last_fetch_timestamp=replica_state_last_fetch_timestamp, last_caught_up_timestamp=replica_state_last_caught_up_timestamp))
            partition_data_observers: list[ReplicaState]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 29 <= end - position or room < 0:
                raise bad_length("partition_data_observers", count)
            partition_data_observers = []
            for _ in range(count):
                replica_state_replica_id, replica_state_log_end_offset, replica_state_last_fetch_timestamp, replica_state_last_caught_up_timestamp, tags = _unpack_iqqqB(buffer, position)
                position += 29
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_data_observers.append(ReplicaState(replica_id=replica_state_replica_id, log_end_offset=replica_state_log_end_offset, last_fetch_timestamp=replica_state_last_fetch_timestamp, last_caught_up_timestamp=replica_state_last_caught_up_timestamp))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_data_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, leader_id=partition_data_leader_id, leader_epoch=partition_data_leader_epoch, high_watermark=partition_data_high_watermark, current_voters=partition_data_current_voters, observers=partition_data_observers))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TopicData(topic_name=topic_data_topic_name, partitions=topic_data_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeQuorumResponse(error_code=error_code, topics=topics)


def _decode_2(buffer: memoryview, position: int) -> DescribeQuorumResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_message: str | None
    error_code, length = _unpack_hB(buffer, position)
    position += 3
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("error_message", stop - position)
        error_message = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        error_message = None
    topics: list[TopicData]
    count = buffer[position]
    position += 1
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
            raise bad_length("topic_data_topic_name", stop - position)
        topic_data_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_data_partitions: list[PartitionData]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 26 <= end - position or room < 0:
            raise bad_length("topic_data_partitions", count)
        topic_data_partitions = []
        for _ in range(count):
            partition_data_error_message: str | None
            partition_data_partition_index, partition_data_error_code, length = _unpack_ihB(buffer, position)
            position += 7
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_data_error_message", stop - position)
                partition_data_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                partition_data_error_message = None
            partition_data_current_voters: list[ReplicaState]
            partition_data_leader_id, partition_data_leader_epoch, partition_data_high_watermark, count = _unpack_iiqB(buffer, position)
            position += 17
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 45 <= end - position or room < 0:
                raise bad_length("partition_data_current_voters", count)
            partition_data_current_voters = []
            for _ in range(count):
                replica_state_replica_id, replica_state_replica_directory_id, replica_state_log_end_offset, replica_state_last_fetch_timestamp, replica_state_last_caught_up_timestamp, tags = _unpack_iuqqqB(buffer, position)
                position += 45
                replica_state_replica_directory_id = uuid_of(replica_state_replica_directory_id)
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_data_current_voters.append(ReplicaState(replica_id=replica_state_replica_id, replica_directory_id=replica_state_replica_directory_id, log_end_offset=replica_state_log_end_offset, last_fetch_timestamp=replica_state_last_fetch_timestamp, last_caught_up_timestamp=replica_state_last_caught_up_timestamp))
            partition_data_observers: list[ReplicaState]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 45 <= end - position or room < 0:
                raise bad_length("partition_data_observers", count)
            partition_data_observers = []
            for _ in range(count):
                replica_state_replica_id, replica_state_replica_directory_id, replica_state_log_end_offset, replica_state_last_fetch_timestamp, replica_state_last_caught_up_timestamp, tags = _unpack_iuqqqB(buffer, position)
                position += 45
                replica_state_replica_directory_id = uuid_of(replica_state_replica_directory_id)
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_data_observers.append(ReplicaState(replica_id=replica_state_replica_id, replica_directory_id=replica_state_replica_directory_id, log_end_offset=replica_state_log_end_offset, last_fetch_timestamp=replica_state_last_fetch_timestamp, last_caught_up_timestamp=replica_state_last_caught_up_timestamp))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_data_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, error_message=partition_data_error_message, leader_id=partition_data_leader_id, leader_epoch=partition_data_leader_epoch, high_watermark=partition_data_high_watermark, current_voters=partition_data_current_voters, observers=partition_data_observers))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TopicData(topic_name=topic_data_topic_name, partitions=topic_data_partitions))
    nodes: list[Node]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("nodes", count)
    nodes = []
    for _ in range(count):
        node_listeners: list[Listener]
        node_node_id, count = _unpack_iB(buffer, position)
        position += 5
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 5 <= end - position or room < 0:
            raise bad_length("node_listeners", count)
        node_listeners = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("listener_name", stop - position)
            listener_name = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("listener_host", stop - position)
            listener_host = str(buffer[position:stop], "utf-8")
            position = stop
            listener_port, tags = _unpack_HB(buffer, position)
            position += 3
            if tags:
                position = skip_tags(buffer, position, tags)
            node_listeners.append(Listener(name=listener_name, host=listener_host, port=listener_port))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        nodes.append(Node(node_id=node_node_id, listeners=node_listeners))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeQuorumResponse(error_code=error_code, error_message=error_message, topics=topics, nodes=nodes)


def _encode_0(message: DescribeQuorumResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_h(message.error_code)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_data in message.topics:
        raw = topic_data.topic_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(topic_data.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_data in topic_data.partitions:
            out += _pack_ihiiq(partition_data.partition_index, partition_data.error_code, partition_data.leader_id, partition_data.leader_epoch, partition_data.high_watermark)
            size = len(partition_data.current_voters) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for replica_state in partition_data.current_voters:
                out += _pack_iqB(replica_state.replica_id, replica_state.log_end_offset, 0)
            size = len(partition_data.observers) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for replica_state in partition_data.observers:
                out += _pack_iqB(replica_state.replica_id, replica_state.log_end_offset, 0)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_1(message: DescribeQuorumResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_h(message.error_code)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_data in message.topics:
        raw = topic_data.topic_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(topic_data.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_data in topic_data.partitions:
            out += _pack_ihiiq(partition_data.partition_index, partition_data.error_code, partition_data.leader_id, partition_data.leader_epoch, partition_data.high_watermark)
            size = len(partition_data.current_voters) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for replica_state in partition_data.current_voters:
                out += _pack_iqqqB(replica_state.replica_id, replica_state.log_end_offset, replica_state.last_fetch_timestamp, replica_state.last_caught_up_timestamp, 0)
            size = len(partition_data.observers) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for replica_state in partition_data.observers:
                out += _pack_iqqqB(replica_state.replica_id, replica_state.log_end_offset, replica_state.last_fetch_timestamp, replica_state.last_caught_up_timestamp, 0)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_2(message: DescribeQuorumResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_h(message.error_code)
    if message.error_message is None:
        out.append(0)
    else:
        raw = message.error_message.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_data in message.topics:
        raw = topic_data.topic_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(topic_data.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_data in topic_data.partitions:
            out += _pack_ih(partition_data.partition_index, partition_data.error_code)
            if partition_data.error_message is None:
                out.append(0)
            else:
                raw = partition_data.error_message.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out += _pack_iiq(partition_data.leader_id, partition_data.leader_epoch, partition_data.high_watermark)
            size = len(partition_data.current_voters) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for replica_state in partition_data.current_voters:
                out += _pack_iuqqqB(replica_state.replica_id, replica_state.replica_directory_id.bytes, replica_state.log_end_offset, replica_state.last_fetch_timestamp, replica_state.last_caught_up_timestamp, 0)
            size = len(partition_data.observers) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for replica_state in partition_data.observers:
                out += _pack_iuqqqB(replica_state.replica_id, replica_state.replica_directory_id.bytes, replica_state.log_end_offset, replica_state.last_fetch_timestamp, replica_state.last_caught_up_timestamp, 0)
            out.append(0)
        out.append(0)
    size = len(message.nodes) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for node in message.nodes:
        out += _pack_i(node.node_id)
        size = len(node.listeners) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for listener in node.listeners:
            raw = listener.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = listener.host.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            out += _pack_HB(listener.port, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeQuorumResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeQuorumResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeQuorumResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeQuorumResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
