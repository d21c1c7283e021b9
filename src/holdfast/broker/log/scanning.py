"""Finds batches in a segment file, by their headers or with all CRCs.

Both continue after damage: they recognise the next batch by its shape and its CRC.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from crc32c import crc32c

from holdfast.broker.log.files import File, read_at
from holdfast.wire.records.batch import (
    CRC_START,
    HEADER_SIZE,
    LEADER_EPOCH,
    LENGTH_OFFSET,
    MAGIC,
    MIN_LENGTH,
    BatchHeader,
    header_of,
)

_LOOK_AHEAD = 16 * 1024
"""Bytes per read of headers: a little more than the distance of index entries."""
_CHUNK = 1024 * 1024
_SHAPE = LEADER_EPOCH.to_bytes(4, "big") + MAGIC.to_bytes(1, "big")
"""These bytes follow the length in all batches of this broker."""
_MAX_GAP = 2**31


class Scanned(NamedTuple):
    """A batch, or damaged bytes."""

    position: int
    header: BatchHeader | None
    """None: there is no whole batch from `position` to `end`."""
    end: int


def is_plausible(header: BatchHeader, room: int, at_least: int, dense: bool = False) -> bool:
    """Returns True if this can be the header of a batch of at most `room` bytes, with offset
    `at_least` or later; if `dense`, with exactly this offset.
    """
    if dense and header.base_offset != at_least:
        return False
    return (
        header.magic == MAGIC
        and header.leader_epoch == LEADER_EPOCH
        and header.batch_length >= MIN_LENGTH
        and header.size <= room
        and at_least <= header.base_offset < at_least + _MAX_GAP
        and header.last_offset_delta >= 0
    )


def walk_headers(
    file: File, position: int, end: int, at_least: int, dense: bool
) -> Iterator[Scanned]:
    """The batches in [position, end) by their headers, without a check of CRCs.

    The first begins at offset `at_least`, each other one where the previous one ends; or later,
    unless `dense`.
    """
    data, data_at = b"", position

    def find(position: int, at_least: int, exact: bool) -> BatchHeader | None:
        nonlocal data, data_at
        if position + HEADER_SIZE > data_at + len(data):
            data, data_at = read_at(file, min(_LOOK_AHEAD, end - position), position), position
        if len(data) < HEADER_SIZE:
            return None
        header = header_of(data, position - data_at)
        return header if is_plausible(header, end - position, at_least, exact) else None

    return _walk(file, position, end, at_least, dense, find)


def walk_checked(
    file: File, position: int, end: int, at_least: int, dense: bool
) -> Iterator[Scanned]:
    """The batches in [position, end) whose CRC is right, and the damaged parts between them."""
    data, data_at = b"", position

    def find(position: int, at_least: int, exact: bool) -> BatchHeader | None:
        nonlocal data, data_at
        start = position - data_at
        header = _good_batch_in(data, start, end - position, at_least, exact)
        if header is None and (data_at != position or not data):
            # The chunk may end inside the batch: read again from its start.
            data, data_at = read_at(file, min(_CHUNK, end - position), position), position
            header = _good_batch_in(data, 0, end - position, at_least, exact)
        return header or good_batch_at(file, position, end, at_least, exact)

    return _walk(file, position, end, at_least, dense, find)


def _walk(
    file: File,
    position: int,
    end: int,
    at_least: int,
    dense: bool,
    find: Callable[[int, int, bool], BatchHeader | None],
) -> Iterator[Scanned]:
    exact = dense
    while position < end:
        header = find(position, at_least, exact)
        if header is not None:
            yield Scanned(position, header, position + header.size)
            exact = dense
            at_least = header.last_offset + 1
            position += header.size
            continue
        following = next_batch(file, position + 1, end, at_least)
        yield Scanned(position, None, end if following is None else following)
        if following is None:
            return
        position, exact = following, False


def _good_batch_in(
    data: bytes, start: int, room: int, at_least: int, dense: bool
) -> BatchHeader | None:
    if len(data) - start < HEADER_SIZE:
        return None
    header = header_of(data, start)
    if not is_plausible(header, min(room, len(data) - start), at_least, dense):
        return None
    crc = crc32c(memoryview(data)[start + CRC_START : start + header.size])
    return header if crc == header.crc else None


def good_batch_at(
    file: File, position: int, end: int, at_least: int, dense: bool = False
) -> BatchHeader | None:
    """The header of the batch at `position` if it is whole and matches its CRC."""
    data = read_at(file, min(_CHUNK, end - position), position)
    if len(data) < HEADER_SIZE:
        return None
    header = header_of(data)
    if not is_plausible(header, end - position, at_least, dense):
        return None
    crc = crc32c(memoryview(data)[CRC_START : header.size])
    done = len(data)
    while done < header.size:
        data = read_at(file, min(_CHUNK, header.size - done), position + done)
        if not data:
            return None
        crc = crc32c(data, crc)
        done += len(data)
    return header if crc == header.crc else None


def next_batch(file: File, position: int, end: int, at_least: int) -> int | None:
    """Position of the first good batch at or after `position`."""
    while end - position >= HEADER_SIZE:
        data = read_at(file, min(_CHUNK, end - position), position)
        hit = data.find(_SHAPE, LENGTH_OFFSET)
        while hit >= 0:
            candidate = position + hit - LENGTH_OFFSET
            if good_batch_at(file, candidate, end, at_least) is not None:
                return candidate
            hit = data.find(_SHAPE, hit + 1)
        if len(data) < _CHUNK:
            return None
        position += len(data) - LENGTH_OFFSET - len(_SHAPE) + 1
    return None
