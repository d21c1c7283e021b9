# Written by tools/generate_codecs.py from DescribeUserScramCredentialsResponse.json in kafka-clients-4.1.1: do not edit.
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
class CredentialInfo:
    mechanism: int = 0
    iterations: int = 0


@dataclass(slots=True)
class DescribeUserScramCredentialsResult:
    user: str = ''
    error_code: int = 0
    error_message: str | None = ''
    credential_infos: list[CredentialInfo] = field(default_factory=list)


@dataclass(slots=True)
class DescribeUserScramCredentialsResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    results: list[DescribeUserScramCredentialsResult] = field(default_factory=list)


_unpack_biB = Struct(">biB").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_pack_biB = Struct(">biB").pack
_pack_h = Struct(">h").pack
_pack_ih = Struct(">ih").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeUserScramCredentialsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_message: str | None
    throttle_time_ms, error_code, length = _unpack_ihB(buffer, position)
    position += 7
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("error_message", stop - position)
        error_message = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        error_message = None
    results: list[DescribeUserScramCredentialsResult]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_user_scram_credentials_result_user", stop - position)
        describe_user_scram_credentials_result_user = str(buffer[position:stop], "utf-8")
        position = stop
        describe_user_scram_credentials_result_error_message: str | None
        describe_user_scram_credentials_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("describe_user_scram_credentials_result_error_message", stop - position)
            describe_user_scram_credentials_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            describe_user_scram_credentials_result_error_message = None
        describe_user_scram_credentials_result_credential_infos: list[CredentialInfo]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("describe_user_scram_credentials_result_credential_infos", count)
        describe_user_scram_credentials_result_credential_infos = []
        for _ in range(count):
            credential_info_mechanism, credential_info_iterations, tags = _unpack_biB(buffer, position)
            position += 6
            if tags:
                position = skip_tags(buffer, position, tags)
            describe_user_scram_credentials_result_credential_infos.append(CredentialInfo(mechanism=credential_info_mechanism, iterations=credential_info_iterations))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(DescribeUserScramCredentialsResult(user=describe_user_scram_credentials_result_user, error_code=describe_user_scram_credentials_result_error_code, error_message=describe_user_scram_credentials_result_error_message, credential_infos=describe_user_scram_credentials_result_credential_infos))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeUserScramCredentialsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, results=results)


def _encode_0(message: DescribeUserScramCredentialsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    if message.error_message is None:
        out.append(0)
    else:
        raw = message.error_message.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_user_scram_credentials_result in message.results:
        raw = describe_user_scram_credentials_result.user.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_h(describe_user_scram_credentials_result.error_code)
        if describe_user_scram_credentials_result.error_message is None:
            out.append(0)
        else:
            raw = describe_user_scram_credentials_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        size = len(describe_user_scram_credentials_result.credential_infos) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for credential_info in describe_user_scram_credentials_result.credential_infos:
            out += _pack_biB(credential_info.mechanism, credential_info.iterations, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeUserScramCredentialsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeUserScramCredentialsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeUserScramCredentialsResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeUserScramCredentialsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
