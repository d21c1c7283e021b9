"""The records of `__transaction_state`, as in Kafka: TransactionLogKey 0, TransactionLogValue 1.

One field is our own: the last epoch, with a tag that readers of Kafka's layout skip. Kafka loses it
when its coordinator moves, and then fences a producer that repeats a request without a reply.
"""

import struct
from collections.abc import Iterator

from holdfast.broker.transactions.transaction import (
    NO_EPOCH,
    NO_PRODUCER_ID,
    TopicPartition,
    Transaction,
    TransactionState,
)
from holdfast.errors import DataDirectoryError
from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import UNDECODABLE, read_uvarint, uvarint

_KEY = struct.Struct(">hh")
_HEAD = struct.Struct(">hqhib")
_TIMES = struct.Struct(">qq")
_INT64 = struct.Struct(">q")
_INT32 = struct.Struct(">i")
_INT16 = struct.Struct(">h")
_PREVIOUS_PRODUCER_ID_TAG = 0
_NEXT_PRODUCER_ID_TAG = 1
_LAST_EPOCH_TAG = 10_000
_KEY_VERSION = 0
_VALUE_VERSION = 1


class UnknownTransactionRecord(DataDirectoryError):
    """A record that this release cannot read: it was written by a later one, or is damaged.

    The broker does not start with it: without its epoch, a fenced producer could write again.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"A record of __transaction_state cannot be read: {what}. It was written by a later "
            "version of Holdfast, or is damaged. Run that version, or restore the data directory "
            "from a backup."
        )


def encode_key(transactional_id: str) -> bytes:
    text = transactional_id.encode()
    return _KEY.pack(_KEY_VERSION, len(text)) + text


def decode_key(key: bytes) -> str:
    try:
        version, length = _KEY.unpack_from(key)
    except struct.error:
        raise UnknownTransactionRecord(f"key {key!r} is too short") from None
    text = key[_KEY.size :]
    if version != _KEY_VERSION or length != len(text):
        raise UnknownTransactionRecord(f"key {key!r} is not of version {_KEY_VERSION}")
    return text.decode()


def encode_value(transaction: Transaction) -> bytes:
    return b"".join(_value_parts(transaction))


def _value_parts(transaction: Transaction) -> Iterator[bytes]:
    yield _HEAD.pack(
        _VALUE_VERSION,
        transaction.producer_id,
        transaction.epoch,
        transaction.timeout_ms,
        transaction.state,
    )
    if transaction.state is TransactionState.EMPTY:
        yield uvarint(0)  # null
    else:
        yield from _partition_parts(transaction.partitions)
    yield _TIMES.pack(transaction.updated_ms, transaction.started_ms)
    tags = []
    if transaction.previous_producer_id != NO_PRODUCER_ID:
        tags.append((_PREVIOUS_PRODUCER_ID_TAG, _INT64.pack(transaction.previous_producer_id)))
    if transaction.next_producer_id != NO_PRODUCER_ID:
        tags.append((_NEXT_PRODUCER_ID_TAG, _INT64.pack(transaction.next_producer_id)))
    if transaction.last_epoch != NO_EPOCH:
        tags.append((_LAST_EPOCH_TAG, _INT16.pack(transaction.last_epoch)))
    yield uvarint(len(tags))
    for tag, data in tags:
        yield uvarint(tag) + uvarint(len(data)) + data


def _partition_parts(partitions: frozenset[TopicPartition]) -> Iterator[bytes]:
    by_topic: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        by_topic.setdefault(topic, []).append(index)
    yield uvarint(len(by_topic) + 1)
    for topic, indexes in by_topic.items():
        name = topic.encode()
        yield uvarint(len(name) + 1) + name
        yield uvarint(len(indexes) + 1) + struct.pack(f">{len(indexes)}i", *indexes)
        yield uvarint(0)  # no tagged fields


def decode_value(transactional_id: str, value: bytes) -> Transaction:
    reader = _Reader(value)
    try:
        version, producer_id, epoch, timeout_ms, state = reader.unpack(_HEAD)
        if version != _VALUE_VERSION:
            raise UnknownTransactionRecord(f"value of {transactional_id!r} has version {version}")
        partitions = frozenset(reader.partitions())
        updated_ms, started_ms = reader.unpack(_TIMES)
        tags = reader.tags()
        no_id = _INT64.pack(NO_PRODUCER_ID)
        last_epoch = tags.get(_LAST_EPOCH_TAG, _INT16.pack(NO_EPOCH))
        return Transaction(
            transactional_id=transactional_id,
            producer_id=producer_id,
            epoch=epoch,
            last_epoch=_INT16.unpack(last_epoch)[0],
            previous_producer_id=_INT64.unpack(tags.get(_PREVIOUS_PRODUCER_ID_TAG, no_id))[0],
            next_producer_id=_INT64.unpack(tags.get(_NEXT_PRODUCER_ID_TAG, no_id))[0],
            timeout_ms=timeout_ms,
            state=TransactionState(state),
            partitions=partitions,
            started_ms=started_ms,
            updated_ms=updated_ms,
        )
    except (MalformedMessage, *UNDECODABLE) as error:
        raise UnknownTransactionRecord(f"value of {transactional_id!r}: {error}") from None


class _Reader:
    """Reads one field after the other from a value."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._position = 0

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        values = layout.unpack_from(self._data, self._position)
        self._position += layout.size
        return values

    def unsigned(self) -> int:
        number, self._position = read_uvarint(self._data, self._position)
        return number

    def take(self, size: int) -> bytes:
        data = bytes(self._data[self._position : self._position + size])
        if len(data) != size:
            raise IndexError(f"{size} bytes expected, {len(data)} left")
        self._position += size
        return data

    def partitions(self) -> Iterator[TopicPartition]:
        for _ in range(self.unsigned() - 1):
            topic = self.take(self.unsigned() - 1).decode()
            for _ in range(self.unsigned() - 1):
                yield TopicPartition(topic, self.unpack(_INT32)[0])
            self.tags()

    def tags(self) -> dict[int, bytes]:
        tags = {}
        for _ in range(self.unsigned()):
            tag = self.unsigned()
            tags[tag] = self.take(self.unsigned())
        return tags
