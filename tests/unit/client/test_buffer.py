"""The buffer between librdkafka and the user: nothing skipped, nothing twice, done means done."""

import random
from collections.abc import Iterator

import pytest
from confluent_kafka import Message

from holdfast.client.buffer import Buffer
from holdfast.client.positions import Partition, message_partition


def message(partition: int, offset: int) -> Message:
    return Message("t", partition, offset, b"k", b"v")


def coordinates(messages: list[Message]) -> list[tuple[int | None, int | None]]:
    return [(m.partition(), m.offset()) for m in messages]


def test_current_message_is_done_only_when_the_caller_marks_it() -> None:
    buffer = Buffer()
    buffer.refill([message(0, i) for i in range(5)])
    chunk = buffer.next_chunk(5)
    for _ in range(3):
        next(chunk)
    assert coordinates(buffer.take_done(in_hand=False)) == [(0, 0), (0, 1)]
    assert coordinates(buffer.waiting()) == [(0, 3), (0, 4)]
    assert coordinates(buffer.take_done(in_hand=True)) == [(0, 2)]
    assert buffer.take_done(in_hand=True) == []


def test_a_cut_ends_the_iteration_and_keeps_the_rest() -> None:
    buffer = Buffer()
    buffer.refill([message(0, i) for i in range(5)])
    chunk = buffer.next_chunk(4)
    next(chunk)
    buffer.cut()
    assert list(chunk) == []
    assert coordinates(buffer.waiting()) == [(0, 1), (0, 2), (0, 3), (0, 4)]


def test_message_that_arrives_during_a_chunk_waits_behind_it() -> None:
    buffer = Buffer()
    buffer.refill([message(0, 0), message(0, 1)])
    chunk = buffer.next_chunk(9)
    next(chunk)
    buffer.append([message(0, 2)])
    assert coordinates(list(chunk)) == [(0, 1)]
    assert coordinates(buffer.waiting()) == [(0, 2)]


def test_a_record_that_is_put_back_comes_again() -> None:
    buffer = Buffer()
    buffer.refill([message(0, i) for i in range(3)])
    chunk = buffer.next_chunk(3)
    next(chunk), next(chunk)
    buffer.take_done(in_hand=False)
    buffer.put_back()
    assert coordinates(list(buffer.next_chunk(9))) == [(0, 1), (0, 2)]


def test_dropping_a_partition_drops_its_current_record() -> None:
    buffer = Buffer()
    buffer.refill([message(0, 0), message(1, 0), message(0, 1), message(1, 1)])
    chunk = buffer.next_chunk(4)
    next(chunk), next(chunk)
    buffer.take_done(in_hand=False)
    assert buffer.drop({Partition("t", 1)}) is True
    assert buffer.take_done(in_hand=True) == []
    assert coordinates(buffer.waiting()) == [(0, 1)]


def test_dropping_another_partition_leaves_the_record_in_hand() -> None:
    buffer = Buffer()
    buffer.refill([message(0, 0), message(1, 0)])
    next(buffer.next_chunk(1))
    assert buffer.drop({Partition("t", 1)}) is False
    assert coordinates(buffer.take_done(in_hand=True)) == [(0, 0)]
    assert buffer.empty


@pytest.mark.parametrize("seed", range(60))
def test_random_histories_hand_out_each_message_once_and_in_order(seed: int) -> None:
    """Against the naive model: a list, and the index of the first message that is not done."""
    rng = random.Random(seed)
    buffer, offsets = Buffer(), [0, 0, 0]
    handed: list[tuple[int | None, int | None]] = []
    done: list[tuple[int | None, int | None]] = []
    expected: list[tuple[int, int]] = []

    def fresh(count: int) -> list[Message]:
        made = []
        for _ in range(count):
            partition = rng.randrange(3)
            made.append(message(partition, offsets[partition]))
            expected.append((partition, offsets[partition]))
            offsets[partition] += 1
        return made

    chunk: Iterator[Message] = iter(())
    for _ in range(300):
        match rng.randrange(6):
            case 0 if not buffer.waiting():
                buffer.refill(fresh(rng.randrange(8)))
            case 1:
                buffer.append(fresh(rng.randrange(2)))
            case 2:
                following = next(chunk, None)
                if following is not None:
                    handed += coordinates([following])
                    done += coordinates(buffer.take_done(in_hand=False))
            case 3:
                buffer.cut()
            case 4:
                done += coordinates(buffer.take_done(in_hand=True))
                following = next(chunk, None)
                if following is None:
                    chunk = buffer.next_chunk(rng.randrange(1, 5))
                else:
                    handed += coordinates([following])
            case 5:
                done += coordinates(buffer.take_done(in_hand=False))
                if len(handed) > len(done):
                    handed.pop()
                buffer.put_back()
                chunk = iter(())
        assert handed == expected[: len(handed)], f"seed {seed}"
        assert len(handed) - len(done) <= 1, f"seed {seed}"
        assert done == expected[: len(done)], f"seed {seed}"


def test_partition_of_a_message_is_its_topic_and_number() -> None:
    assert message_partition(message(3, 9)) == Partition("t", 3)
