"""The positions that a flow's gate has committed to its group."""

import logging

from confluent_kafka import Consumer, KafkaException, TopicPartition

from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Partition
from holdfast.errors import InvalidRecordError
from holdfast.flows.status import Position, decode_offset_metadata

log = logging.getLogger(__name__)


def committed_positions(
    consumer: Consumer, partitions: set[Partition], timeout: float
) -> dict[int, Position | None]:
    """Returns each partition's committed position, read with a consumer of the gate's group; None
    if there is none, or if it is unreadable."""
    requested = [TopicPartition(p.topic, p.number) for p in sorted(partitions)]
    try:
        offsets = consumer.committed(requested, timeout=timeout)
    except KafkaException as error:
        raise translate(error, "Reading the committed offsets") from None
    positions: dict[int, Position | None] = {}
    for offset in offsets:
        if offset.error is not None:
            raise translate(offset.error, f"Reading the committed offset of {offset.topic}")
        positions[offset.partition] = _position(offset)
    return positions


def _position(offset: TopicPartition) -> Position | None:
    if offset.offset < 0 or not offset.metadata:
        return None
    try:
        return decode_offset_metadata(offset.offset, offset.metadata)
    except InvalidRecordError as error:
        log.warning("The committed offset of %s[%d]: %s", offset.topic, offset.partition, error)
        return None
