# Written by tools/generate_codecs.py from ApiVersionsRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class ApiVersionsRequest:
    client_software_name: str = ''
    client_software_version: str = ''


def _decode_0(buffer: memoryview, position: int) -> ApiVersionsRequest:
    end = len(buffer)
    return ApiVersionsRequest()


def _decode_3(buffer: memoryview, position: int) -> ApiVersionsRequest:
    end = len(buffer)
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("client_software_name", stop - position)
    client_software_name = str(buffer[position:stop], "utf-8")
    position = stop
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("client_software_version", stop - position)
    client_software_version = str(buffer[position:stop], "utf-8")
    position = stop
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ApiVersionsRequest(client_software_name=client_software_name, client_software_version=client_software_version)


def _encode_0(message: ApiVersionsRequest) -> list[Buffer]:
    out = bytearray()
    return [out]


def _encode_3(message: ApiVersionsRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.client_software_name.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.client_software_version.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_3}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_3}


def decode(version: int, buffer: Buffer, position: int = 0) -> ApiVersionsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ApiVersionsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ApiVersionsRequest of version {version}: {error}") from error


def encode(version: int, message: ApiVersionsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
