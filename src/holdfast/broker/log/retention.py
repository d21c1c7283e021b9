"""The segments that a log drops, and the time when the active one is closed."""

from collections.abc import Iterator

from holdfast.broker.log.segment import Segment
from holdfast.broker.log.segments import Segments
from holdfast.broker.topic_config import TopicConfig


def spans_too_long(active: Segment, max_timestamp: int, config: TopicConfig) -> bool:
    """Returns True if a record is too far from the segment's first one for the same segment.

    Timestamps are compared with each other, as in Kafka. Otherwise old events would get a segment
    each.
    """
    return (
        active.first_timestamp >= 0
        and max_timestamp - active.first_timestamp > _longest_open_ms(config)
    )


def is_open_too_long(active: Segment, now_ms: int, config: TopicConfig) -> bool:
    """Returns True if the active segment must be closed although nothing is appended."""
    return active.size > 0 and now_ms - active.begun_ms > _longest_open_ms(config)


def _longest_open_ms(config: TopicConfig) -> int:
    """The maximum age of an open segment. Only closed segments can be compacted."""
    if config.compacted:
        return min(config.segment_ms, config.max_compaction_lag_ms)
    return config.segment_ms


def before(segments: Segments, offset: int) -> int:
    """The number of segments that end before `offset`, without the active one."""
    return segments.index_of(offset)


def expired(
    segments: Segments,
    config: TopicConfig,
    now_ms: int,
    log_start_offset: int,
    end_offset: int,
    high_watermark: int,
) -> Iterator[tuple[str, int]]:
    """Reasons for dropping segments, each with the number of segments to drop.

    Age may include the active segment, which the log closes first. Size never does.
    """
    count = before(segments, log_start_offset)
    if count:
        yield "before the log's start", count
    if not config.deletes:
        return
    count = _too_old(segments, config, now_ms, end_offset, high_watermark)
    if count:
        yield f"older than retention.ms ({config.retention_ms})", count
    count = _too_much(segments, config, end_offset, high_watermark)
    if count:
        yield f"more than retention.bytes ({config.retention_bytes})", count


def _too_old(
    segments: Segments, config: TopicConfig, now_ms: int, end_offset: int, high_watermark: int
) -> int:
    if config.retention_ms < 0:
        return 0
    count = 0
    for segment in _visible(segments, end_offset, high_watermark):
        latest = segment.max_timestamp if segment.max_timestamp >= 0 else segment.begun_ms
        if now_ms - latest <= config.retention_ms:
            break
        count += 1
    return count


def _too_much(segments: Segments, config: TopicConfig, end_offset: int, high_watermark: int) -> int:
    if config.retention_bytes < 0:
        return 0
    excess = segments.size_bytes - config.retention_bytes
    count = 0
    for segment in _visible(segments, end_offset, high_watermark):
        if excess < segment.size or segment is segments.active:
            break
        excess -= segment.size
        count += 1
    return count


def _visible(segments: Segments, end_offset: int, high_watermark: int) -> Iterator[Segment]:
    """The segments that readers can see completely, without an empty active one."""
    for segment in segments:
        following = segments.next_base(segment)
        if following is None and segment.size == 0:
            return
        if (end_offset if following is None else following) > high_watermark:
            return
        yield segment
