"""Compression of batches. Decompression has a size limit: kilobytes can unpack to gigabytes."""

from collections.abc import Callable
from enum import IntEnum

import cramjam

MAX_OUTPUT = 256 * 1024 * 1024
"""Limit of a decompressed batch. Far above what clients produce with `max.message.bytes`."""

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = 16


class Compression(IntEnum):
    """The codec bits of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class UndecodableRecords(ValueError):
    """The content of a batch does not match its header: bad compression or bad records."""


class DecompressedTooLarge(UndecodableRecords):
    """The batch decompresses to more bytes than the reader allows."""


def compress(codec: Compression, data: bytes | bytearray | memoryview) -> bytes:
    """`data` as a Kafka client compresses it; snappy in the xerial framing of the Java client."""
    if codec is Compression.NONE:
        return bytes(data)
    if codec is Compression.SNAPPY:
        block = bytes(cramjam.snappy.compress_raw(data))
        versions = (1).to_bytes(4, "big") * 2
        return _XERIAL_MAGIC + versions + len(block).to_bytes(4, "big") + block
    return bytes(_COMPRESSORS[codec](data))


def decompress(codec: int, data: bytes | memoryview, limit: int = MAX_OUTPUT) -> bytes | bytearray:
    """The decompressed bytes. Raises UndecodableRecords for bad data or above `limit` bytes."""
    if codec == Compression.NONE:
        return bytes(data)
    if codec == Compression.SNAPPY:
        return _snappy(data, limit)
    decompress_into = _DECOMPRESSORS.get(codec)
    if decompress_into is None:
        raise UndecodableRecords(f"Unknown compression codec {codec}")
    # The formats do not reliably store the unpacked size. A growing fixed buffer keeps the limit.
    size = min(limit, max(64 * 1024, 8 * len(data)))
    while True:
        output = bytearray(size)
        try:
            written = decompress_into(data, output)
        except cramjam.DecompressionError as error:
            if "failed to write whole buffer" not in str(error):
                raise UndecodableRecords(f"Compressed records cannot be read: {error}") from None
            if size >= limit:
                raise DecompressedTooLarge(
                    f"Records decompress to more than {limit} bytes"
                ) from None
            size = min(limit, 8 * size)
        else:
            del output[written:]
            return output


def _snappy(data: bytes | memoryview, limit: int) -> bytes | bytearray:
    if bytes(data[:8]) != _XERIAL_MAGIC:
        return _snappy_block(data, limit)
    output = bytearray()
    position = _XERIAL_HEADER
    while position < len(data):
        size = int.from_bytes(data[position : position + 4], "big")
        block = data[position + 4 : position + 4 + size]
        if len(block) != size:
            raise UndecodableRecords("A snappy block is cut short")
        output += _snappy_block(block, limit - len(output))
        position += 4 + size
    return output


def _snappy_block(block: bytes | memoryview, limit: int) -> bytes:
    try:
        if cramjam.snappy.decompress_raw_len(block) > limit:
            raise DecompressedTooLarge(f"Records unpack to more than {limit} bytes")
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise UndecodableRecords(f"Compressed records cannot be read: {error}") from None


_COMPRESSORS: dict[int, Callable[..., cramjam.Buffer]] = {
    Compression.GZIP: cramjam.gzip.compress,
    Compression.LZ4: cramjam.lz4.compress,
    Compression.ZSTD: cramjam.zstd.compress,
}
_DECOMPRESSORS: dict[int, Callable[..., int]] = {
    Compression.GZIP: cramjam.gzip.decompress_into,
    Compression.LZ4: cramjam.lz4.decompress_into,
    Compression.ZSTD: cramjam.zstd.decompress_into,
}
