# Written by tools/generate_codecs.py from ProduceResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    MOST_TAGS,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    read_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class BatchIndexAndErrorMessage:
    batch_index: int = 0
    batch_index_error_message: str | None = None


@dataclass(slots=True)
class LeaderIdAndEpoch:
    leader_id: int = -1
    leader_epoch: int = -1


@dataclass(slots=True)
class PartitionProduceResponse:
    index: int = 0
    error_code: int = 0
    base_offset: int = 0
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    record_errors: list[BatchIndexAndErrorMessage] = field(default_factory=list)
    error_message: str | None = None
    current_leader: LeaderIdAndEpoch | None = None


@dataclass(slots=True)
class TopicProduceResponse:
    name: str = ''
    partition_responses: list[PartitionProduceResponse] = field(default_factory=list)


@dataclass(slots=True)
class NodeEndpoint:
    node_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None


@dataclass(slots=True)
class ProduceResponse:
    responses: list[TopicProduceResponse] = field(default_factory=list)
    throttle_time_ms: int = 0
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihqq = Struct(">ihqq").unpack_from
_unpack_ihqqq = Struct(">ihqqq").unpack_from
_unpack_ihqqqB = Struct(">ihqqqB").unpack_from
_unpack_ihqqqi = Struct(">ihqqqi").unpack_from
_unpack_iiB = Struct(">iiB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_ihqq = Struct(">ihqq").pack
_pack_ihqqq = Struct(">ihqqq").pack
_pack_ihqqqi = Struct(">ihqqqi").pack
_pack_iiB = Struct(">iiB").pack


def _decode_3(buffer: memoryview, position: int) -> ProduceResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[TopicProduceResponse]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("topic_produce_response_name", stop - position)
        topic_produce_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_produce_response_partition_responses: list[PartitionProduceResponse]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 22 <= end - position or room < 0:
            raise bad_length("topic_produce_response_partition_responses", count)
        topic_produce_response_partition_responses = []
        for _ in range(count):
            partition_produce_response_index, partition_produce_response_error_code, partition_produce_response_base_offset, partition_produce_response_log_append_time_ms = _unpack_ihqq(buffer, position)
            position += 22
            topic_produce_response_partition_responses.append(PartitionProduceResponse(index=partition_produce_response_index, error_code=partition_produce_response_error_code, base_offset=partition_produce_response_base_offset, log_append_time_ms=partition_produce_response_log_append_time_ms))
        responses.append(TopicProduceResponse(name=topic_produce_response_name, partition_responses=topic_produce_response_partition_responses))
    (throttle_time_ms,) = _unpack_i(buffer, position)
    position += 4
    return ProduceResponse(responses=responses, throttle_time_ms=throttle_time_ms)


def _decode_5(buffer: memoryview, position: int) -> ProduceResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[TopicProduceResponse]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("topic_produce_response_name", stop - position)
        topic_produce_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_produce_response_partition_responses: list[PartitionProduceResponse]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 30 <= end - position or room < 0:
            raise bad_length("topic_produce_response_partition_responses", count)
        topic_produce_response_partition_responses = []
        for _ in range(count):
            partition_produce_response_index, partition_produce_response_error_code, partition_produce_response_base_offset, partition_produce_response_log_append_time_ms, partition_produce_response_log_start_offset = _unpack_ihqqq(buffer, position)
            position += 30
            topic_produce_response_partition_responses.append(PartitionProduceResponse(index=partition_produce_response_index, error_code=partition_produce_response_error_code, base_offset=partition_produce_response_base_offset, log_append_time_ms=partition_produce_response_log_append_time_ms, log_start_offset=partition_produce_response_log_start_offset))
        responses.append(TopicProduceResponse(name=topic_produce_response_name, partition_responses=topic_produce_response_partition_responses))
    (throttle_time_ms,) = _unpack_i(buffer, position)
    position += 4
    return ProduceResponse(responses=responses, throttle_time_ms=throttle_time_ms)


def _decode_8(buffer: memoryview, position: int) -> ProduceResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[TopicProduceResponse]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("topic_produce_response_name", stop - position)
        topic_produce_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_produce_response_partition_responses: list[PartitionProduceResponse]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 36 <= end - position or room < 0:
            raise bad_length("topic_produce_response_partition_responses", count)
        topic_produce_response_partition_responses = []
        for _ in range(count):
            partition_produce_response_record_errors: list[BatchIndexAndErrorMessage]
            partition_produce_response_index, partition_produce_response_error_code, partition_produce_response_base_offset, partition_produce_response_log_append_time_ms, partition_produce_response_log_start_offset, count = _unpack_ihqqqi(buffer, position)
            position += 34
            room -= count
            if not 0 <= count * 6 <= end - position or room < 0:
                raise bad_length("partition_produce_response_record_errors", count)
            partition_produce_response_record_errors = []
            for _ in range(count):
                batch_index_and_error_message_batch_index_error_message: str | None
                batch_index_and_error_message_batch_index, length = _unpack_ih(buffer, position)
                position += 6
                if length >= 0:
                    stop = position + length
                    if stop > end:
                        raise bad_length("batch_index_and_error_message_batch_index_error_message", stop - position)
                    batch_index_and_error_message_batch_index_error_message = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    batch_index_and_error_message_batch_index_error_message = None
                partition_produce_response_record_errors.append(BatchIndexAndErrorMessage(batch_index=batch_index_and_error_message_batch_index, batch_index_error_message=batch_index_and_error_message_batch_index_error_message))
            partition_produce_response_error_message: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("partition_produce_response_error_message", stop - position)
                partition_produce_response_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                partition_produce_response_error_message = None
            topic_produce_response_partition_responses.append(PartitionProduceResponse(index=partition_produce_response_index, error_code=partition_produce_response_error_code, base_offset=partition_produce_response_base_offset, log_append_time_ms=partition_produce_response_log_append_time_ms, log_start_offset=partition_produce_response_log_start_offset, record_errors=partition_produce_response_record_errors, error_message=partition_produce_response_error_message))
        responses.append(TopicProduceResponse(name=topic_produce_response_name, partition_responses=topic_produce_response_partition_responses))
    (throttle_time_ms,) = _unpack_i(buffer, position)
    position += 4
    return ProduceResponse(responses=responses, throttle_time_ms=throttle_time_ms)


def _decode_9(buffer: memoryview, position: int) -> ProduceResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[TopicProduceResponse]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("topic_produce_response_name", stop - position)
        topic_produce_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_produce_response_partition_responses: list[PartitionProduceResponse]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 33 <= end - position or room < 0:
            raise bad_length("topic_produce_response_partition_responses", count)
        topic_produce_response_partition_responses = []
        for _ in range(count):
            partition_produce_response_record_errors: list[BatchIndexAndErrorMessage]
            partition_produce_response_index, partition_produce_response_error_code, partition_produce_response_base_offset, partition_produce_response_log_append_time_ms, partition_produce_response_log_start_offset, count = _unpack_ihqqqB(buffer, position)
            position += 31
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 6 <= end - position or room < 0:
                raise bad_length("partition_produce_response_record_errors", count)
            partition_produce_response_record_errors = []
            for _ in range(count):
                batch_index_and_error_message_batch_index_error_message: str | None
                batch_index_and_error_message_batch_index, length = _unpack_iB(buffer, position)
                position += 5
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("batch_index_and_error_message_batch_index_error_message", stop - position)
                    batch_index_and_error_message_batch_index_error_message = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    batch_index_and_error_message_batch_index_error_message = None
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_produce_response_record_errors.append(BatchIndexAndErrorMessage(batch_index=batch_index_and_error_message_batch_index, batch_index_error_message=batch_index_and_error_message_batch_index_error_message))
            partition_produce_response_error_message: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_produce_response_error_message", stop - position)
                partition_produce_response_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                partition_produce_response_error_message = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_produce_response_partition_responses.append(PartitionProduceResponse(index=partition_produce_response_index, error_code=partition_produce_response_error_code, base_offset=partition_produce_response_base_offset, log_append_time_ms=partition_produce_response_log_append_time_ms, log_start_offset=partition_produce_response_log_start_offset, record_errors=partition_produce_response_record_errors, error_message=partition_produce_response_error_message))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(TopicProduceResponse(name=topic_produce_response_name, partition_responses=topic_produce_response_partition_responses))
    throttle_time_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return ProduceResponse(responses=responses, throttle_time_ms=throttle_time_ms)


def _decode_10(buffer: memoryview, position: int) -> ProduceResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[TopicProduceResponse]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("topic_produce_response_name", stop - position)
        topic_produce_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_produce_response_partition_responses: list[PartitionProduceResponse]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 33 <= end - position or room < 0:
            raise bad_length("topic_produce_response_partition_responses", count)
        topic_produce_response_partition_responses = []
        for _ in range(count):
            partition_produce_response_record_errors: list[BatchIndexAndErrorMessage]
            partition_produce_response_index, partition_produce_response_error_code, partition_produce_response_base_offset, partition_produce_response_log_append_time_ms, partition_produce_response_log_start_offset, count = _unpack_ihqqqB(buffer, position)
            position += 31
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 6 <= end - position or room < 0:
                raise bad_length("partition_produce_response_record_errors", count)
            partition_produce_response_record_errors = []
            for _ in range(count):
                batch_index_and_error_message_batch_index_error_message: str | None
                batch_index_and_error_message_batch_index, length = _unpack_iB(buffer, position)
                position += 5
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("batch_index_and_error_message_batch_index_error_message", stop - position)
                    batch_index_and_error_message_batch_index_error_message = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    batch_index_and_error_message_batch_index_error_message = None
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_produce_response_record_errors.append(BatchIndexAndErrorMessage(batch_index=batch_index_and_error_message_batch_index, batch_index_error_message=batch_index_and_error_message_batch_index_error_message))
            partition_produce_response_error_message: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_produce_response_error_message", stop - position)
                partition_produce_response_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                partition_produce_response_error_message = None
            partition_produce_response_current_leader: LeaderIdAndEpoch | None = None
            tags = buffer[position]
            position += 1
            if tags:
                if tags > MOST_TAGS:
                    raise bad_length("The tagged fields of PartitionProduceResponse", tags)
                for _ in range(tags):
                    tag, position = read_uvarint(buffer, position)
                    size, position = read_uvarint(buffer, position)
                    after_tag_of_partition_produce_response = position + size
                    if after_tag_of_partition_produce_response > end:
                        raise bad_length("A tagged field of PartitionProduceResponse", size)
                    if tag == 0:
                        leader_id_and_epoch_leader_id, leader_id_and_epoch_leader_epoch, tags = _unpack_iiB(buffer, position)
                        position += 9
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_produce_response_current_leader = LeaderIdAndEpoch(leader_id=leader_id_and_epoch_leader_id, leader_epoch=leader_id_and_epoch_leader_epoch)
                    else:
                        position = after_tag_of_partition_produce_response
                    if position != after_tag_of_partition_produce_response:
                        raise bad_length("A tagged field of PartitionProduceResponse", size)
            topic_produce_response_partition_responses.append(PartitionProduceResponse(index=partition_produce_response_index, error_code=partition_produce_response_error_code, base_offset=partition_produce_response_base_offset, log_append_time_ms=partition_produce_response_log_append_time_ms, log_start_offset=partition_produce_response_log_start_offset, record_errors=partition_produce_response_record_errors, error_message=partition_produce_response_error_message, current_leader=partition_produce_response_current_leader))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(TopicProduceResponse(name=topic_produce_response_name, partition_responses=topic_produce_response_partition_responses))
    node_endpoints: list[NodeEndpoint] = []
    throttle_time_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of ProduceResponse", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_produce_response = position + size
            if after_tag_of_produce_response > end:
                raise bad_length("A tagged field of ProduceResponse", size)
            if tag == 0:
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 11 <= end - position or room < 0:
                    raise bad_length("node_endpoints", count)
                node_endpoints = []
                for _ in range(count):
                    node_endpoint_node_id, length = _unpack_iB(buffer, position)
                    position += 5
                    if length > 127:
                        length, position = read_long_string_length(buffer, position, length)
                    stop = position + length - 1
                    if not position <= stop <= end:
                        raise bad_length("node_endpoint_host", stop - position)
                    node_endpoint_host = str(buffer[position:stop], "utf-8")
                    position = stop
                    node_endpoint_rack: str | None
                    node_endpoint_port, length = _unpack_iB(buffer, position)
                    position += 5
                    if length > 127:
                        length, position = read_long_string_length(buffer, position, length)
                    if length:
                        stop = position + length - 1
                        if stop > end:
                            raise bad_length("node_endpoint_rack", stop - position)
                        node_endpoint_rack = str(buffer[position:stop], "utf-8")
                        position = stop
                    else:
                        node_endpoint_rack = None
                    tags = buffer[position]
                    position += 1
                    if tags:
                        position = skip_tags(buffer, position, tags)
                    node_endpoints.append(NodeEndpoint(node_id=node_endpoint_node_id, host=node_endpoint_host, port=node_endpoint_port, rack=node_endpoint_rack))
            else:
                position = after_tag_of_produce_response
            if position != after_tag_of_produce_response:
                raise bad_length("A tagged field of ProduceResponse", size)
    return ProduceResponse(responses=responses, throttle_time_ms=throttle_time_ms, node_endpoints=node_endpoints)


def _encode_3(message: ProduceResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.responses))
    for topic_produce_response in message.responses:
        raw = topic_produce_response.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(topic_produce_response.partition_responses))
        for partition_produce_response in topic_produce_response.partition_responses:
            out += _pack_ihqq(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms)
    out += _pack_i(message.throttle_time_ms)
    return [out]


def _encode_5(message: ProduceResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.responses))
    for topic_produce_response in message.responses:
        raw = topic_produce_response.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(topic_produce_response.partition_responses))
        for partition_produce_response in topic_produce_response.partition_responses:
            out += _pack_ihqqq(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms, partition_produce_response.log_start_offset)
    out += _pack_i(message.throttle_time_ms)
    return [out]


def _encode_8(message: ProduceResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.responses))
    for topic_produce_response in message.responses:
        raw = topic_produce_response.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(topic_produce_response.partition_responses))
        for partition_produce_response in topic_produce_response.partition_responses:
            out += _pack_ihqqqi(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms, partition_produce_response.log_start_offset, len(partition_produce_response.record_errors))
            for batch_index_and_error_message in partition_produce_response.record_errors:
                out += _pack_i(batch_index_and_error_message.batch_index)
                if batch_index_and_error_message.batch_index_error_message is None:
                    out += b"\xff\xff"
                else:
                    raw = batch_index_and_error_message.batch_index_error_message.encode()
                    out += _pack_h(len(raw))
                    out += raw
            if partition_produce_response.error_message is None:
                out += b"\xff\xff"
            else:
                raw = partition_produce_response.error_message.encode()
                out += _pack_h(len(raw))
                out += raw
    out += _pack_i(message.throttle_time_ms)
    return [out]


def _encode_9(message: ProduceResponse) -> list[Buffer]:
    out = bytearray()
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_produce_response in message.responses:
        raw = topic_produce_response.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(topic_produce_response.partition_responses) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_produce_response in topic_produce_response.partition_responses:
            out += _pack_ihqqq(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms, partition_produce_response.log_start_offset)
            size = len(partition_produce_response.record_errors) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for batch_index_and_error_message in partition_produce_response.record_errors:
                out += _pack_i(batch_index_and_error_message.batch_index)
                if batch_index_and_error_message.batch_index_error_message is None:
                    out.append(0)
                else:
                    raw = batch_index_and_error_message.batch_index_error_message.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out.append(0)
            if partition_produce_response.error_message is None:
                out.append(0)
            else:
                raw = partition_produce_response.error_message.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out += _pack_iB(message.throttle_time_ms, 0)
    return [out]


def _encode_10(message: ProduceResponse) -> list[Buffer]:
    out = bytearray()
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_produce_response in message.responses:
        raw = topic_produce_response.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(topic_produce_response.partition_responses) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_produce_response in topic_produce_response.partition_responses:
            out += _pack_ihqqq(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms, partition_produce_response.log_start_offset)
            size = len(partition_produce_response.record_errors) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for batch_index_and_error_message in partition_produce_response.record_errors:
                out += _pack_i(batch_index_and_error_message.batch_index)
                if batch_index_and_error_message.batch_index_error_message is None:
                    out.append(0)
                else:
                    raw = batch_index_and_error_message.batch_index_error_message.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out.append(0)
            if partition_produce_response.error_message is None:
                out.append(0)
            else:
                raw = partition_produce_response.error_message.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            tags = (partition_produce_response.current_leader is not None)
            out.append(tags)
            if tags:
                if partition_produce_response.current_leader is not None:
                    around_partition_produce_response, out = out, bytearray()
                    leader_id_and_epoch = partition_produce_response.current_leader
                    out += _pack_iiB(leader_id_and_epoch.leader_id, leader_id_and_epoch.leader_epoch, 0)
                    around_partition_produce_response.append(0)
                    around_partition_produce_response += uvarint(len(out))
                    around_partition_produce_response += out
                    out = around_partition_produce_response
        out.append(0)
    out += _pack_i(message.throttle_time_ms)
    tags = (len(message.node_endpoints) > 0)
    out.append(tags)
    if tags:
        if len(message.node_endpoints) > 0:
            around_produce_response, out = out, bytearray()
            size = len(message.node_endpoints) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for node_endpoint in message.node_endpoints:
                raw = node_endpoint.host.encode()
                out += _pack_i(node_endpoint.node_id)
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                out += _pack_i(node_endpoint.port)
                if node_endpoint.rack is None:
                    out.append(0)
                else:
                    raw = node_endpoint.rack.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out.append(0)
            around_produce_response.append(0)
            around_produce_response += uvarint(len(out))
            around_produce_response += out
            out = around_produce_response
    return [out]


_DECODERS = {3: _decode_3, 4: _decode_3, 5: _decode_5, 6: _decode_5, 7: _decode_5, 8: _decode_8, 9: _decode_9, 10: _decode_10, 11: _decode_10, 12: _decode_10}
_ENCODERS = {3: _encode_3, 4: _encode_3, 5: _encode_5, 6: _encode_5, 7: _encode_5, 8: _encode_8, 9: _encode_9, 10: _encode_10, 11: _encode_10, 12: _encode_10}


def decode(version: int, buffer: Buffer, position: int = 0) -> ProduceResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ProduceResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ProduceResponse of version {version}: {error}") from error


def encode(version: int, message: ProduceResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
