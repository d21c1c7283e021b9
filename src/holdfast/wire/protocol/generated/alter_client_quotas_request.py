# Written by tools/generate_codecs.py from AlterClientQuotasRequest.json in kafka-clients-4.1.1: do not edit.
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
class EntityData:
    entity_type: str = ''
    entity_name: str | None = ''


@dataclass(slots=True)
class OpData:
    key: str = ''
    value: float = 0
    remove: bool = False


@dataclass(slots=True)
class EntryData:
    entity: list[EntityData] = field(default_factory=list)
    ops: list[OpData] = field(default_factory=list)


@dataclass(slots=True)
class AlterClientQuotasRequest:
    entries: list[EntryData] = field(default_factory=list)
    validate_only: bool = False


_unpack_dt = Struct(">d?").unpack_from
_unpack_dtB = Struct(">d?B").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_t = Struct(">?").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_pack_dt = Struct(">d?").pack
_pack_dtB = Struct(">d?B").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_t = Struct(">?").pack
_pack_tB = Struct(">?B").pack


def _decode_0(buffer: memoryview, position: int) -> AlterClientQuotasRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    entries: list[EntryData]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("entries", count)
    entries = []
    for _ in range(count):
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
        entry_data_ops: list[OpData]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 11 <= end - position or room < 0:
            raise bad_length("entry_data_ops", count)
        entry_data_ops = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("op_data_key", stop - position)
            op_data_key = str(buffer[position:stop], "utf-8")
            position = stop
            op_data_value, op_data_remove = _unpack_dt(buffer, position)
            position += 9
            entry_data_ops.append(OpData(key=op_data_key, value=op_data_value, remove=op_data_remove))
        entries.append(EntryData(entity=entry_data_entity, ops=entry_data_ops))
    (validate_only,) = _unpack_t(buffer, position)
    position += 1
    return AlterClientQuotasRequest(entries=entries, validate_only=validate_only)


def _decode_1(buffer: memoryview, position: int) -> AlterClientQuotasRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    entries: list[EntryData]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("entries", count)
    entries = []
    for _ in range(count):
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
        entry_data_ops: list[OpData]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 11 <= end - position or room < 0:
            raise bad_length("entry_data_ops", count)
        entry_data_ops = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("op_data_key", stop - position)
            op_data_key = str(buffer[position:stop], "utf-8")
            position = stop
            op_data_value, op_data_remove, tags = _unpack_dtB(buffer, position)
            position += 10
            if tags:
                position = skip_tags(buffer, position, tags)
            entry_data_ops.append(OpData(key=op_data_key, value=op_data_value, remove=op_data_remove))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        entries.append(EntryData(entity=entry_data_entity, ops=entry_data_ops))
    validate_only, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterClientQuotasRequest(entries=entries, validate_only=validate_only)


def _encode_0(message: AlterClientQuotasRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.entries))
    for entry_data in message.entries:
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
        out += _pack_i(len(entry_data.ops))
        for op_data in entry_data.ops:
            raw = op_data.key.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_dt(op_data.value, op_data.remove)
    out += _pack_t(message.validate_only)
    return [out]


def _encode_1(message: AlterClientQuotasRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.entries) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for entry_data in message.entries:
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
        size = len(entry_data.ops) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for op_data in entry_data.ops:
            raw = op_data.key.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            out += _pack_dtB(op_data.value, op_data.remove, 0)
        out.append(0)
    out += _pack_tB(message.validate_only, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterClientQuotasRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterClientQuotasRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterClientQuotasRequest of version {version}: {error}") from error


def encode(version: int, message: AlterClientQuotasRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
