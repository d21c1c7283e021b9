"""Processed records, and those of them that are committed."""

import random

import pytest
from confluent_kafka import Message

from holdfast.client.positions import Partition
from holdfast.client.progress import Progress, last_offsets

A0, A1, B0 = Partition("a", 0), Partition("a", 1), Partition("b", 0)


def message(partition: Partition, offset: int) -> Message:
    return Message(partition.topic, partition.number, offset)


def test_commit_is_the_last_processed_offset_plus_one() -> None:
    progress = Progress()
    progress.processed([message(A0, 5), message(B0, 2), message(A0, 9)])
    assert progress.uncommitted() == {A0: 10, B0: 3}
    assert progress.uncommitted({A0}) == {A0: 10}
    assert progress.uncommitted_records == 3


def test_committed_offset_is_not_committed_again() -> None:
    progress = Progress()
    progress.processed([message(A0, 5), message(A1, 1)])
    progress.committed({A0: 6})
    assert progress.uncommitted() == {A1: 2}
    progress.committed({A1: 2})
    assert progress.uncommitted() == {}
    assert progress.uncommitted_records == 0


def test_a_commit_of_less_than_is_done_leaves_it_uncommitted() -> None:
    progress = Progress()
    progress.processed([message(A0, 5)])
    progress.committed({A0: 4})
    assert progress.uncommitted() == {A0: 6}


def test_a_forgotten_partition_is_not_committed() -> None:
    progress = Progress()
    progress.processed([message(A0, 5), message(A1, 1)])
    progress.forget([A0, B0])
    assert progress.uncommitted() == {A1: 2}


def test_last_offsets_are_the_same_with_and_without_the_topic() -> None:
    messages = [message(A0, 1), message(A1, 7), message(A0, 2)]
    assert last_offsets(messages, "a") == last_offsets(messages) == {A0: 2, A1: 7}


@pytest.mark.parametrize("seed", range(40))
def test_last_offsets_of_random_runs_are_those_of_the_naive_loop(seed: int) -> None:
    rng = random.Random(seed)
    offsets = dict.fromkeys((A0, A1, B0), 0)
    messages, expected = [], {}
    for _ in range(rng.randrange(1, 5)):
        partition = rng.choice([A0, A1, B0])
        for _ in range(rng.randrange(1, 6)):
            offsets[partition] += rng.randrange(1, 3)  # a transaction's marker leaves a gap
            messages.append(message(partition, offsets[partition]))
            expected[partition] = offsets[partition]
    assert last_offsets(messages) == expected, f"seed {seed}"
    of_a = [m for m in messages if m.topic() == "a"]
    if of_a:
        expected.pop(B0, None)
        assert last_offsets(of_a, "a") == expected, f"seed {seed}"
