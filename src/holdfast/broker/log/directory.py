"""The files of a partition's directory, by name."""

import os
import re

from holdfast.broker.log.files import File, read_at, remove, replace_file
from holdfast.broker.log.producers import Producers
from holdfast.broker.log.snapshot import decode_snapshot
from holdfast.broker.log.state import LogState, decode_checkpoint

CHECKPOINT = "checkpoint"
"""The last state that is known to be on disk. Recovery reads the log from there."""
START_OFFSET = "start-offset"
"""The log's start offset, if DeleteRecords has moved it."""
COMPACTED = "compacted"
"""Exists if the log was ever compacted: then gaps between offsets are not damage."""
SNAPSHOT_COPY = "producers"
"""A copy of the newest snapshot. After retention or DeleteRecords has dropped segments, only
snapshots have the sequences of their producers."""
LOG_SUFFIX = ".log"
SNAPSHOT_SUFFIX = ".snapshot"
CLEANED_DIRECTORY = "compaction.cleaned"
"""The output of a compaction until it is decided."""
SWAP_SUFFIX = ".swap"
INDEX_SUFFIXES = (".index", ".timeindex", ".txnindex")

_SEGMENT_NAME = re.compile(r"(\d{20})\.log")
_SNAPSHOT_NAME = re.compile(r"(\d{20})\.snapshot")
_INDEX_NAME = re.compile(r"(\d{20})\.(?:index|timeindex|txnindex)")

Listing = dict[str, int]
"""Size of each file, by name."""


def listing_of(directory: str) -> Listing:
    with os.scandir(directory) as entries:
        return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}


def segment_bases(listing: Listing) -> list[int]:
    return sorted(int(m[1]) for name in listing if (m := _SEGMENT_NAME.fullmatch(name)))


def snapshot_offsets(listing: Listing) -> list[int]:
    return sorted(int(m[1]) for name in listing if (m := _SNAPSHOT_NAME.fullmatch(name)))


def lacks_snapshot_copy(listing: Listing) -> bool:
    """Returns True if the newest snapshot has no copy of its size."""
    offsets = snapshot_offsets(listing)
    return bool(offsets) and listing.get(SNAPSHOT_COPY) != listing[_snapshot_name(offsets[-1])]


def orphaned_indexes(listing: Listing) -> list[str]:
    """Index files whose segment is gone."""
    return [
        name
        for name in listing
        if (m := _INDEX_NAME.fullmatch(name)) and m[1] + LOG_SUFFIX not in listing
    ]


def snapshot_path(directory: str, offset: int) -> str:
    return f"{directory}/{_snapshot_name(offset)}"


def _snapshot_name(offset: int) -> str:
    return f"{offset:020d}{SNAPSHOT_SUFFIX}"


def read_whole(path: str) -> bytes | None:
    """The bytes of a small file; None if it is missing or unreadable."""
    try:
        file = File(path, os.O_RDONLY)
        return read_at(file, os.fstat(file.fd).st_size, 0)
    except OSError:
        return None


def write_snapshot(directory: str, offset: int, snapshot: bytes, *, durable: bool = True) -> None:
    """Write a snapshot of producers, and its copy."""
    replace_file(snapshot_path(directory, offset), snapshot, durable=durable)
    replace_file(f"{directory}/{SNAPSHOT_COPY}", snapshot, durable=durable)


def read_snapshot(directory: str, offset: int) -> Producers | None:
    """The producers in the snapshot at this offset; None if it is missing or damaged."""
    snapshot = _decoded(snapshot_path(directory, offset))
    return snapshot[0] if snapshot is not None and snapshot[1] == offset else None


def read_snapshot_copy(directory: str) -> tuple[Producers, int] | None:
    """The producers in the copy of the newest snapshot, and its offset."""
    return _decoded(f"{directory}/{SNAPSHOT_COPY}")


def _decoded(path: str) -> tuple[Producers, int] | None:
    data = read_whole(path)
    return None if data is None else decode_snapshot(data)


def read_checkpoint(directory: str) -> LogState | None:
    data = read_whole(f"{directory}/{CHECKPOINT}")
    return None if data is None else decode_checkpoint(data)


def read_start_offset(directory: str) -> int:
    """The start offset in its file; 0 if it is missing or unreadable: then the segments decide."""
    try:
        return int(read_whole(f"{directory}/{START_OFFSET}") or 0)
    except ValueError:
        return 0


def remove_snapshots_after(directory: str, offset: int) -> None:
    """Removes snapshots past the end of the log, because other records may get these offsets."""
    for each in snapshot_offsets(listing_of(directory)):
        if each > offset:
            remove(snapshot_path(directory, each))
    copy = read_snapshot_copy(directory)
    if copy is not None and copy[1] > offset:
        remove(f"{directory}/{SNAPSHOT_COPY}")


def remove_old_snapshots(directory: str, keep: int = 2) -> None:
    for offset in snapshot_offsets(listing_of(directory))[:-keep]:
        remove(snapshot_path(directory, offset))
