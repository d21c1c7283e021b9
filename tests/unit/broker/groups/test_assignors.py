"""Assignors: each partition has one subscriber, numbers are even, and few partitions move."""

import random
from uuid import UUID

import pytest

from holdfast.broker.groups.consumer.assignment import Assignment, common, count
from holdfast.broker.groups.consumer.assignors import (
    ASSIGNORS,
    Shape,
    Subscriber,
    assign_range,
    assign_uniform,
    preferred_assignor,
)

TOPICS = {name: Shape(UUID(int=number + 1), 3 + number * 2) for number, name in enumerate("abc")}


def subscribers(choose: random.Random, *, same: bool) -> list[Subscriber]:
    everything = frozenset(TOPICS)
    return [
        Subscriber(
            f"m{number}",
            f"i{number}" if number % 3 == 0 else None,
            everything if same else frozenset(choose.sample("abcd", choose.randint(1, 3))),
        )
        for number in choose.sample(range(9), choose.randint(1, 7))
    ]


def numbers(targets: dict[str, Assignment]) -> list[int]:
    return sorted(map(count, targets.values()))


@pytest.mark.parametrize("name", ASSIGNORS)
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_each_partition_goes_to_one_of_its_subscribers(name: str, same: bool, seed: int) -> None:
    choose = random.Random(seed)
    targets: dict[str, Assignment] = {}
    for _ in range(4):
        members = subscribers(choose, same=same)
        targets = ASSIGNORS[name](members, TOPICS, targets)
        given = [(topic, p) for each in targets.values() for topic, ps in each.items() for p in ps]
        names = {topic for member in members for topic in member.topics} & TOPICS.keys()
        wanted = [(TOPICS[n].id, p) for n in names for p in range(TOPICS[n].partitions)]
        assert sorted(given) == sorted(wanted)
        for member in members:
            ids = {TOPICS[topic].id for topic in member.topics if topic in TOPICS}
            assert targets[member.member_id].keys() <= ids


@pytest.mark.parametrize("seed", range(20))
def test_uniform_shares_evenly_and_moves_little(seed: int) -> None:
    choose = random.Random(seed)
    members = subscribers(choose, same=True)
    before = assign_uniform(members, TOPICS, {})
    assert numbers(before)[-1] - numbers(before)[0] <= 1
    joined = [*members, Subscriber("new", None, frozenset(TOPICS))]
    after = assign_uniform(joined, TOPICS, before)
    assert numbers(after)[-1] - numbers(after)[0] <= 1
    stayed = sum(count(common(before[m.member_id], after[m.member_id])) for m in members)
    total = sum(shape.partitions for shape in TOPICS.values())
    assert total - stayed == count(after["new"]), "only the new member's partitions moved"


def test_range_gives_neighbours_and_the_same_numbers_of_like_topics() -> None:
    topics = {"x": Shape(UUID(int=1), 5), "y": Shape(UUID(int=2), 5)}
    members = [Subscriber(f"m{n}", None, frozenset(topics)) for n in range(2)]
    targets = assign_range(members, topics, {})
    assert targets["m0"] == dict.fromkeys((UUID(int=1), UUID(int=2)), frozenset({0, 1, 2}))
    assert targets["m1"] == dict.fromkeys((UUID(int=1), UUID(int=2)), frozenset({3, 4}))


def test_most_members_choose_the_assignor() -> None:
    assert preferred_assignor([None, None]) == "uniform"
    assert preferred_assignor(["range", None, "range", "uniform"]) == "range"
