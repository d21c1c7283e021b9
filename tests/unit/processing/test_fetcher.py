"""Cases that no real broker produces on demand: rebalances in a batch, failed seeks, errors."""

import itertools
import types
from collections import deque
from collections.abc import Callable

import pytest
from arroyo.errors import ConsumerError, OffsetOutOfRange, TransportError
from arroyo.types import Topic
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from holdfast.processing import fetcher as fetcher_module
from holdfast.processing.fetcher import SERVE_EVERY_SECONDS, Fetcher
from holdfast.processing.values import FastPartition

TOPIC = Topic("t")
P0, P1 = FastPartition(TOPIC, 0), FastPartition(TOPIC, 1)


class ScriptedLibrdkafka:
    """Answers `consume` and `poll` with what a test has laid out."""

    def __init__(self) -> None:
        self.batches: deque[Callable[[], list[Message]]] = deque()
        self.seeks: list[tuple[int, int]] = []
        self.seek_errors: deque[int] = deque()
        self.calls = 0

    def consume(self, count: int, timeout: float) -> list[Message]:
        self.calls += 1
        return self.batches.popleft()() if self.batches else []

    def poll(self, timeout: float) -> Message | None:
        return None

    def seek(self, where: TopicPartition) -> None:
        if self.seek_errors:
            raise KafkaException(KafkaError(self.seek_errors.popleft()))
        self.seeks.append((where.partition, where.offset))

    def pause(self, partitions: list[TopicPartition]) -> None:
        return

    def resume(self, partitions: list[TopicPartition]) -> None:
        return


def message(partition: int, offset: int, error: int | None = None) -> Message:
    return Message(
        topic=TOPIC.name,
        partition=partition,
        offset=offset,
        value=b"v",
        timestamp=(1, 0),
        error=None if error is None else KafkaError(error),
    )


def made() -> tuple[ScriptedLibrdkafka, Fetcher]:
    librdkafka = ScriptedLibrdkafka()
    fetcher = Fetcher(librdkafka)  # type: ignore[arg-type]
    fetcher.add(P0, 0)
    return librdkafka, fetcher


def drain(fetcher: Fetcher) -> list[tuple[int, int]]:
    taken = iter(lambda: fetcher.poll(0.0), None)
    return [(value.partition.index, value.offset) for value in taken if value is not None]


def test_a_batch_interrupted_by_a_rebalance_is_fetched_again_for_new_partitions() -> None:
    librdkafka, fetcher = made()

    def interrupted() -> list[Message]:
        fetcher.add(P1, 5)  # assigned again, behind what was fetched before
        return [message(0, 0), message(1, 20), message(1, 21), message(0, 1)]

    librdkafka.batches.extend([interrupted, lambda: [message(1, 5), message(1, 6)]])
    assert drain(fetcher) == [(0, 0), (0, 1), (1, 5), (1, 6)]
    assert librdkafka.seeks == [(1, 5)]


def test_messages_of_a_revoked_partition_are_dropped() -> None:
    librdkafka, fetcher = made()

    def revoking() -> list[Message]:
        fetcher.remove(P0)
        return [message(0, 0)]

    librdkafka.batches.append(revoking)
    assert drain(fetcher) == []
    assert fetcher.positions() == {}


def test_a_seek_that_librdkafka_is_not_ready_for_is_retried() -> None:
    librdkafka, fetcher = made()
    fetcher.seek({P0: 3})
    librdkafka.seek_errors.append(KafkaError._STATE)
    librdkafka.batches.extend([lambda: [message(0, 0)], lambda: [message(0, 3)]])
    assert drain(fetcher) == []
    assert drain(fetcher) == [(0, 3)]
    assert librdkafka.seeks == [(0, 3)]


def test_an_impossible_seek_is_an_error() -> None:
    librdkafka, fetcher = made()
    fetcher.seek({P0: 3})
    librdkafka.seek_errors.append(KafkaError._UNKNOWN_PARTITION)
    with pytest.raises(ConsumerError, match="cannot seek"):
        fetcher.poll(0.0)


def test_duplicate_messages_are_returned_once() -> None:
    librdkafka, fetcher = made()
    librdkafka.batches.append(lambda: [message(0, 0), message(0, 1)])
    librdkafka.batches.append(lambda: [message(0, 1), message(0, 2)])
    assert drain(fetcher) == [(0, 0), (0, 1), (0, 2)]


def test_librdkafka_is_polled_while_buffers_are_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a slow consumer would be thrown out of its group with its buffer full."""
    ticks = itertools.count()
    clock = types.SimpleNamespace(monotonic=lambda: next(ticks) * SERVE_EVERY_SECONDS / 4)
    monkeypatch.setattr(fetcher_module, "time", clock)
    librdkafka, fetcher = made()
    librdkafka.batches.append(lambda: [message(0, n) for n in range(100)])
    assert len(drain(fetcher)) == 100
    assert librdkafka.calls > 15


def test_partitions_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    clock = types.SimpleNamespace(monotonic=lambda: next(ticks) * SERVE_EVERY_SECONDS / 4)
    monkeypatch.setattr(fetcher_module, "time", clock)
    librdkafka, fetcher = made()
    fetcher.add(P1, 0)
    fetcher._added_in_call.clear()
    librdkafka.batches.append(lambda: [message(p, n) for p in range(2) for n in range(50)])
    first = drain(fetcher)[:40]
    assert {partition for partition, _ in first} == {0, 1}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (KafkaError._TRANSPORT, TransportError),
        (KafkaError.OFFSET_OUT_OF_RANGE, OffsetOutOfRange),
        (KafkaError._AUTO_OFFSET_RESET, OffsetOutOfRange),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, ConsumerError),
    ],
)
def test_errors_in_a_batch_lose_no_message(code: int, kind: type[Exception]) -> None:
    librdkafka, fetcher = made()
    librdkafka.batches.append(lambda: [message(0, 0), message(0, -1, code), message(0, 1)])
    taken: list[tuple[int, int]] = []
    raised: list[Exception] = []
    for _ in range(4):
        try:
            taken += drain(fetcher)
        except Exception as error:
            raised.append(error)
    assert [type(error) for error in raised] == [kind]
    assert fetcher.positions() == {P0: 2}
