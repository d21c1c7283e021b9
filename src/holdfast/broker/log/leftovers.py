"""Finishes or removes work that a crash interrupted, and the swap that ends a compaction."""

import os
import shutil
from collections.abc import Callable

from holdfast.broker.log.directory import (
    CLEANED_DIRECTORY,
    INDEX_SUFFIXES,
    LOG_SUFFIX,
    SWAP_SUFFIX,
    Listing,
    listing_of,
    orphaned_indexes,
    segment_bases,
)
from holdfast.broker.log.files import remove, rename
from holdfast.broker.log.segment import DELETED_SUFFIX


def finish_leftovers(directory: str, listing: Listing, report: Callable[[str], None]) -> bool:
    """Finishes a decided compaction, and removes undecided ones. Returns True if there were any."""
    has_leftovers = False
    if os.path.isdir(f"{directory}/{CLEANED_DIRECTORY}"):
        shutil.rmtree(f"{directory}/{CLEANED_DIRECTORY}")
        report("Removed the files of an unfinished compaction")
    for name in sorted(listing):
        path = f"{directory}/{name}"
        if name.endswith(SWAP_SUFFIX):
            finish_swap(directory, name)
            report(f"Finished the compaction that left {name}")
        elif name.endswith((".cleaned", DELETED_SUFFIX, ".tmp")):
            remove(path)
            report(f"Removed {name}, left by unfinished work")
        else:
            continue
        has_leftovers = True
    for name in orphaned_indexes(listing):
        remove(f"{directory}/{name}")
        has_leftovers = True
    return has_leftovers


def swap_name(base_offset: int, end: int) -> str:
    """`<base>-<end>.swap` replaces the segments that begin in [base, end)."""
    return f"{base_offset:020d}-{end:020d}{SWAP_SUFFIX}"


def finish_swap(directory: str, name: str) -> None:
    """Replaces segments by their compacted one. Can be repeated after a crash at any point."""
    base, end = (int(part) for part in name.removesuffix(SWAP_SUFFIX).split("-"))
    for each in segment_bases(listing_of(directory)):
        if base <= each < end:
            stem = f"{directory}/{each:020d}"
            if each != base:
                remove(stem + LOG_SUFFIX)
            for suffix in INDEX_SUFFIXES:
                remove(stem + suffix)
    rename(f"{directory}/{name}", f"{directory}/{base:020d}{LOG_SUFFIX}")
