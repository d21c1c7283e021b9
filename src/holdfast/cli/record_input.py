"""Records to send, as they stand in a stream of bytes."""

import io
from collections.abc import Iterator
from typing import BinaryIO

_BLOCK_BYTES = 1 << 16


def split(stream: BinaryIO, delimiter: bytes) -> Iterator[bytes]:
    """The pieces of a stream, each as soon as its delimiter has arrived. The last may have none."""
    rest = b""
    while block := _available(stream):
        *pieces, rest = (rest + block).split(delimiter)
        yield from pieces
    if rest:
        yield rest


def _available(stream: BinaryIO) -> bytes:
    """What has arrived, at least one byte; nothing at the end."""
    if isinstance(stream, io.BufferedReader):
        return stream.read1(_BLOCK_BYTES)
    return stream.read(_BLOCK_BYTES)


def split_key(piece: bytes, delimiter: bytes) -> tuple[bytes | None, bytes]:
    """Key and value; the key is None if there is no delimiter between them."""
    key, found, value = piece.partition(delimiter)
    return (key, value) if found else (None, piece)
