# Written by tools/generate_codecs.py from ApiVersionsResponse.json in kafka-clients-4.1.1: do not edit.
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
class ApiVersion:
    api_key: int = 0
    min_version: int = 0
    max_version: int = 0


@dataclass(slots=True)
class SupportedFeatureKey:
    name: str = ''
    min_version: int = 0
    max_version: int = 0


@dataclass(slots=True)
class FinalizedFeatureKey:
    name: str = ''
    max_version_level: int = 0
    min_version_level: int = 0


@dataclass(slots=True)
class ApiVersionsResponse:
    error_code: int = 0
    api_keys: list[ApiVersion] = field(default_factory=list)
    throttle_time_ms: int = 0
    supported_features: list[SupportedFeatureKey] = field(default_factory=list)
    finalized_features_epoch: int = -1
    finalized_features: list[FinalizedFeatureKey] = field(default_factory=list)
    zk_migration_ready: bool = False


_unpack_hB = Struct(">hB").unpack_from
_unpack_hhB = Struct(">hhB").unpack_from
_unpack_hhh = Struct(">hhh").unpack_from
_unpack_hhhB = Struct(">hhhB").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_t = Struct(">?").unpack_from
_pack_h = Struct(">h").pack
_pack_hhB = Struct(">hhB").pack
_pack_hhh = Struct(">hhh").pack
_pack_hhhB = Struct(">hhhB").pack
_pack_hi = Struct(">hi").pack
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_pack_t = Struct(">?").pack


def _decode_0(buffer: memoryview, position: int) -> ApiVersionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    api_keys: list[ApiVersion]
    error_code, count = _unpack_hi(buffer, position)
    position += 6
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("api_keys", count)
    api_keys = []
    for _ in range(count):
        api_version_api_key, api_version_min_version, api_version_max_version = _unpack_hhh(buffer, position)
        position += 6
        api_keys.append(ApiVersion(api_key=api_version_api_key, min_version=api_version_min_version, max_version=api_version_max_version))
    return ApiVersionsResponse(error_code=error_code, api_keys=api_keys)


def _decode_1(buffer: memoryview, position: int) -> ApiVersionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    api_keys: list[ApiVersion]
    error_code, count = _unpack_hi(buffer, position)
    position += 6
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("api_keys", count)
    api_keys = []
    for _ in range(count):
        api_version_api_key, api_version_min_version, api_version_max_version = _unpack_hhh(buffer, position)
        position += 6
        api_keys.append(ApiVersion(api_key=api_version_api_key, min_version=api_version_min_version, max_version=api_version_max_version))
    (throttle_time_ms,) = _unpack_i(buffer, position)
    position += 4
    return ApiVersionsResponse(error_code=error_code, api_keys=api_keys, throttle_time_ms=throttle_time_ms)


def _decode_3(buffer: memoryview, position: int) -> ApiVersionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    api_keys: list[ApiVersion]
    error_code, count = _unpack_hB(buffer, position)
    position += 3
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 7 <= end - position or room < 0:
        raise bad_length("api_keys", count)
    api_keys = []
    for _ in range(count):
        api_version_api_key, api_version_min_version, api_version_max_version, tags = _unpack_hhhB(buffer, position)
        position += 7
        if tags:
            position = skip_tags(buffer, position, tags)
        api_keys.append(ApiVersion(api_key=api_version_api_key, min_version=api_version_min_version, max_version=api_version_max_version))
    supported_features: list[SupportedFeatureKey] = []
    finalized_features_epoch: int = -1
    finalized_features: list[FinalizedFeatureKey] = []
    zk_migration_ready: bool = False
    throttle_time_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of ApiVersionsResponse", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_api_versions_response = position + size
            if after_tag_of_api_versions_response > end:
                raise bad_length("A tagged field of ApiVersionsResponse", size)
            if tag == 0:
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 6 <= end - position or room < 0:
                    raise bad_length("supported_features", count)
                supported_features = []
                for _ in range(count):
                    length = buffer[position]
                    position += 1
                    if length > 127:
                        length, position = read_long_string_length(buffer, position, length)
                    stop = position + length - 1
                    if not position <= stop <= end:
                        raise bad_length("supported_feature_key_name", stop - position)
                    supported_feature_key_name = str(buffer[position:stop], "utf-8")
                    position = stop
                    supported_feature_key_min_version, supported_feature_key_max_version, tags = _unpack_hhB(buffer, position)
                    position += 5
                    if tags:
                        position = skip_tags(buffer, position, tags)
                    supported_features.append(SupportedFeatureKey(name=supported_feature_key_name, min_version=supported_feature_key_min_version, max_version=supported_feature_key_max_version))
            elif tag == 1:
                (finalized_features_epoch,) = _unpack_q(buffer, position)
                position += 8
            elif tag == 2:
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 6 <= end - position or room < 0:
                    raise bad_length("finalized_features", count)
                finalized_features = []
                for _ in range(count):
                    length = buffer[position]
                    position += 1
                    if length > 127:
                        length, position = read_long_string_length(buffer, position, length)
                    stop = position + length - 1
                    if not position <= stop <= end:
                        raise bad_length("finalized_feature_key_name", stop - position)
                    finalized_feature_key_name = str(buffer[position:stop], "utf-8")
                    position = stop
                    finalized_feature_key_max_version_level, finalized_feature_key_min_version_level, tags = _unpack_hhB(buffer, position)
                    position += 5
                    if tags:
                        position = skip_tags(buffer, position, tags)
                    finalized_features.append(FinalizedFeatureKey(name=finalized_feature_key_name, max_version_level=finalized_feature_key_max_version_level, min_version_level=finalized_feature_key_min_version_level))
            elif tag == 3:
                (zk_migration_ready,) = _unpack_t(buffer, position)
                position += 1
            else:
                position = after_tag_of_api_versions_response
            if position != after_tag_of_api_versions_response:
                raise bad_length("A tagged field of ApiVersionsResponse", size)
    return ApiVersionsResponse(error_code=error_code, api_keys=api_keys, throttle_time_ms=throttle_time_ms, supported_features=supported_features, finalized_features_epoch=finalized_features_epoch, finalized_features=finalized_features, zk_migration_ready=zk_migration_ready)


def _encode_0(message: ApiVersionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_hi(message.error_code, len(message.api_keys))
    for api_version in message.api_keys:
        out += _pack_hhh(api_version.api_key, api_version.min_version, api_version.max_version)
    return [out]


def _encode_1(message: ApiVersionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_hi(message.error_code, len(message.api_keys))
    for api_version in message.api_keys:
        out += _pack_hhh(api_version.api_key, api_version.min_version, api_version.max_version)
    out += _pack_i(message.throttle_time_ms)
    return [out]


def _encode_3(message: ApiVersionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_h(message.error_code)
    size = len(message.api_keys) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for api_version in message.api_keys:
        out += _pack_hhhB(api_version.api_key, api_version.min_version, api_version.max_version, 0)
    out += _pack_i(message.throttle_time_ms)
    tags = (len(message.supported_features) > 0) + (message.finalized_features_epoch != -1) + (len(message.finalized_features) > 0) + (message.zk_migration_ready != False)
    out.append(tags)
    if tags:
        if len(message.supported_features) > 0:
            around_api_versions_response, out = out, bytearray()
            size = len(message.supported_features) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for supported_feature_key in message.supported_features:
                raw = supported_feature_key.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                out += _pack_hhB(supported_feature_key.min_version, supported_feature_key.max_version, 0)
            around_api_versions_response.append(0)
            around_api_versions_response += uvarint(len(out))
            around_api_versions_response += out
            out = around_api_versions_response
        if message.finalized_features_epoch != -1:
            around_api_versions_response, out = out, bytearray()
            out += _pack_q(message.finalized_features_epoch)
            around_api_versions_response.append(1)
            around_api_versions_response += uvarint(len(out))
            around_api_versions_response += out
            out = around_api_versions_response
        if len(message.finalized_features) > 0:
            around_api_versions_response, out = out, bytearray()
            size = len(message.finalized_features) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for finalized_feature_key in message.finalized_features:
                raw = finalized_feature_key.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                out += _pack_hhB(finalized_feature_key.max_version_level, finalized_feature_key.min_version_level, 0)
            around_api_versions_response.append(2)
            around_api_versions_response += uvarint(len(out))
            around_api_versions_response += out
            out = around_api_versions_response
        if message.zk_migration_ready != False:
            around_api_versions_response, out = out, bytearray()
            out += _pack_t(message.zk_migration_ready)
            around_api_versions_response.append(3)
            around_api_versions_response += uvarint(len(out))
            around_api_versions_response += out
            out = around_api_versions_response
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_3, 4: _decode_3}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_3, 4: _encode_3}


def decode(version: int, buffer: Buffer, position: int = 0) -> ApiVersionsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ApiVersionsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ApiVersionsResponse of version {version}: {error}") from error


def encode(version: int, message: ApiVersionsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
