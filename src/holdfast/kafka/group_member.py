"""A member of a group, as librdkafka encodes it for other processes to commit offsets with."""

import struct
from dataclasses import dataclass

from holdfast.errors import HoldfastError

_MAGIC = b"CGMDv2:"


@dataclass(frozen=True, slots=True)
class Membership:
    """A member of a group, in one generation of it."""

    group: str
    generation: int
    member: str
    instance: str | None

    @classmethod
    def read(cls, metadata: bytes) -> "Membership":
        """Decodes `consumer_group_metadata`, the only source of the generation. An unknown format
        is an error: without the generation, offsets would not be fenced."""
        magic, rest = metadata[: len(_MAGIC)], metadata[len(_MAGIC) :]
        try:
            if magic != _MAGIC:
                raise ValueError("it begins otherwise")
            (generation,) = struct.unpack_from("=i", rest)
            group, member, named = rest[4:].split(b"\0", 2)
            if named != b"\1" and (named[:1] != b"\0" or named.find(b"\0", 1) != len(named) - 1):
                raise ValueError("it ends otherwise")
            instance = None if named == b"\1" else named[1:-1].decode()
            return cls(group.decode(), generation, member.decode(), instance)
        except (ValueError, struct.error) as error:
            raise HoldfastError(
                f"This version of librdkafka writes a membership as {metadata!r}, which cannot be "
                f"read: {error}. Use the version of confluent-kafka that is locked."
            ) from None
