"""Restores producers and their transactions from the log."""

from collections.abc import Callable

from holdfast.broker.log.directory import (
    listing_of,
    read_snapshot,
    read_snapshot_copy,
    snapshot_offsets,
)
from holdfast.broker.log.index import AbortedTransaction
from holdfast.broker.log.producers import Producers
from holdfast.broker.log.segment import Segment
from holdfast.broker.log.segments import Segments


def replay(
    segments: Segments,
    producers: Producers,
    start: int,
    end: int,
    on_aborted: Callable[[Segment, AbortedTransaction], None] | None = None,
) -> None:
    """Applies the batches in [start, end) to `producers`."""
    for segment in segments.starting_with(start):
        if segment.base_offset >= end:
            return
        for found in segment.checked(segment.locate(start)):
            header = found.header
            if header is None or header.producer_id < 0:
                continue
            if header.base_offset >= end:
                return
            # Data batches need only their header.
            batch = segment.read_batch(found.position, header) if header.is_control else b""
            aborted = producers.wrote(header, batch, header.base_offset, header.max_timestamp)
            if aborted is not None and on_aborted is not None:
                on_aborted(segment, aborted)
            producers.seen_upto(header.last_offset + 1)


def producers_at(
    directory: str, segments: Segments, offset: int, report: Callable[[str], None]
) -> Producers:
    """The producers as of `offset`, from the newest snapshot before it and the log."""
    producers, start = newest_snapshot(directory, offset, segments.first.base_offset, report)
    replay(segments, producers, start, offset)
    return producers


def rebuild_aborted_index(segments: Segments, segment: Segment, end: int) -> None:
    """Rebuilds the index of aborted transactions of one segment. They may begin long before it."""
    segment.report(f"Rebuilding {segment.aborted_index.path}")
    segment.aborted_index.reset()

    def add(marker_segment: Segment, aborted: AbortedTransaction) -> None:
        if marker_segment is segment:
            segment.add_aborted(aborted)

    following = segments.next_base(segment)
    replay(segments, Producers(), segments.first.base_offset, min(end, following or end), add)


def newest_snapshot(
    directory: str, upto: int, otherwise: int, report: Callable[[str], None]
) -> tuple[Producers, int]:
    """The newest good snapshot in [otherwise, upto] with its offset; else none at `otherwise`.

    `report` is called if a snapshot is damaged or missing.
    """
    newest: tuple[Producers, int] | None = None
    damaged = False
    for offset in reversed(snapshot_offsets(listing_of(directory))):
        if not otherwise <= offset <= upto:
            continue
        producers = read_snapshot(directory, offset)
        if producers is not None:
            newest = producers, offset
            break
        damaged = True
        report(f"The snapshot of producers at offset {offset} is damaged")
    copy = read_snapshot_copy(directory)
    if (
        copy is not None
        and otherwise <= copy[1] <= upto
        and (newest is None or newest[1] < copy[1])
    ):
        report(f"Producers at offset {copy[1]} were read from the copy of the snapshot")
        return copy
    if newest is not None:
        return newest
    if damaged and otherwise > 0:
        report(
            f"The state of producers before offset {otherwise} is lost: if a producer retries a "
            "batch from before, it is written twice"
        )
    return Producers(), otherwise
