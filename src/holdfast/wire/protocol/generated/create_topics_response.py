# Written by tools/generate_codecs.py from CreateTopicsResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
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
class CreatableTopicConfigs:
    name: str = ''
    value: str | None = ''
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False


@dataclass(slots=True)
class CreatableTopicResult:
    name: str = ''
    topic_id: UUID = ZERO_UUID
    error_code: int = 0
    error_message: str | None = ''
    topic_config_error_code: int = 0
    num_partitions: int = -1
    replication_factor: int = -1
    configs: list[CreatableTopicConfigs] | None = field(default_factory=list)


@dataclass(slots=True)
class CreateTopicsResponse:
    throttle_time_ms: int = 0
    topics: list[CreatableTopicResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_tbtB = Struct(">?b?B").unpack_from
_unpack_uhB = Struct(">16shB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_tbtB = Struct(">?b?B").pack
_pack_uh = Struct(">16sh").pack


def _decode_2(buffer: memoryview, position: int) -> CreateTopicsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[CreatableTopicResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("creatable_topic_result_name", stop - position)
        creatable_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        creatable_topic_result_error_message: str | None
        creatable_topic_result_error_code, length = _unpack_hh(buffer, position)
        position += 4
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("creatable_topic_result_error_message", stop - position)
            creatable_topic_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            creatable_topic_result_error_message = None
        topics.append(CreatableTopicResult(name=creatable_topic_result_name, error_code=creatable_topic_result_error_code, error_message=creatable_topic_result_error_message))
    return CreateTopicsResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _decode_5(buffer: memoryview, position: int) -> CreateTopicsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[CreatableTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("creatable_topic_result_name", stop - position)
        creatable_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        creatable_topic_result_error_message: str | None
        creatable_topic_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("creatable_topic_result_error_message", stop - position)
            creatable_topic_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            creatable_topic_result_error_message = None
        creatable_topic_result_configs: list[CreatableTopicConfigs] | None
        creatable_topic_result_num_partitions, creatable_topic_result_replication_factor, count = _unpack_ihB(buffer, position)
        position += 7
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        if count:
            count -= 1
            room -= count
            if not 0 <= count * 6 <= end - position or room < 0:
                raise bad_length("creatable_topic_result_configs", count)
            creatable_topic_result_configs = []
            for _ in range(count):
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("creatable_topic_configs_name", stop - position)
                creatable_topic_configs_name = str(buffer[position:stop], "utf-8")
                position = stop
                creatable_topic_configs_value: str | None
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("creatable_topic_configs_value", stop - position)
                    creatable_topic_configs_value = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    creatable_topic_configs_value = None
                creatable_topic_configs_read_only, creatable_topic_configs_config_source, creatable_topic_configs_is_sensitive, tags = _unpack_tbtB(buffer, position)
                position += 4
                if tags:
                    position = skip_tags(buffer, position, tags)
                creatable_topic_result_configs.append(CreatableTopicConfigs(name=creatable_topic_configs_name, value=creatable_topic_configs_value, read_only=creatable_topic_configs_read_only, config_source=creatable_topic_configs_config_source, is_sensitive=creatable_topic_configs_is_sensitive))
        else:
            creatable_topic_result_configs = None
        creatable_topic_result_topic_config_error_code: int = 0
        tags = buffer[position]
        position += 1
        if tags:
            if tags > MOST_TAGS:
                raise bad_length("The tagged fields of CreatableTopicResult", tags)
            for _ in range(tags):
                tag, position = read_uvarint(buffer, position)
                size, position = read_uvarint(buffer, position)
                after_tag_of_creatable_topic_result = position + size
                if after_tag_of_creatable_topic_result > end:
                    raise bad_length("A tagged field of CreatableTopicResult", size)
                if tag == 0:
                    (creatable_topic_result_topic_config_error_code,) = _unpack_h(buffer, position)
                    position += 2
                else:
                    position = after_tag_of_creatable_topic_result
                if position != after_tag_of_creatable_topic_result:
                    raise bad_length("A tagged field of CreatableTopicResult", size)
        topics.append(CreatableTopicResult(name=creatable_topic_result_name, error_code=creatable_topic_result_error_code, error_message=creatable_topic_result_error_message, topic_config_error_code=creatable_topic_result_topic_config_error_code, num_partitions=creatable_topic_result_num_partitions, replication_factor=creatable_topic_result_replication_factor, configs=creatable_topic_result_configs))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return CreateTopicsResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _decode_7(buffer: memoryview, position: int) -> CreateTopicsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[CreatableTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 28 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("creatable_topic_result_name", stop - position)
        creatable_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        creatable_topic_result_error_message: str | None
        creatable_topic_result_topic_id, creatable_topic_result_error_code, length = _unpack_uhB(buffer, position)
        position += 19
        creatable_topic_result_topic_id = uuid_of(creatable_topic_result_topic_id)
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("creatable_topic_result_error_message", stop - position)
            creatable_topic_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            creatable_topic_result_error_message = None
        creatable_topic_result_configs: list[CreatableTopicConfigs] | None
        creatable_topic_result_num_partitions, creatable_topic_result_replication_factor, count = _unpack_ihB(buffer, position)
        position += 7
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        if count:
            count -= 1
            room -= count
            if not 0 <= count * 6 <= end - position or room < 0:
                raise bad_length("creatable_topic_result_configs", count)
            creatable_topic_result_configs = []
            for _ in range(count):
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("creatable_topic_configs_name", stop - position)
                creatable_topic_configs_name = str(buffer[position:stop], "utf-8")
                position = stop
                creatable_topic_configs_value: str | None
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("creatable_topic_configs_value", stop - position)
                    creatable_topic_configs_value = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    creatable_topic_configs_value = None
                creatable_topic_configs_read_only, creatable_topic_configs_config_source, creatable_topic_configs_is_sensitive, tags = _unpack_tbtB(buffer, position)
                position += 4
                if tags:
                    position = skip_tags(buffer, position, tags)
                creatable_topic_result_configs.append(CreatableTopicConfigs(name=creatable_topic_configs_name, value=creatable_topic_configs_value, read_only=creatable_topic_configs_read_only, config_source=creatable_topic_configs_config_source, is_sensitive=creatable_topic_configs_is_sensitive))
        else:
            creatable_topic_result_configs = None
        creatable_topic_result_topic_config_error_code: int = 0
        tags = buffer[position]
        position += 1
        if tags:
            if tags > MOST_TAGS:
                raise bad_length("The tagged fields of CreatableTopicResult", tags)
            for _ in range(tags):
                tag, position = read_uvarint(buffer, position)
                size, position = read_uvarint(buffer, position)
                after_tag_of_creatable_topic_result = position + size
                if after_tag_of_creatable_topic_result > end:
                    raise bad_length("A tagged field of CreatableTopicResult", size)
                if tag == 0:
                    (creatable_topic_result_topic_config_error_code,) = _unpack_h(buffer, position)
                    position += 2
                else:
                    position = after_tag_of_creatable_topic_result
                if position != after_tag_of_creatable_topic_result:
                    raise bad_length("A tagged field of CreatableTopicResult", size)
        topics.append(CreatableTopicResult(name=creatable_topic_result_name, topic_id=creatable_topic_result_topic_id, error_code=creatable_topic_result_error_code, error_message=creatable_topic_result_error_message, topic_config_error_code=creatable_topic_result_topic_config_error_code, num_partitions=creatable_topic_result_num_partitions, replication_factor=creatable_topic_result_replication_factor, configs=creatable_topic_result_configs))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return CreateTopicsResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _encode_2(message: CreateTopicsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.topics))
    for creatable_topic_result in message.topics:
        raw = creatable_topic_result.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_h(creatable_topic_result.error_code)
        if creatable_topic_result.error_message is None:
            out += b"\xff\xff"
        else:
            raw = creatable_topic_result.error_message.encode()
            out += _pack_h(len(raw))
            out += raw
    return [out]


def _encode_5(message: CreateTopicsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for creatable_topic_result in message.topics:
        raw = creatable_topic_result.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_h(creatable_topic_result.error_code)
        if creatable_topic_result.error_message is None:
            out.append(0)
        else:
            raw = creatable_topic_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_ih(creatable_topic_result.num_partitions, creatable_topic_result.replication_factor)
        if creatable_topic_result.configs is None:
            out.append(0)
        else:
            size = len(creatable_topic_result.configs) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for creatable_topic_configs in creatable_topic_result.configs:
                raw = creatable_topic_configs.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                if creatable_topic_configs.value is None:
                    out.append(0)
                else:
                    raw = creatable_topic_configs.value.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out += _pack_tbtB(creatable_topic_configs.read_only, creatable_topic_configs.config_source, creatable_topic_configs.is_sensitive, 0)
        tags = (creatable_topic_result.topic_config_error_code != 0)
        out.append(tags)
        if tags:
            if creatable_topic_result.topic_config_error_code != 0:
                around_creatable_topic_result, out = out, bytearray()
                out += _pack_h(creatable_topic_result.topic_config_error_code)
                around_creatable_topic_result.append(0)
                around_creatable_topic_result += uvarint(len(out))
                around_creatable_topic_result += out
                out = around_creatable_topic_result
    out.append(0)
    return [out]


def _encode_7(message: CreateTopicsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for creatable_topic_result in message.topics:
        raw = creatable_topic_result.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_uh(creatable_topic_result.topic_id.bytes, creatable_topic_result.error_code)
        if creatable_topic_result.error_message is None:
            out.append(0)
        else:
            raw = creatable_topic_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_ih(creatable_topic_result.num_partitions, creatable_topic_result.replication_factor)
        if creatable_topic_result.configs is None:
            out.append(0)
        else:
            size = len(creatable_topic_result.configs) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for creatable_topic_configs in creatable_topic_result.configs:
                raw = creatable_topic_configs.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                if creatable_topic_configs.value is None:
                    out.append(0)
                else:
                    raw = creatable_topic_configs.value.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out += _pack_tbtB(creatable_topic_configs.read_only, creatable_topic_configs.config_source, creatable_topic_configs.is_sensitive, 0)
        tags = (creatable_topic_result.topic_config_error_code != 0)
        out.append(tags)
        if tags:
            if creatable_topic_result.topic_config_error_code != 0:
                around_creatable_topic_result, out = out, bytearray()
                out += _pack_h(creatable_topic_result.topic_config_error_code)
                around_creatable_topic_result.append(0)
                around_creatable_topic_result += uvarint(len(out))
                around_creatable_topic_result += out
                out = around_creatable_topic_result
    out.append(0)
    return [out]


_DECODERS = {2: _decode_2, 3: _decode_2, 4: _decode_2, 5: _decode_5, 6: _decode_5, 7: _decode_7}
_ENCODERS = {2: _encode_2, 3: _encode_2, 4: _encode_2, 5: _encode_5, 6: _encode_5, 7: _encode_7}


def decode(version: int, buffer: Buffer, position: int = 0) -> CreateTopicsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"CreateTopicsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No CreateTopicsResponse of version {version}: {error}") from error


def encode(version: int, message: CreateTopicsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
