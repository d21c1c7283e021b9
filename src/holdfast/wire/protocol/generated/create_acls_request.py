# Written by tools/generate_codecs.py from CreateAclsRequest.json in kafka-clients-4.1.1: do not edit.
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
class AclCreation:
    resource_type: int = 0
    resource_name: str = ''
    resource_pattern_type: int = 3
    principal: str = ''
    host: str = ''
    operation: int = 0
    permission_type: int = 0


@dataclass(slots=True)
class CreateAclsRequest:
    creations: list[AclCreation] = field(default_factory=list)


_unpack_bB = Struct(">bB").unpack_from
_unpack_bb = Struct(">bb").unpack_from
_unpack_bbB = Struct(">bbB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_pack_b = Struct(">b").pack
_pack_bb = Struct(">bb").pack
_pack_bbB = Struct(">bbB").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack


def _decode_1(buffer: memoryview, position: int) -> CreateAclsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    creations: list[AclCreation]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 10 <= end - position or room < 0:
        raise bad_length("creations", count)
    creations = []
    for _ in range(count):
        acl_creation_resource_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("acl_creation_resource_name", stop - position)
        acl_creation_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        acl_creation_resource_pattern_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("acl_creation_principal", stop - position)
        acl_creation_principal = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("acl_creation_host", stop - position)
        acl_creation_host = str(buffer[position:stop], "utf-8")
        position = stop
        acl_creation_operation, acl_creation_permission_type = _unpack_bb(buffer, position)
        position += 2
        creations.append(AclCreation(resource_type=acl_creation_resource_type, resource_name=acl_creation_resource_name, resource_pattern_type=acl_creation_resource_pattern_type, principal=acl_creation_principal, host=acl_creation_host, operation=acl_creation_operation, permission_type=acl_creation_permission_type))
    return CreateAclsRequest(creations=creations)


def _decode_2(buffer: memoryview, position: int) -> CreateAclsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    creations: list[AclCreation]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("creations", count)
    creations = []
    for _ in range(count):
        acl_creation_resource_type, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("acl_creation_resource_name", stop - position)
        acl_creation_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        acl_creation_resource_pattern_type, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("acl_creation_principal", stop - position)
        acl_creation_principal = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("acl_creation_host", stop - position)
        acl_creation_host = str(buffer[position:stop], "utf-8")
        position = stop
        acl_creation_operation, acl_creation_permission_type, tags = _unpack_bbB(buffer, position)
        position += 3
        if tags:
            position = skip_tags(buffer, position, tags)
        creations.append(AclCreation(resource_type=acl_creation_resource_type, resource_name=acl_creation_resource_name, resource_pattern_type=acl_creation_resource_pattern_type, principal=acl_creation_principal, host=acl_creation_host, operation=acl_creation_operation, permission_type=acl_creation_permission_type))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return CreateAclsRequest(creations=creations)


def _encode_1(message: CreateAclsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.creations))
    for acl_creation in message.creations:
        raw = acl_creation.resource_name.encode()
        out += _pack_bh(acl_creation.resource_type, len(raw))
        out += raw
        raw = acl_creation.principal.encode()
        out += _pack_bh(acl_creation.resource_pattern_type, len(raw))
        out += raw
        raw = acl_creation.host.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_bb(acl_creation.operation, acl_creation.permission_type)
    return [out]


def _encode_2(message: CreateAclsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.creations) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for acl_creation in message.creations:
        raw = acl_creation.resource_name.encode()
        out += _pack_b(acl_creation.resource_type)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = acl_creation.principal.encode()
        out += _pack_b(acl_creation.resource_pattern_type)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = acl_creation.host.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_bbB(acl_creation.operation, acl_creation.permission_type, 0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> CreateAclsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"CreateAclsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No CreateAclsRequest of version {version}: {error}") from error


def encode(version: int, message: CreateAclsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
