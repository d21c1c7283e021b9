"""The commits of a group as the broker stored them: `__consumer_offsets`, read from its start."""

import struct
from dataclasses import dataclass

import holdfast


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of one partition, with the broker's time of it."""

    partition: int
    offset: int
    at_ms: int


def commits(client: holdfast.Client, group: str, topic: str) -> list[Commit]:
    """Every commit of the group in that topic, in the order in which the broker took them."""
    found = []
    with client.consumer("__consumer_offsets") as consumer:
        for record in consumer.records(until="end"):
            if record.key is None or record.value is None:
                continue
            key = _key(record.key)
            if key is not None and key[:2] == (group, topic):
                found.append(_commit(key[2], record.value))
    return found


def _key(data: bytes) -> tuple[str, str, int] | None:
    (version,) = struct.unpack_from(">h", data)
    if version not in (0, 1):  # the rest are groups, not offsets
        return None
    group, position = _string(data, 2)
    topic, position = _string(data, position)
    return group, topic, struct.unpack_from(">i", data, position)[0]


def _commit(partition: int, data: bytes) -> Commit:
    version, offset = struct.unpack_from(">hq", data)
    assert version in (3, 4), f"a version that this test cannot read: {version}"
    # Offset, leader epoch, then the metadata: its length is a varint of one byte more from 4 on,
    # and these consumers commit none.
    position = 14
    if version == 3:
        _, position = _string(data, position)
    else:
        assert data[position] == 1, "metadata"
        position += 1
    (at_ms,) = struct.unpack_from(">q", data, position)
    return Commit(partition, offset, at_ms)


def _string(data: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from(">h", data, position)
    end = position + 2 + length
    return data[position + 2 : end].decode(), end
