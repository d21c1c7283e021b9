# Written by tools/generate_codecs.py from DescribeConfigsResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class DescribeConfigsSynonym:
    name: str = ''
    value: str | None = ''
    source: int = 0


@dataclass(slots=True)
class DescribeConfigsResourceResult:
    name: str = ''
    value: str | None = ''
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False
    synonyms: list[DescribeConfigsSynonym] = field(default_factory=list)
    config_type: int = 0
    documentation: str | None = ''


@dataclass(slots=True)
class DescribeConfigsResult:
    error_code: int = 0
    error_message: str | None = ''
    resource_type: int = 0
    resource_name: str = ''
    configs: list[DescribeConfigsResourceResult] = field(default_factory=list)


@dataclass(slots=True)
class DescribeConfigsResponse:
    throttle_time_ms: int = 0
    results: list[DescribeConfigsResult] = field(default_factory=list)


_unpack_b = Struct(">b").unpack_from
_unpack_bB = Struct(">bB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_tbtB = Struct(">?b?B").unpack_from
_unpack_tbti = Struct(">?b?i").unpack_from
_pack_b = Struct(">b").pack
_pack_bB = Struct(">bB").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_tbt = Struct(">?b?").pack
_pack_tbti = Struct(">?b?i").pack


def _decode_1(buffer: memoryview, position: int) -> DescribeConfigsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DescribeConfigsResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        describe_configs_result_error_message: str | None
        describe_configs_result_error_code, length = _unpack_hh(buffer, position)
        position += 4
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("describe_configs_result_error_message", stop - position)
            describe_configs_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            describe_configs_result_error_message = None
        describe_configs_result_resource_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("describe_configs_result_resource_name", stop - position)
        describe_configs_result_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        describe_configs_result_configs: list[DescribeConfigsResourceResult]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 11 <= end - position or room < 0:
            raise bad_length("describe_configs_result_configs", count)
        describe_configs_result_configs = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("describe_configs_resource_result_name", stop - position)
            describe_configs_resource_result_name = str(buffer[position:stop], "utf-8")
            position = stop
            describe_configs_resource_result_value: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("describe_configs_resource_result_value", stop - position)
                describe_configs_resource_result_value = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                describe_configs_resource_result_value = None
            describe_configs_resource_result_synonyms: list[DescribeConfigsSynonym]
            describe_configs_resource_result_read_only, describe_configs_resource_result_config_source, describe_configs_resource_result_is_sensitive, count = _unpack_tbti(buffer, position)
            position += 7
            room -= count
            if not 0 <= count * 5 <= end - position or room < 0:
                raise bad_length("describe_configs_resource_result_synonyms", count)
            describe_configs_resource_result_synonyms = []
            for _ in range(count):
                (length,) = _unpack_h(buffer, position)
                position += 2
                stop = position + length
                if not position <= stop <= end:
                    raise bad_length("describe_configs_synonym_name", stop - position)
                describe_configs_synonym_name = str(buffer[position:stop], "utf-8")
                position = stop
                describe_configs_synonym_value: str | None
                (length,) = _unpack_h(buffer, position)
                position += 2
                if length >= 0:
                    stop = position + length
                    if stop > end:
                        raise bad_length("describe_configs_synonym_value", stop - position)
                    describe_configs_synonym_value = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    describe_configs_synonym_value = None
                (describe_configs_synonym_source,) = _unpack_b(buffer, position)
                position += 1
                describe_configs_resource_result_synonyms.append(DescribeConfigsSynonym(name=describe_configs_synonym_name, value=describe_configs_synonym_value, source=describe_configs_synonym_source))
            describe_configs_result_configs.append(DescribeConfigsResourceResult(name=describe_configs_resource_result_name, value=describe_configs_resource_result_value, read_only=describe_configs_resource_result_read_only, config_source=describe_configs_resource_result_config_source, is_sensitive=describe_configs_resource_result_is_sensitive, synonyms=describe_configs_resource_result_synonyms))
        results.append(DescribeConfigsResult(error_code=describe_configs_result_error_code, error_message=describe_configs_result_error_message, resource_type=describe_configs_result_resource_type, resource_name=describe_configs_result_resource_name, configs=describe_configs_result_configs))
    return DescribeConfigsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _decode_3(buffer: memoryview, position: int) -> DescribeConfigsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DescribeConfigsResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        describe_configs_result_error_message: str | None
        describe_configs_result_error_code, length = _unpack_hh(buffer, position)
        position += 4
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("describe_configs_result_error_message", stop - position)
            describe_configs_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            describe_configs_result_error_message = None
        describe_configs_result_resource_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("describe_configs_result_resource_name", stop - position)
        describe_configs_result_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        describe_configs_result_configs: list[DescribeConfigsResourceResult]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("describe_configs_result_configs", count)
        describe_configs_result_configs = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("describe_configs_resource_result_name", stop - position)
            describe_configs_resource_result_name = str(buffer[position:stop], "utf-8")
            position = stop
            describe_configs_resource_result_value: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("describe_configs_resource_result_value", stop - position)
                describe_configs_resource_result_value = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                describe_configs_resource_result_value = None
            describe_configs_resource_result_synonyms: list[DescribeConfigsSynonym]
            describe_configs_resource_result_read_only, describe_configs_resource_result_config_source, describe_configs_resource_result_is_sensitive, count = _unpack_tbti(buffer, position)
            position += 7
            room -= count
            if not 0 <= count * 5 <= end - position or room < 0:
                raise bad_length("describe_configs_resource_result_synonyms", count)
            describe_configs_resource_result_synonyms = []
            for _ in range(count):
                (length,) = _unpack_h(buffer, position)
                position += 2
                stop = position + length
                if not position <= stop <= end:
                    raise bad_length("describe_configs_synonym_name", stop - position)
                describe_configs_synonym_name = str(buffer[position:stop], "utf-8")
                position = stop
                describe_configs_synonym_value: str | None
                (length,) = _unpack_h(buffer, position)
                position += 2
                if length >= 0:
                    stop = position + length
                    if stop > end:
                        raise bad_length("describe_configs_synonym_value", stop - position)
                    describe_configs_synonym_value = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    describe_configs_synonym_value = None
                (describe_configs_synonym_source,) = _unpack_b(buffer, position)
                position += 1
                describe_configs_resource_result_synonyms.append(DescribeConfigsSynonym(name=describe_configs_synonym_name, value=describe_configs_synonym_value, source=describe_configs_synonym_source))
            describe_configs_resource_result_documentation: str | None
            describe_configs_resource_result_config_type, length = _unpack_bh(buffer, position)
            position += 3
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("describe_configs_resource_result_documentation", stop - position)
                describe_configs_resource_result_documentation = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                describe_configs_resource_result_documentation = None
            describe_configs_result_configs.append(DescribeConfigsResourceResult(name=describe_configs_resource_result_name, value=describe_configs_resource_result_value, read_only=describe_configs_resource_result_read_only, config_source=describe_configs_resource_result_config_source, is_sensitive=describe_configs_resource_result_is_sensitive, synonyms=describe_configs_resource_result_synonyms, config_type=describe_configs_resource_result_config_type, documentation=describe_configs_resource_result_documentation))
        results.append(DescribeConfigsResult(error_code=describe_configs_result_error_code, error_message=describe_configs_result_error_message, resource_type=describe_configs_result_resource_type, resource_name=describe_configs_result_resource_name, configs=describe_configs_result_configs))
    return DescribeConfigsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _decode_4(buffer: memoryview, position: int) -> DescribeConfigsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DescribeConfigsResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 7 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        describe_configs_result_error_message: str | None
        describe_configs_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("describe_configs_result_error_message", stop - position)
            describe_configs_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            describe_configs_result_error_message = None
        describe_configs_result_resource_type, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_configs_result_resource_name", stop - position)
        describe_configs_result_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        describe_configs_result_configs: list[DescribeConfigsResourceResult]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 9 <= end - position or room < 0:
            raise bad_length("describe_configs_result_configs", count)
        describe_configs_result_configs = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("describe_configs_resource_result_name", stop - position)
            describe_configs_resource_result_name = str(buffer[position:stop], "utf-8")
            position = stop
            describe_configs_resource_result_value: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("describe_configs_resource_result_value", stop - position)
                describe_configs_resource_result_value = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                describe_configs_resource_result_value = None
            describe_configs_resource_result_synonyms: list[DescribeConfigsSynonym]
            describe_configs_resource_result_read_only, describe_configs_resource_result_config_source, describe_configs_resource_result_is_sensitive, count = _unpack_tbtB(buffer, position)
            position += 4
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("describe_configs_resource_result_synonyms", count)
            describe_configs_resource_result_synonyms = []
            for _ in range(count):
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("describe_configs_synonym_name", stop - position)
                describe_configs_synonym_name = str(buffer[position:stop], "utf-8")
                position = stop
                describe_configs_synonym_value: str | None
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("describe_configs_synonym_value", stop - position)
                    describe_configs_synonym_value = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    describe_configs_synonym_value = None
                describe_configs_synonym_source, tags = _unpack_bB(buffer, position)
                position += 2
                if tags:
                    position = skip_tags(buffer, position, tags)
                describe_configs_resource_result_synonyms.append(DescribeConfigsSynonym(name=describe_configs_synonym_name, value=describe_configs_synonym_value, source=describe_configs_synonym_source))
            describe_configs_resource_result_documentation: str | None
            describe_configs_resource_result_config_type, length = _unpack_bB(buffer, position)
            position += 2
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("describe_configs_resource_result_documentation", stop - position)
                describe_configs_resource_result_documentation = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                describe_configs_resource_result_documentation = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            describe_configs_result_configs.append(DescribeConfigsResourceResult(name=describe_configs_resource_result_name, value=describe_configs_resource_result_value, read_only=describe_configs_resource_result_read_only, config_source=describe_configs_resource_result_config_source, is_sensitive=describe_configs_resource_result_is_sensitive, synonyms=describe_configs_resource_result_synonyms, config_type=describe_configs_resource_result_config_type, documentation=describe_configs_resource_result_documentation))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(DescribeConfigsResult(error_code=describe_configs_result_error_code, error_message=describe_configs_result_error_message, resource_type=describe_configs_result_resource_type, resource_name=describe_configs_result_resource_name, configs=describe_configs_result_configs))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeConfigsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _encode_1(message: DescribeConfigsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.results))
    for describe_configs_result in message.results:
        out += _pack_h(describe_configs_result.error_code)
        if describe_configs_result.error_message is None:
            out += b"\xff\xff"
        else:
            raw = describe_configs_result.error_message.encode()
            out += _pack_h(len(raw))
            out += raw
        raw = describe_configs_result.resource_name.encode()
        out += _pack_bh(describe_configs_result.resource_type, len(raw))
        out += raw
        out += _pack_i(len(describe_configs_result.configs))
        for describe_configs_resource_result in describe_configs_result.configs:
            raw = describe_configs_resource_result.name.encode()
            out += _pack_h(len(raw))
            out += raw
            if describe_configs_resource_result.value is None:
                out += b"\xff\xff"
            else:
                raw = describe_configs_resource_result.value.encode()
                out += _pack_h(len(raw))
                out += raw
            out += _pack_tbti(describe_configs_resource_result.read_only, describe_configs_resource_result.config_source, describe_configs_resource_result.is_sensitive, len(describe_configs_resource_result.synonyms))
            for describe_configs_synonym in describe_configs_resource_result.synonyms:
                raw = describe_configs_synonym.name.encode()
                out += _pack_h(len(raw))
                out += raw
                if describe_configs_synonym.value is None:
                    out += b"\xff\xff"
                else:
                    raw = describe_configs_synonym.value.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_b(describe_configs_synonym.source)
    return [out]


def _encode_3(message: DescribeConfigsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.results))
    for describe_configs_result in message.results:
        out += _pack_h(describe_configs_result.error_code)
        if describe_configs_result.error_message is None:
            out += b"\xff\xff"
        else:
            raw = describe_configs_result.error_message.encode()
            out += _pack_h(len(raw))
            out += raw
        raw = describe_configs_result.resource_name.encode()
        out += _pack_bh(describe_configs_result.resource_type, len(raw))
        out += raw
        out += _pack_i(len(describe_configs_result.configs))
        for describe_configs_resource_result in describe_configs_result.configs:
            raw = describe_configs_resource_result.name.encode()
            out += _pack_h(len(raw))
            out += raw
            if describe_configs_resource_result.value is None:
                out += b"\xff\xff"
            else:
                raw = describe_configs_resource_result.value.encode()
                out += _pack_h(len(raw))
                out += raw
            out += _pack_tbti(describe_configs_resource_result.read_only, describe_configs_resource_result.config_source, describe_configs_resource_result.is_sensitive, len(describe_configs_resource_result.synonyms))
            for describe_configs_synonym in describe_configs_resource_result.synonyms:
                raw = describe_configs_synonym.name.encode()
                out += _pack_h(len(raw))
                out += raw
                if describe_configs_synonym.value is None:
                    out += b"\xff\xff"
                else:
                    raw = describe_configs_synonym.value.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_b(describe_configs_synonym.source)
            out += _pack_b(describe_configs_resource_result.config_type)
            if describe_configs_resource_result.documentation is None:
                out += b"\xff\xff"
            else:
                raw = describe_configs_resource_result.documentation.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_4(message: DescribeConfigsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_configs_result in message.results:
        out += _pack_h(describe_configs_result.error_code)
        if describe_configs_result.error_message is None:
            out.append(0)
        else:
            raw = describe_configs_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        raw = describe_configs_result.resource_name.encode()
        out += _pack_b(describe_configs_result.resource_type)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(describe_configs_result.configs) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for describe_configs_resource_result in describe_configs_result.configs:
            raw = describe_configs_resource_result.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            if describe_configs_resource_result.value is None:
                out.append(0)
            else:
                raw = describe_configs_resource_result.value.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out += _pack_tbt(describe_configs_resource_result.read_only, describe_configs_resource_result.config_source, describe_configs_resource_result.is_sensitive)
            size = len(describe_configs_resource_result.synonyms) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for describe_configs_synonym in describe_configs_resource_result.synonyms:
                raw = describe_configs_synonym.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                if describe_configs_synonym.value is None:
                    out.append(0)
                else:
                    raw = describe_configs_synonym.value.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out += _pack_bB(describe_configs_synonym.source, 0)
            out += _pack_b(describe_configs_resource_result.config_type)
            if describe_configs_resource_result.documentation is None:
                out.append(0)
            else:
                raw = describe_configs_resource_result.documentation.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_1, 3: _decode_3, 4: _decode_4}
_ENCODERS = {1: _encode_1, 2: _encode_1, 3: _encode_3, 4: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeConfigsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeConfigsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeConfigsResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeConfigsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
