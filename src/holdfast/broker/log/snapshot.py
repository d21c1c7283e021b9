"""The file format of a snapshot of producers. With it a start reads only the end of the log."""

import struct

from crc32c import crc32c

from holdfast.broker.log.producers import Producer, Producers, WrittenBatch

_SNAPSHOT_HEADER = struct.Struct(">4sIq")
_SNAPSHOT_MAGIC = b"HFP1"
_PRODUCER_ROW = struct.Struct(">qhiqqb")
_BATCH_ROW = struct.Struct(">iiqqq")


def encode_snapshot(producers: Producers, offset: int) -> bytes:
    """The state of `producers` at the end offset `offset`."""
    body = bytearray()
    for producer_id, producer in producers.items():
        body += _PRODUCER_ROW.pack(
            producer_id,
            producer.epoch,
            producer.coordinator_epoch,
            producer.last_timestamp,
            producer.transaction_start,
            len(producer.batches),
        )
        for batch in producer.batches:
            body += _BATCH_ROW.pack(*batch)
    tail = offset.to_bytes(8, "big") + body
    return _SNAPSHOT_HEADER.pack(_SNAPSHOT_MAGIC, crc32c(tail), offset) + bytes(body)


def decode_snapshot(data: bytes) -> tuple[Producers, int] | None:
    """The producers in a snapshot, and its offset; None if it is damaged."""
    if len(data) < _SNAPSHOT_HEADER.size:
        return None
    magic, crc, offset = _SNAPSHOT_HEADER.unpack_from(data)
    if magic != _SNAPSHOT_MAGIC or crc != crc32c(data[8:]):
        return None
    producers: dict[int, Producer] = {}
    position = _SNAPSHOT_HEADER.size
    while position < len(data):
        producer_id, epoch, coordinator_epoch, timestamp, start, count = _PRODUCER_ROW.unpack_from(
            data, position
        )
        position += _PRODUCER_ROW.size
        producer = producers[producer_id] = Producer()
        producer.epoch = epoch
        producer.coordinator_epoch = coordinator_epoch
        producer.last_timestamp = timestamp
        producer.transaction_start = start
        for _ in range(count):
            producer.batches.append(WrittenBatch(*_BATCH_ROW.unpack_from(data, position)))
            position += _BATCH_ROW.size
    return Producers(producers), offset
