"""Learning about producers and their transactions from the log itself."""

from collections.abc import Callable

from holdfast.broker.log.directory import listing_of, read_snapshot, snapshot_offsets
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
    """Tell `producers` what the log says of them in [start, end)."""
    for segment in segments.starting_with(start):
        if segment.base_offset >= end:
            return
        for found in segment.checked(segment.locate(start)):
            header = found.header
            if header is None or header.producer_id < 0:
                continue
            if header.base_offset >= end:
                return
            # Of data its header says enough.
            batch = segment.read_batch(found.position, header) if header.is_control else b""
            aborted = producers.wrote(header, batch, header.base_offset, header.max_timestamp)
            if aborted is not None and on_aborted is not None:
                on_aborted(segment, aborted)
            producers.seen_upto(header.last_offset + 1)


def producers_at(directory: str, segments: Segments, offset: int) -> Producers:
    """The producers as of `offset`, from the newest snapshot before it and the log."""
    producers, start = newest_snapshot(directory, offset, segments.first.base_offset)
    replay(segments, producers, start, offset)
    return producers


def rebuild_aborted_index(segments: Segments, segment: Segment, end: int) -> None:
    """Find the aborted transactions of one segment anew; they may begin long before it."""
    segment.report(f"Rebuilding {segment.aborted_index.path}")
    segment.aborted_index.reset()

    def add(found_in: Segment, aborted: AbortedTransaction) -> None:
        if found_in is segment:
            segment.add_aborted(aborted)

    following = segments.next_base(segment)
    replay(segments, Producers(), segments.first.base_offset, min(end, following or end), add)


def newest_snapshot(directory: str, upto: int, otherwise: int) -> tuple[Producers, int]:
    """The newest good snapshot in [otherwise, upto] and its offset, else none at `otherwise`."""
    for offset in reversed(snapshot_offsets(listing_of(directory))):
        if otherwise <= offset <= upto:
            producers = read_snapshot(directory, offset)
            if producers is not None:
                return producers, offset
    return Producers(), otherwise
