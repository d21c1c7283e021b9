# Written by tools/generate_codecs.py from DescribeUserScramCredentialsRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field

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
class UserName:
    name: str = ''


@dataclass(slots=True)
class DescribeUserScramCredentialsRequest:
    users: list[UserName] | None = field(default_factory=list)


def _decode_0(buffer: memoryview, position: int) -> DescribeUserScramCredentialsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    users: list[UserName] | None
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count * 2 <= end - position or room < 0:
            raise bad_length("users", count)
        users = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("user_name_name", stop - position)
            user_name_name = str(buffer[position:stop], "utf-8")
            position = stop
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            users.append(UserName(name=user_name_name))
    else:
        users = None
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeUserScramCredentialsRequest(users=users)


def _encode_0(message: DescribeUserScramCredentialsRequest) -> list[Buffer]:
    out = bytearray()
    if message.users is None:
        out.append(0)
    else:
        size = len(message.users) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for user_name in message.users:
            raw = user_name.name.encode()
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


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeUserScramCredentialsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeUserScramCredentialsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeUserScramCredentialsRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeUserScramCredentialsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
