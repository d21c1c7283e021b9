"""The files of a partition's directory, by name."""

import os
import re

from holdfast.broker.log.files import File, read_at, remove
from holdfast.broker.log.producers import Producers
from holdfast.broker.log.snapshot import decode_snapshot
from holdfast.broker.log.state import LogState, decode_checkpoint

CHECKPOINT = "checkpoint"
"""The last state known to be on disk: recovery reads the log from there on."""
START_OFFSET = "start-offset"
"""The first offset that is served, where DeleteRecords has moved it."""
COMPACTED = "compacted"
"""There if the log was ever compacted: gaps between offsets are no damage then."""
LOG_SUFFIX = ".log"
SNAPSHOT_SUFFIX = ".snapshot"
CLEANED_DIRECTORY = "compaction.cleaned"
"""Where a compaction writes until it is decided."""
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


def orphaned_indexes(listing: Listing) -> list[str]:
    """Index files whose segment is gone."""
    return [
        name
        for name in listing
        if (m := _INDEX_NAME.fullmatch(name)) and m[1] + LOG_SUFFIX not in listing
    ]


def snapshot_path(directory: str, offset: int) -> str:
    return f"{directory}/{offset:020d}{SNAPSHOT_SUFFIX}"


def read_whole(path: str) -> bytes | None:
    """The bytes of a small file; None if there is none or it cannot be read."""
    try:
        file = File(path, os.O_RDONLY)
        return read_at(file, os.fstat(file.fd).st_size, 0)
    except OSError:
        return None


def read_snapshot(directory: str, offset: int) -> Producers | None:
    data = read_whole(snapshot_path(directory, offset))
    return None if data is None else decode_snapshot(data, offset)


def read_checkpoint(directory: str) -> LogState | None:
    data = read_whole(f"{directory}/{CHECKPOINT}")
    return None if data is None else decode_checkpoint(data)


def read_start_offset(directory: str) -> int:
    """0 if nothing was ever deleted, or the file cannot be read: then the segments tell."""
    try:
        return int(read_whole(f"{directory}/{START_OFFSET}") or 0)
    except ValueError:
        return 0


def remove_snapshots_after(directory: str, offset: int) -> None:
    """Those of offsets that the log no longer has: it may grow past them with other records."""
    for found in snapshot_offsets(listing_of(directory)):
        if found > offset:
            remove(snapshot_path(directory, found))


def remove_old_snapshots(directory: str, keep: int = 2) -> None:
    for found in snapshot_offsets(listing_of(directory))[:-keep]:
        remove(snapshot_path(directory, found))
