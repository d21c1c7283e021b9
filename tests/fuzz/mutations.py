"""Bytes that are nearly right."""

import random
from collections.abc import Collection

EDGES = (0, 1, 2, 126, 127, 128, 254, 255)


def mutated(raw: bytes, source: random.Random) -> bytes:
    """`raw` with one to four changes, of the kinds that codecs trip over."""
    changed = bytearray(raw)
    for _ in range(source.randint(1, 4)):
        source.choice((_change, _insert, _remove, _repeat, _overwrite_length))(changed, source)
    return bytes(changed)


def damaged(raw: bytes, source: random.Random, harmless: Collection[int]) -> bytes:
    """`raw` with one byte that differs, outside of `harmless` positions."""
    position = source.choice([at for at in range(len(raw)) if at not in harmless])
    changed = bytearray(raw)
    changed[position] ^= source.randint(1, 255)
    return bytes(changed)


def _change(raw: bytearray, source: random.Random) -> None:
    if raw:
        raw[source.randrange(len(raw))] = source.choice((*EDGES, source.randrange(256)))


def _insert(raw: bytearray, source: random.Random) -> None:
    position = source.randint(0, len(raw))
    raw[position:position] = source.randbytes(source.choice((1, 2, 4, 100)))


def _remove(raw: bytearray, source: random.Random) -> None:
    position = source.randint(0, len(raw))
    del raw[position : position + source.choice((1, 2, 4, 100))]


def _repeat(raw: bytearray, source: random.Random) -> None:
    start = source.randint(0, len(raw))
    stop = source.randint(start, len(raw))
    raw[start:start] = raw[start:stop]


def _overwrite_length(raw: bytearray, source: random.Random) -> None:
    """Four bytes that claim a great deal, or less than nothing."""
    lengths = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\xff\xff\xff\x7f")
    position = source.randint(0, len(raw))
    raw[position : position + 4] = source.choice(lengths)
