"""Who commits offsets: a group's member, as librdkafka hands it on between processes."""

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
        """What `consumer_group_metadata` gave. It is the one way to learn of the generation, and a
        fence that was left out for a format not understood would be none: so that is an error."""
        magic, rest = metadata[: len(_MAGIC)], metadata[len(_MAGIC) :]
        try:
            if magic != _MAGIC:
                raise ValueError("it begins otherwise")
            (generation,) = struct.unpack_from("=i", rest)
            group, member, instance = rest[4:].split(b"\0", 2)
            named, _, text = instance.partition(b"\0") if instance[:1] == b"\0" else (b"", b"", b"")
            if instance[:1] not in (b"\0", b"\1") or named:
                raise ValueError("it ends otherwise")
        except (ValueError, struct.error) as error:
            raise HoldfastError(
                f"This version of librdkafka writes a membership as {metadata!r}, which cannot be "
                f"read: {error}. Use the version of confluent-kafka that is locked."
            ) from None
        found = text.rstrip(b"\0").decode() if instance[:1] == b"\0" else None
        return cls(group.decode(), generation, member.decode(), found)
