# Written by tools/generate_codecs.py from AlterUserScramCredentialsRequest.json in kafka-clients-4.1.1: do not edit.
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
class ScramCredentialDeletion:
    name: str = ''
    mechanism: int = 0


@dataclass(slots=True)
class ScramCredentialUpsertion:
    name: str = ''
    mechanism: int = 0
    iterations: int = 0
    salt: bytes = b''
    salted_password: bytes = b''


@dataclass(slots=True)
class AlterUserScramCredentialsRequest:
    deletions: list[ScramCredentialDeletion] = field(default_factory=list)
    upsertions: list[ScramCredentialUpsertion] = field(default_factory=list)


_unpack_bB = Struct(">bB").unpack_from
_unpack_biB = Struct(">biB").unpack_from
_pack_bB = Struct(">bB").pack
_pack_bi = Struct(">bi").pack


def _decode_0(buffer: memoryview, position: int) -> AlterUserScramCredentialsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    deletions: list[ScramCredentialDeletion]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("deletions", count)
    deletions = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("scram_credential_deletion_name", stop - position)
        scram_credential_deletion_name = str(buffer[position:stop], "utf-8")
        position = stop
        scram_credential_deletion_mechanism, tags = _unpack_bB(buffer, position)
        position += 2
        if tags:
            position = skip_tags(buffer, position, tags)
        deletions.append(ScramCredentialDeletion(name=scram_credential_deletion_name, mechanism=scram_credential_deletion_mechanism))
    upsertions: list[ScramCredentialUpsertion]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 9 <= end - position or room < 0:
        raise bad_length("upsertions", count)
    upsertions = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("scram_credential_upsertion_name", stop - position)
        scram_credential_upsertion_name = str(buffer[position:stop], "utf-8")
        position = stop
        scram_credential_upsertion_mechanism, scram_credential_upsertion_iterations, length = _unpack_biB(buffer, position)
        position += 6
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("scram_credential_upsertion_salt", stop - position)
        scram_credential_upsertion_salt = bytes(buffer[position:stop])
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("scram_credential_upsertion_salted_password", stop - position)
        scram_credential_upsertion_salted_password = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        upsertions.append(ScramCredentialUpsertion(name=scram_credential_upsertion_name, mechanism=scram_credential_upsertion_mechanism, iterations=scram_credential_upsertion_iterations, salt=scram_credential_upsertion_salt, salted_password=scram_credential_upsertion_salted_password))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterUserScramCredentialsRequest(deletions=deletions, upsertions=upsertions)


def _encode_0(message: AlterUserScramCredentialsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.deletions) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for scram_credential_deletion in message.deletions:
        raw = scram_credential_deletion.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_bB(scram_credential_deletion.mechanism, 0)
    size = len(message.upsertions) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for scram_credential_upsertion in message.upsertions:
        raw = scram_credential_upsertion.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = scram_credential_upsertion.salt
        out += _pack_bi(scram_credential_upsertion.mechanism, scram_credential_upsertion.iterations)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = scram_credential_upsertion.salted_password
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterUserScramCredentialsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterUserScramCredentialsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterUserScramCredentialsRequest of version {version}: {error}") from error


def encode(version: int, message: AlterUserScramCredentialsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
