# Written by tools/generate_codecs.py from AlterClientQuotasResponse.json in kafka-clients-4.1.1: do not edit.
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
class EntityData:
    entity_type: str = ''
    entity_name: str | None = ''


@dataclass(slots=True)
class EntryData:
    error_code: int = 0
    error_message: str | None = ''
    entity: list[EntityData] = field(default_factory=list)


@dataclass(slots=True)
class AlterClientQuotasResponse:
    throttle_time_ms: int = 0
    entries: list[EntryData] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack


def _decode_0(buffer: memoryview, position: int) -> AlterClientQuotasResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    entries: list[EntryData]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("entries", count)
    entries = []
    for _ in range(count):
        entry_data_error_message: str | None
        entry_data_error_code, length = _unpack_hh(buffer, position)
        position += 4
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("entry_data_error_message", stop - position)
            entry_data_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            entry_data_error_message = None
        entry_data_entity: list[EntityData]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("entry_data_entity", count)
        entry_data_entity = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("entity_data_entity_type", stop - position)
            entity_data_entity_type = str(buffer[position:stop], "utf-8")
            position = stop
            entity_data_entity_name: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("entity_data_entity_name", stop - position)
                entity_data_entity_name = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                entity_data_entity_name = None
            entry_data_entity.append(EntityData(entity_type=entity_data_entity_type, entity_name=entity_data_entity_name))
        entries.append(EntryData(error_code=entry_data_error_code, error_message=entry_data_error_message, entity=entry_data_entity))
    return AlterClientQuotasResponse(throttle_time_ms=throttle_time_ms, entries=entries)


def _decode_1(buffer: memoryview, position: int) -> AlterClientQuotasResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    entries: list[EntryData]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("entries", count)
    entries = []
    for _ in range(count):
        entry_data_error_message: str | None
        entry_data_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("entry_data_error_message", stop - position)
            entry_data_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            entry_data_error_message = None
        entry_data_entity: list[EntityData]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("entry_data_entity", count)
        entry_data_entity = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("entity_data_entity_type", stop - position)
            entity_data_entity_type = str(buffer[position:stop], "utf-8")
            position = stop
            entity_data_entity_name: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("entity_data_entity_name", stop - position)
                entity_data_entity_name = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                entity_data_entity_name = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            entry_data_entity.append(EntityData(entity_type=entity_data_entity_type, entity_name=entity_data_entity_name))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        entries.append(EntryData(error_code=entry_data_error_code, error_message=entry_data_error_message, entity=entry_data_entity))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterClientQuotasResponse(throttle_time_ms=throttle_time_ms, entries=entries)


def _encode_0(message: AlterClientQuotasResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.entries))
    for entry_data in message.entries:
        out += _pack_h(entry_data.error_code)
        if entry_data.error_message is None:
            out += b"\xff\xff"
        else:
            raw = entry_data.error_message.encode()
            out += _pack_h(len(raw))
            out += raw
        out += _pack_i(len(entry_data.entity))
        for entity_data in entry_data.entity:
            raw = entity_data.entity_type.encode()
            out += _pack_h(len(raw))
            out += raw
            if entity_data.entity_name is None:
                out += b"\xff\xff"
            else:
                raw = entity_data.entity_name.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_1(message: AlterClientQuotasResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.entries) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for entry_data in message.entries:
        out += _pack_h(entry_data.error_code)
        if entry_data.error_message is None:
            out.append(0)
        else:
            raw = entry_data.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        size = len(entry_data.entity) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for entity_data in entry_data.entity:
            raw = entity_data.entity_type.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            if entity_data.entity_name is None:
                out.append(0)
            else:
                raw = entity_data.entity_name.encode()
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


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterClientQuotasResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterClientQuotasResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterClientQuotasResponse of version {version}: {error}") from error


def encode(version: int, message: AlterClientQuotasResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
