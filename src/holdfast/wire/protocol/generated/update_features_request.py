# Written by tools/generate_codecs.py from UpdateFeaturesRequest.json in kafka-clients-4.1.1: do not edit.
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
class FeatureUpdateKey:
    feature: str = ''
    max_version_level: int = 0
    allow_downgrade: bool = False
    upgrade_type: int = 1


@dataclass(slots=True)
class UpdateFeaturesRequest:
    timeout_ms: int = 60000
    feature_updates: list[FeatureUpdateKey] = field(default_factory=list)
    validate_only: bool = False


_unpack_hbB = Struct(">hbB").unpack_from
_unpack_htB = Struct(">h?B").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_pack_hbB = Struct(">hbB").pack
_pack_htB = Struct(">h?B").pack
_pack_i = Struct(">i").pack
_pack_tB = Struct(">?B").pack


def _decode_0(buffer: memoryview, position: int) -> UpdateFeaturesRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    feature_updates: list[FeatureUpdateKey]
    timeout_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("feature_updates", count)
    feature_updates = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("feature_update_key_feature", stop - position)
        feature_update_key_feature = str(buffer[position:stop], "utf-8")
        position = stop
        feature_update_key_max_version_level, feature_update_key_allow_downgrade, tags = _unpack_htB(buffer, position)
        position += 4
        if tags:
            position = skip_tags(buffer, position, tags)
        feature_updates.append(FeatureUpdateKey(feature=feature_update_key_feature, max_version_level=feature_update_key_max_version_level, allow_downgrade=feature_update_key_allow_downgrade))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return UpdateFeaturesRequest(timeout_ms=timeout_ms, feature_updates=feature_updates)


def _decode_1(buffer: memoryview, position: int) -> UpdateFeaturesRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    feature_updates: list[FeatureUpdateKey]
    timeout_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("feature_updates", count)
    feature_updates = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("feature_update_key_feature", stop - position)
        feature_update_key_feature = str(buffer[position:stop], "utf-8")
        position = stop
        feature_update_key_max_version_level, feature_update_key_upgrade_type, tags = _unpack_hbB(buffer, position)
        position += 4
        if tags:
            position = skip_tags(buffer, position, tags)
        feature_updates.append(FeatureUpdateKey(feature=feature_update_key_feature, max_version_level=feature_update_key_max_version_level, upgrade_type=feature_update_key_upgrade_type))
    validate_only, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return UpdateFeaturesRequest(timeout_ms=timeout_ms, feature_updates=feature_updates, validate_only=validate_only)


def _encode_0(message: UpdateFeaturesRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.timeout_ms)
    size = len(message.feature_updates) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for feature_update_key in message.feature_updates:
        raw = feature_update_key.feature.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_htB(feature_update_key.max_version_level, feature_update_key.allow_downgrade, 0)
    out.append(0)
    return [out]


def _encode_1(message: UpdateFeaturesRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.timeout_ms)
    size = len(message.feature_updates) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for feature_update_key in message.feature_updates:
        raw = feature_update_key.feature.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_hbB(feature_update_key.max_version_level, feature_update_key.upgrade_type, 0)
    out += _pack_tB(message.validate_only, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> UpdateFeaturesRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"UpdateFeaturesRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No UpdateFeaturesRequest of version {version}: {error}") from error


def encode(version: int, message: UpdateFeaturesRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
