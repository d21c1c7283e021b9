# Written by tools/generate_codecs.py from AlterUserScramCredentialsResponse.json in kafka-clients-4.1.1: do not edit.
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
class AlterUserScramCredentialsResult:
    user: str = ''
    error_code: int = 0
    error_message: str | None = ''


@dataclass(slots=True)
class AlterUserScramCredentialsResponse:
    throttle_time_ms: int = 0
    results: list[AlterUserScramCredentialsResult] = field(default_factory=list)


_unpack_hB = Struct(">hB").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack


def _decode_0(buffer: memoryview, position: int) -> AlterUserScramCredentialsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[AlterUserScramCredentialsResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("alter_user_scram_credentials_result_user", stop - position)
        alter_user_scram_credentials_result_user = str(buffer[position:stop], "utf-8")
        position = stop
        alter_user_scram_credentials_result_error_message: str | None
        alter_user_scram_credentials_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("alter_user_scram_credentials_result_error_message", stop - position)
            alter_user_scram_credentials_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            alter_user_scram_credentials_result_error_message = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(AlterUserScramCredentialsResult(user=alter_user_scram_credentials_result_user, error_code=alter_user_scram_credentials_result_error_code, error_message=alter_user_scram_credentials_result_error_message))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterUserScramCredentialsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _encode_0(message: AlterUserScramCredentialsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for alter_user_scram_credentials_result in message.results:
        raw = alter_user_scram_credentials_result.user.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_h(alter_user_scram_credentials_result.error_code)
        if alter_user_scram_credentials_result.error_message is None:
            out.append(0)
        else:
            raw = alter_user_scram_credentials_result.error_message.encode()
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


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterUserScramCredentialsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterUserScramCredentialsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterUserScramCredentialsResponse of version {version}: {error}") from error


def encode(version: int, message: AlterUserScramCredentialsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
