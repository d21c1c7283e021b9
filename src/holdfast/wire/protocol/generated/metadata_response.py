# Written by tools/generate_codecs.py from MetadataResponse.json in kafka-clients-4.1.1: do not edit.
import struct
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
class MetadataResponseBroker:
    node_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None


@dataclass(slots=True)
class MetadataResponsePartition:
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1
    replica_nodes: list[int] = field(default_factory=list)
    isr_nodes: list[int] = field(default_factory=list)
    offline_replicas: list[int] = field(default_factory=list)


@dataclass(slots=True)
class MetadataResponseTopic:
    error_code: int = 0
    name: str | None = ''
    topic_id: UUID = ZERO_UUID
    is_internal: bool = False
    partitions: list[MetadataResponsePartition] = field(default_factory=list)
    topic_authorized_operations: int = -2147483648


@dataclass(slots=True)
class MetadataResponse:
    throttle_time_ms: int = 0
    brokers: list[MetadataResponseBroker] = field(default_factory=list)
    cluster_id: str | None = None
    controller_id: int = -1
    topics: list[MetadataResponseTopic] = field(default_factory=list)
    cluster_authorized_operations: int = -2147483648
    error_code: int = 0


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_hiii = Struct(">hiii").unpack_from
_unpack_hiiiB = Struct(">hiiiB").unpack_from
_unpack_hiiii = Struct(">hiiii").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_unpack_ti = Struct(">?i").unpack_from
_unpack_utB = Struct(">16s?B").unpack_from
_pack_h = Struct(">h").pack
_pack_hB = Struct(">hB").pack
_pack_hh = Struct(">hh").pack
_pack_hiii = Struct(">hiii").pack
_pack_hiiii = Struct(">hiiii").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_t = Struct(">?").pack
_pack_ti = Struct(">?i").pack
_pack_ut = Struct(">16s?").pack


def _decode_0(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 10 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_ih(buffer, position)
        position += 6
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        (metadata_response_broker_port,) = _unpack_i(buffer, position)
        position += 4
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port))
    topics: list[MetadataResponseTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, count = _unpack_hiii(buffer, position)
            position += 14
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes))
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, partitions=metadata_response_topic_partitions))
    return MetadataResponse(brokers=brokers, topics=topics)


def _decode_1(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_ih(buffer, position)
        position += 6
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_ih(buffer, position)
        position += 6
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 9 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_is_internal, count = _unpack_ti(buffer, position)
        position += 5
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, count = _unpack_hiii(buffer, position)
            position += 14
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes))
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions))
    return MetadataResponse(brokers=brokers, controller_id=controller_id, topics=topics)


def _decode_2(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_ih(buffer, position)
        position += 6
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_ih(buffer, position)
        position += 6
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("cluster_id", stop - position)
        cluster_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        cluster_id = None
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 9 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_is_internal, count = _unpack_ti(buffer, position)
        position += 5
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, count = _unpack_hiii(buffer, position)
            position += 14
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes))
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions))
    return MetadataResponse(brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics)


def _decode_3(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_ih(buffer, position)
        position += 6
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_ih(buffer, position)
        position += 6
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("cluster_id", stop - position)
        cluster_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        cluster_id = None
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 9 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_is_internal, count = _unpack_ti(buffer, position)
        position += 5
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, count = _unpack_hiii(buffer, position)
            position += 14
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes))
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions))
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics)


def _decode_5(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_ih(buffer, position)
        position += 6
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_ih(buffer, position)
        position += 6
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("cluster_id", stop - position)
        cluster_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        cluster_id = None
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 9 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_is_internal, count = _unpack_ti(buffer, position)
        position += 5
        room -= count
        if not 0 <= count * 22 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, count = _unpack_hiii(buffer, position)
            position += 14
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_offline_replicas: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_offline_replicas", count)
            metadata_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes, offline_replicas=metadata_response_partition_offline_replicas))
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions))
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics)


def _decode_7(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_ih(buffer, position)
        position += 6
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_ih(buffer, position)
        position += 6
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("cluster_id", stop - position)
        cluster_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        cluster_id = None
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 9 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_is_internal, count = _unpack_ti(buffer, position)
        position += 5
        room -= count
        if not 0 <= count * 26 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, metadata_response_partition_leader_epoch, count = _unpack_hiiii(buffer, position)
            position += 18
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_offline_replicas: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_offline_replicas", count)
            metadata_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, leader_epoch=metadata_response_partition_leader_epoch, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes, offline_replicas=metadata_response_partition_offline_replicas))
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions))
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics)


def _decode_8(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_ih(buffer, position)
        position += 6
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_ih(buffer, position)
        position += 6
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("cluster_id", stop - position)
        cluster_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        cluster_id = None
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 13 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_is_internal, count = _unpack_ti(buffer, position)
        position += 5
        room -= count
        if not 0 <= count * 26 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, metadata_response_partition_leader_epoch, count = _unpack_hiiii(buffer, position)
            position += 18
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_offline_replicas: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_offline_replicas", count)
            metadata_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, leader_epoch=metadata_response_partition_leader_epoch, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes, offline_replicas=metadata_response_partition_offline_replicas))
        (metadata_response_topic_topic_authorized_operations,) = _unpack_i(buffer, position)
        position += 4
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions, topic_authorized_operations=metadata_response_topic_topic_authorized_operations))
    (cluster_authorized_operations,) = _unpack_i(buffer, position)
    position += 4
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics, cluster_authorized_operations=cluster_authorized_operations)


def _decode_9(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
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
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 10 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_is_internal, count = _unpack_tB(buffer, position)
        position += 2
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, metadata_response_partition_leader_epoch, count = _unpack_hiiiB(buffer, position)
            position += 15
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_offline_replicas: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_offline_replicas", count)
            metadata_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, leader_epoch=metadata_response_partition_leader_epoch, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes, offline_replicas=metadata_response_partition_offline_replicas))
        metadata_response_topic_topic_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions, topic_authorized_operations=metadata_response_topic_topic_authorized_operations))
    cluster_authorized_operations, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics, cluster_authorized_operations=cluster_authorized_operations)


def _decode_10(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
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
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 26 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_topic_id, metadata_response_topic_is_internal, count = _unpack_utB(buffer, position)
        position += 18
        metadata_response_topic_topic_id = uuid_of(metadata_response_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, metadata_response_partition_leader_epoch, count = _unpack_hiiiB(buffer, position)
            position += 15
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_offline_replicas: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_offline_replicas", count)
            metadata_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, leader_epoch=metadata_response_partition_leader_epoch, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes, offline_replicas=metadata_response_partition_offline_replicas))
        metadata_response_topic_topic_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, topic_id=metadata_response_topic_topic_id, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions, topic_authorized_operations=metadata_response_topic_topic_authorized_operations))
    cluster_authorized_operations, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics, cluster_authorized_operations=cluster_authorized_operations)


def _decode_11(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
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
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 26 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("metadata_response_topic_name", stop - position)
        metadata_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_topic_id, metadata_response_topic_is_internal, count = _unpack_utB(buffer, position)
        position += 18
        metadata_response_topic_topic_id = uuid_of(metadata_response_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, metadata_response_partition_leader_epoch, count = _unpack_hiiiB(buffer, position)
            position += 15
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_offline_replicas: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_offline_replicas", count)
            metadata_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, leader_epoch=metadata_response_partition_leader_epoch, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes, offline_replicas=metadata_response_partition_offline_replicas))
        metadata_response_topic_topic_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, topic_id=metadata_response_topic_topic_id, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions, topic_authorized_operations=metadata_response_topic_topic_authorized_operations))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics)


def _decode_12(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
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
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 26 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("metadata_response_topic_name", stop - position)
            metadata_response_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_topic_name = None
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_topic_id, metadata_response_topic_is_internal, count = _unpack_utB(buffer, position)
        position += 18
        metadata_response_topic_topic_id = uuid_of(metadata_response_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, metadata_response_partition_leader_epoch, count = _unpack_hiiiB(buffer, position)
            position += 15
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_offline_replicas: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_offline_replicas", count)
            metadata_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, leader_epoch=metadata_response_partition_leader_epoch, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes, offline_replicas=metadata_response_partition_offline_replicas))
        metadata_response_topic_topic_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, topic_id=metadata_response_topic_topic_id, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions, topic_authorized_operations=metadata_response_topic_topic_authorized_operations))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics)


def _decode_13(buffer: memoryview, position: int) -> MetadataResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    brokers: list[MetadataResponseBroker]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        metadata_response_broker_node_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("metadata_response_broker_host", stop - position)
        metadata_response_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        metadata_response_broker_rack: str | None
        metadata_response_broker_port, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("metadata_response_broker_rack", stop - position)
            metadata_response_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_broker_rack = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        brokers.append(MetadataResponseBroker(node_id=metadata_response_broker_node_id, host=metadata_response_broker_host, port=metadata_response_broker_port, rack=metadata_response_broker_rack))
    cluster_id: str | None
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
    topics: list[MetadataResponseTopic]
    controller_id, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 26 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_response_topic_name: str | None
        metadata_response_topic_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("metadata_response_topic_name", stop - position)
            metadata_response_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            metadata_response_topic_name = None
        metadata_response_topic_partitions: list[MetadataResponsePartition]
        metadata_response_topic_topic_id, metadata_response_topic_is_internal, count = _unpack_utB(buffer, position)
        position += 18
        metadata_response_topic_topic_id = uuid_of(metadata_response_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("metadata_response_topic_partitions", count)
        metadata_response_topic_partitions = []
        for _ in range(count):
            metadata_response_partition_replica_nodes: list[int]
            metadata_response_partition_error_code, metadata_response_partition_partition_index, metadata_response_partition_leader_id, metadata_response_partition_leader_epoch, count = _unpack_hiiiB(buffer, position)
            position += 15
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_replica_nodes", count)
            metadata_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_isr_nodes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_isr_nodes", count)
            metadata_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            metadata_response_partition_offline_replicas: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("metadata_response_partition_offline_replicas", count)
            metadata_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            metadata_response_topic_partitions.append(MetadataResponsePartition(error_code=metadata_response_partition_error_code, partition_index=metadata_response_partition_partition_index, leader_id=metadata_response_partition_leader_id, leader_epoch=metadata_response_partition_leader_epoch, replica_nodes=metadata_response_partition_replica_nodes, isr_nodes=metadata_response_partition_isr_nodes, offline_replicas=metadata_response_partition_offline_replicas))
        metadata_response_topic_topic_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(MetadataResponseTopic(error_code=metadata_response_topic_error_code, name=metadata_response_topic_name, topic_id=metadata_response_topic_topic_id, is_internal=metadata_response_topic_is_internal, partitions=metadata_response_topic_partitions, topic_authorized_operations=metadata_response_topic_topic_authorized_operations))
    error_code, tags = _unpack_hB(buffer, position)
    position += 3
    if tags:
        position = skip_tags(buffer, position, tags)
    return MetadataResponse(throttle_time_ms=throttle_time_ms, brokers=brokers, cluster_id=cluster_id, controller_id=controller_id, topics=topics, error_code=error_code)


def _encode_0(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.brokers))
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_ih(metadata_response_broker.node_id, len(raw))
        out += raw
        out += _pack_i(metadata_response_broker.port)
    out += _pack_i(len(message.topics))
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_hh(metadata_response_topic.error_code, len(raw))
        out += raw
        out += _pack_i(len(metadata_response_topic.partitions))
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, len(metadata_response_partition.replica_nodes))
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            out += _pack_i(len(metadata_response_partition.isr_nodes))
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
    return [out]


def _encode_1(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.brokers))
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_ih(metadata_response_broker.node_id, len(raw))
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out += b"\xff\xff"
        else:
            raw = metadata_response_broker.rack.encode()
            out += _pack_h(len(raw))
            out += raw
    out += _pack_ii(message.controller_id, len(message.topics))
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_hh(metadata_response_topic.error_code, len(raw))
        out += raw
        out += _pack_ti(metadata_response_topic.is_internal, len(metadata_response_topic.partitions))
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, len(metadata_response_partition.replica_nodes))
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            out += _pack_i(len(metadata_response_partition.isr_nodes))
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
    return [out]


def _encode_2(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.brokers))
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_ih(metadata_response_broker.node_id, len(raw))
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out += b"\xff\xff"
        else:
            raw = metadata_response_broker.rack.encode()
            out += _pack_h(len(raw))
            out += raw
    if message.cluster_id is None:
        out += b"\xff\xff"
    else:
        raw = message.cluster_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_ii(message.controller_id, len(message.topics))
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_hh(metadata_response_topic.error_code, len(raw))
        out += raw
        out += _pack_ti(metadata_response_topic.is_internal, len(metadata_response_topic.partitions))
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, len(metadata_response_partition.replica_nodes))
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            out += _pack_i(len(metadata_response_partition.isr_nodes))
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
    return [out]


def _encode_3(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.brokers))
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_ih(metadata_response_broker.node_id, len(raw))
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out += b"\xff\xff"
        else:
            raw = metadata_response_broker.rack.encode()
            out += _pack_h(len(raw))
            out += raw
    if message.cluster_id is None:
        out += b"\xff\xff"
    else:
        raw = message.cluster_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_ii(message.controller_id, len(message.topics))
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_hh(metadata_response_topic.error_code, len(raw))
        out += raw
        out += _pack_ti(metadata_response_topic.is_internal, len(metadata_response_topic.partitions))
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, len(metadata_response_partition.replica_nodes))
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            out += _pack_i(len(metadata_response_partition.isr_nodes))
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
    return [out]


def _encode_5(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.brokers))
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_ih(metadata_response_broker.node_id, len(raw))
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out += b"\xff\xff"
        else:
            raw = metadata_response_broker.rack.encode()
            out += _pack_h(len(raw))
            out += raw
    if message.cluster_id is None:
        out += b"\xff\xff"
    else:
        raw = message.cluster_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_ii(message.controller_id, len(message.topics))
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_hh(metadata_response_topic.error_code, len(raw))
        out += raw
        out += _pack_ti(metadata_response_topic.is_internal, len(metadata_response_topic.partitions))
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, len(metadata_response_partition.replica_nodes))
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            out += _pack_i(len(metadata_response_partition.isr_nodes))
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
            out += _pack_i(len(metadata_response_partition.offline_replicas))
            out += struct.pack(f">{len(metadata_response_partition.offline_replicas)}i", *metadata_response_partition.offline_replicas)
    return [out]


def _encode_7(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.brokers))
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_ih(metadata_response_broker.node_id, len(raw))
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out += b"\xff\xff"
        else:
            raw = metadata_response_broker.rack.encode()
            out += _pack_h(len(raw))
            out += raw
    if message.cluster_id is None:
        out += b"\xff\xff"
    else:
        raw = message.cluster_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_ii(message.controller_id, len(message.topics))
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_hh(metadata_response_topic.error_code, len(raw))
        out += raw
        out += _pack_ti(metadata_response_topic.is_internal, len(metadata_response_topic.partitions))
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, metadata_response_partition.leader_epoch, len(metadata_response_partition.replica_nodes))
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            out += _pack_i(len(metadata_response_partition.isr_nodes))
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
            out += _pack_i(len(metadata_response_partition.offline_replicas))
            out += struct.pack(f">{len(metadata_response_partition.offline_replicas)}i", *metadata_response_partition.offline_replicas)
    return [out]


def _encode_8(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.brokers))
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_ih(metadata_response_broker.node_id, len(raw))
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out += b"\xff\xff"
        else:
            raw = metadata_response_broker.rack.encode()
            out += _pack_h(len(raw))
            out += raw
    if message.cluster_id is None:
        out += b"\xff\xff"
    else:
        raw = message.cluster_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_ii(message.controller_id, len(message.topics))
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_hh(metadata_response_topic.error_code, len(raw))
        out += raw
        out += _pack_ti(metadata_response_topic.is_internal, len(metadata_response_topic.partitions))
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, metadata_response_partition.leader_epoch, len(metadata_response_partition.replica_nodes))
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            out += _pack_i(len(metadata_response_partition.isr_nodes))
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
            out += _pack_i(len(metadata_response_partition.offline_replicas))
            out += struct.pack(f">{len(metadata_response_partition.offline_replicas)}i", *metadata_response_partition.offline_replicas)
        out += _pack_i(metadata_response_topic.topic_authorized_operations)
    out += _pack_i(message.cluster_authorized_operations)
    return [out]


def _encode_9(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.brokers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_i(metadata_response_broker.node_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out.append(0)
        else:
            raw = metadata_response_broker.rack.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
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
    out += _pack_i(message.controller_id)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_h(metadata_response_topic.error_code)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_t(metadata_response_topic.is_internal)
        size = len(metadata_response_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, metadata_response_partition.leader_epoch)
            size = len(metadata_response_partition.replica_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            size = len(metadata_response_partition.isr_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
            size = len(metadata_response_partition.offline_replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.offline_replicas)}i", *metadata_response_partition.offline_replicas)
            out.append(0)
        out += _pack_iB(metadata_response_topic.topic_authorized_operations, 0)
    out += _pack_iB(message.cluster_authorized_operations, 0)
    return [out]


def _encode_10(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.brokers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_i(metadata_response_broker.node_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out.append(0)
        else:
            raw = metadata_response_broker.rack.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
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
    out += _pack_i(message.controller_id)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_h(metadata_response_topic.error_code)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_ut(metadata_response_topic.topic_id.bytes, metadata_response_topic.is_internal)
        size = len(metadata_response_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, metadata_response_partition.leader_epoch)
            size = len(metadata_response_partition.replica_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            size = len(metadata_response_partition.isr_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
            size = len(metadata_response_partition.offline_replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.offline_replicas)}i", *metadata_response_partition.offline_replicas)
            out.append(0)
        out += _pack_iB(metadata_response_topic.topic_authorized_operations, 0)
    out += _pack_iB(message.cluster_authorized_operations, 0)
    return [out]


def _encode_11(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.brokers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_i(metadata_response_broker.node_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out.append(0)
        else:
            raw = metadata_response_broker.rack.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
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
    out += _pack_i(message.controller_id)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_topic in message.topics:
        raw = (metadata_response_topic.name or "").encode()
        out += _pack_h(metadata_response_topic.error_code)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_ut(metadata_response_topic.topic_id.bytes, metadata_response_topic.is_internal)
        size = len(metadata_response_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, metadata_response_partition.leader_epoch)
            size = len(metadata_response_partition.replica_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            size = len(metadata_response_partition.isr_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
            size = len(metadata_response_partition.offline_replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.offline_replicas)}i", *metadata_response_partition.offline_replicas)
            out.append(0)
        out += _pack_iB(metadata_response_topic.topic_authorized_operations, 0)
    out.append(0)
    return [out]


def _encode_12(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.brokers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_i(metadata_response_broker.node_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out.append(0)
        else:
            raw = metadata_response_broker.rack.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
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
    out += _pack_i(message.controller_id)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_topic in message.topics:
        out += _pack_h(metadata_response_topic.error_code)
        if metadata_response_topic.name is None:
            out.append(0)
        else:
            raw = metadata_response_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_ut(metadata_response_topic.topic_id.bytes, metadata_response_topic.is_internal)
        size = len(metadata_response_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, metadata_response_partition.leader_epoch)
            size = len(metadata_response_partition.replica_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            size = len(metadata_response_partition.isr_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
            size = len(metadata_response_partition.offline_replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.offline_replicas)}i", *metadata_response_partition.offline_replicas)
            out.append(0)
        out += _pack_iB(metadata_response_topic.topic_authorized_operations, 0)
    out.append(0)
    return [out]


def _encode_13(message: MetadataResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.brokers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_broker in message.brokers:
        raw = metadata_response_broker.host.encode()
        out += _pack_i(metadata_response_broker.node_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(metadata_response_broker.port)
        if metadata_response_broker.rack is None:
            out.append(0)
        else:
            raw = metadata_response_broker.rack.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
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
    out += _pack_i(message.controller_id)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for metadata_response_topic in message.topics:
        out += _pack_h(metadata_response_topic.error_code)
        if metadata_response_topic.name is None:
            out.append(0)
        else:
            raw = metadata_response_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_ut(metadata_response_topic.topic_id.bytes, metadata_response_topic.is_internal)
        size = len(metadata_response_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for metadata_response_partition in metadata_response_topic.partitions:
            out += _pack_hiii(metadata_response_partition.error_code, metadata_response_partition.partition_index, metadata_response_partition.leader_id, metadata_response_partition.leader_epoch)
            size = len(metadata_response_partition.replica_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.replica_nodes)}i", *metadata_response_partition.replica_nodes)
            size = len(metadata_response_partition.isr_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.isr_nodes)}i", *metadata_response_partition.isr_nodes)
            size = len(metadata_response_partition.offline_replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(metadata_response_partition.offline_replicas)}i", *metadata_response_partition.offline_replicas)
            out.append(0)
        out += _pack_iB(metadata_response_topic.topic_authorized_operations, 0)
    out += _pack_hB(message.error_code, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_2, 3: _decode_3, 4: _decode_3, 5: _decode_5, 6: _decode_5, 7: _decode_7, 8: _decode_8, 9: _decode_9, 10: _decode_10, 11: _decode_11, 12: _decode_12, 13: _decode_13}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_2, 3: _encode_3, 4: _encode_3, 5: _encode_5, 6: _encode_5, 7: _encode_7, 8: _encode_8, 9: _encode_9, 10: _encode_10, 11: _encode_11, 12: _encode_12, 13: _encode_13}


def decode(version: int, buffer: Buffer, position: int = 0) -> MetadataResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"MetadataResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No MetadataResponse of version {version}: {error}") from error


def encode(version: int, message: MetadataResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
