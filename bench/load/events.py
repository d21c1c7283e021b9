"""Numbered events: written by the million, and read back to see that each came out as it should."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from holdfast.flows.keys import partition_of

EVENT_BYTES = 200
_STAMP_BYTES = 16
_PADDING = bytes(EVENT_BYTES - _STAMP_BYTES)
_READ_DEADLINE_S = 120.0

Numbers = npt.NDArray[np.int64]


class WrongOutputError(Exception):
    """The output is wrong. No figure of such a run counts."""


@dataclass(frozen=True, slots=True)
class Load:
    """Events 0 to `count`, over the keys in turn, some of which are on hold."""

    count: int
    keys: int
    held: int

    @property
    def cycle(self) -> list[bytes]:
        """The keys in the order of their events."""
        return [self.key(number) for number in range(self.keys)]

    def key(self, number: int) -> bytes:
        return b"key-%06d" % (number % self.keys)

    @property
    def held_keys(self) -> list[bytes]:
        """Spread evenly, so that every stretch of the events has its share of held ones."""
        return [self.key(number * self.keys // self.held) for number in range(self.held)]

    def passing(self) -> Numbers:
        """The numbers of the events that are not held."""
        numbers = np.arange(self.count)
        return numbers[self.passes(numbers)]

    def passes(self, numbers: Numbers) -> npt.NDArray[np.bool_]:
        """True for each of these whose key is not held."""
        held = np.arange(self.held) * self.keys // max(self.held, 1)
        return ~np.isin(numbers % self.keys, held)


def encode_event(number: int, padding: bytes = _PADDING) -> bytes:
    """200 bytes, unless padded otherwise, that begin with the event's number and the time."""
    return number.to_bytes(8) + time.monotonic_ns().to_bytes(8) + padding


def decode_event(value: bytes | None) -> tuple[int, int]:
    """Returns number and time in ns."""
    assert value is not None, "not an event of this load"
    return int.from_bytes(value[:8]), int.from_bytes(value[8:16])


def bulk_producer(bootstrap: str) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "partitioner": "murmur2_random",
            "enable.idempotence": True,
            "linger.ms": 20,
            "batch.size": 500_000,
            "queue.buffering.max.messages": 500_000,
            "queue.buffering.max.kbytes": 1_048_576,
        }
    )


def send_all(bootstrap: str, topic: str, records: Iterable[tuple[bytes | None, bytes]]) -> None:
    """Write keys with their values, and wait for the last."""
    producer = bulk_producer(bootstrap)
    for key, value in records:
        while True:
            try:
                producer.produce(topic, value, key)
                break
            except BufferError:
                producer.poll(0.01)
    flush(producer)


def fill(
    bootstrap: str,
    topic: str,
    cycle: Sequence[bytes],
    count: int,
    partitions: int,
    *,
    first: int = 0,
    size: int = EVENT_BYTES,
) -> None:
    """Write this many events, numbered from `first` on, whose keys go round the cycle; wait for the
    last."""
    producer = bulk_producer(bootstrap)
    padding = bytes(size - _STAMP_BYTES)
    # The partition is worked out once a key, not once an event.
    homes = [partition_of(key, partitions) for key in cycle]
    send, poll = producer.produce, producer.poll
    for number in range(first, first + count):
        place = (number - first) % len(cycle)
        while True:
            try:
                send(topic, encode_event(number, padding), cycle[place], partition=homes[place])
                break
            except BufferError:
                poll(0.01)
        if number % 10_000 == 0:
            poll(0)
    flush(producer)


def flush(producer: Producer) -> None:
    left = producer.flush(120)
    if left:
        raise RuntimeError(f"{left} records were not acknowledged")


def check_output(bootstrap: str, topic: str, load: Load, partitions: int) -> None:
    """Read all that a read_committed consumer sees. Each event that is not held must be there once,
    after those of its key that came before it, and no held one."""
    found = [
        np.fromiter((decode_event(m.value())[0] for m in messages), np.int64)
        for messages in read_partitions(bootstrap, topic, partitions)
    ]
    for numbers in found:
        _check_order(numbers, load.keys)
    _check_numbers(np.concatenate(found), load.passing())


def _check_numbers(found: Numbers, expected: Numbers) -> None:
    distinct = np.unique(found)
    wrong = {
        "twice": len(found) - len(distinct),
        "missing": len(np.setdiff1d(expected, distinct, assume_unique=True)),
        "not to come out": len(np.setdiff1d(distinct, expected, assume_unique=True)),
    }
    if any(wrong.values()):
        raise WrongOutputError(
            f"of {len(expected):,} events: "
            + ", ".join(f"{n:,} {what}" for what, n in wrong.items())
        )


def _check_order(numbers: Numbers, keys: int) -> None:
    by_key = np.argsort(numbers % keys, kind="stable")
    ordered, key = numbers[by_key], (numbers % keys)[by_key]
    backwards = (np.diff(ordered) < 0) & (np.diff(key) == 0)
    if backwards.any():
        raise WrongOutputError(f"{int(backwards.sum()):,} events overtook one of their key")


def read_partitions(bootstrap: str, topic: str, partitions: int) -> Iterator[Iterator[Message]]:
    """The records of each partition in turn, as a read_committed consumer sees them now."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench-reader",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.queue.backoff.ms": 10,  # a second, unless given, whenever its queue was full
        }
    )
    try:
        for partition in range(partitions):
            consumer.assign([TopicPartition(topic, partition, 0)])
            yield _to_end(consumer, partition)
    finally:
        consumer.close()


def _to_end(consumer: Consumer, partition: int) -> Iterator[Message]:
    end = time.monotonic() + _READ_DEADLINE_S
    while time.monotonic() < end:
        for message in consumer.consume(10_000, 0.1):
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                return
            else:
                raise KafkaException(error)
    raise RuntimeError(f"partition {partition} was not read within {_READ_DEADLINE_S:.0f} s")
