"""What unfinished work leaves in a partition's directory, and the swap that ends a compaction."""

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


def finish_leftovers(directory: str, listing: Listing, report: Callable[[str], None]) -> bool:
    """Finish the swap of a compaction that was decided, drop what was not. Whether any was."""
    found = False
    if os.path.isdir(f"{directory}/{CLEANED_DIRECTORY}"):
        shutil.rmtree(f"{directory}/{CLEANED_DIRECTORY}")
        report("Removed what an unfinished compaction left")
    for name in sorted(listing):
        path = f"{directory}/{name}"
        if name.endswith(SWAP_SUFFIX):
            finish_swap(directory, name)
            report(f"Finished the compaction that left {name}")
        elif name.endswith((".cleaned", ".deleted", ".tmp")):
            remove(path)
            report(f"Removed {name}, left by work that was not finished")
        else:
            continue
        found = True
    for name in orphaned_indexes(listing):
        remove(f"{directory}/{name}")
        found = True
    return found


def swap_name(base_offset: int, end: int) -> str:
    """`<base>-<end>.swap` holds what the segments that begin in [base, end) have become."""
    return f"{base_offset:020d}-{end:020d}{SWAP_SUFFIX}"


def finish_swap(directory: str, name: str) -> None:
    """Put a compacted segment in the place of those it replaces. Can be repeated at any point."""
    base, end = (int(part) for part in name.removesuffix(SWAP_SUFFIX).split("-"))
    for found in segment_bases(listing_of(directory)):
        if base <= found < end:
            stem = f"{directory}/{found:020d}"
            if found != base:
                remove(stem + LOG_SUFFIX)
            for suffix in INDEX_SUFFIXES:
                remove(stem + suffix)
    rename(f"{directory}/{name}", f"{directory}/{base:020d}{LOG_SUFFIX}")
