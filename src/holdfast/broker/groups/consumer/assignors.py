"""Assignors: they decide which member gets which partition. No I/O, on any thread.

Each gets the subscribers, the topics that exist, and the present target. Each partition of a
subscribed topic goes to exactly one of its subscribers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from holdfast.broker.groups.consumer.assignment import Assignment

Place = tuple[UUID, int]


class Shape(NamedTuple):
    """What an assignor knows of a topic."""

    id: UUID
    partitions: int


class Subscriber(NamedTuple):
    """What an assignor knows of a member."""

    member_id: str
    instance_id: str | None
    topics: frozenset[str]

    @property
    def rank(self) -> tuple[bool, str]:
        """Static members first. Their order outlives restarts."""
        return self.instance_id is None, self.instance_id or self.member_id


Targets = dict[str, Assignment]
"""By member id."""
Assignor = Callable[[Sequence[Subscriber], Mapping[str, Shape], Mapping[str, Assignment]], Targets]


def assign_uniform(
    subscribers: Sequence[Subscriber],
    topics: Mapping[str, Shape],
    present: Mapping[str, Assignment],
) -> Targets:
    """Gives all members the same number of partitions, give or take one, and moves few of them.

    If members subscribe to different topics, the numbers are as equal as single moves make them.
    """
    ranked = sorted(subscribers, key=lambda subscriber: subscriber.rank)
    places = {
        (topics[name].id, partition): name
        for name in sorted({topic for each in ranked for topic in each.topics} & topics.keys())
        for partition in range(topics[name].partitions)
    }
    kept: dict[str, list[Place]] = {}
    free = dict.fromkeys(places)
    for each in ranked:
        kept[each.member_id] = [
            place
            for place in _places(present.get(each.member_id, {}))
            if place in free and places[place] in each.topics
        ]
        for place in kept[each.member_id]:
            del free[place]
    if len({each.topics for each in ranked}) <= 1:
        _share_equally(ranked, kept, list(free), len(places))
    else:
        _share_by_subscription(ranked, kept, list(free), places)
    return {member_id: _assignment(taken) for member_id, taken in kept.items()}


def _share_equally(
    ranked: Sequence[Subscriber], kept: dict[str, list[Place]], free: list[Place], total: int
) -> None:
    quota, extra = divmod(total, len(ranked)) if ranked else (0, 0)
    for each in ranked:
        taken = kept[each.member_id]
        has_extra = len(taken) > quota and extra > 0
        extra -= has_extra
        limit = quota + has_extra
        free += taken[limit:]
        del taken[limit:]
    free.reverse()  # `pop` takes from the end
    for each in ranked:
        taken = kept[each.member_id]
        while len(taken) < quota:
            taken.append(free.pop())
    for each in ranked:
        if free and len(kept[each.member_id]) == quota:
            kept[each.member_id].append(free.pop())


def _share_by_subscription(
    ranked: Sequence[Subscriber],
    kept: dict[str, list[Place]],
    free: list[Place],
    places: Mapping[Place, str],
) -> None:
    by_topic: dict[str, list[str]] = {}
    for each in ranked:
        for topic in each.topics:
            by_topic.setdefault(topic, []).append(each.member_id)
    free.sort(key=lambda place: len(by_topic[places[place]]))  # the least choice first
    for place in free:
        least = min(by_topic[places[place]], key=lambda member_id: len(kept[member_id]))
        kept[least].append(place)
    moved = True
    moves = 2 * len(places)  # a bound: each move makes the numbers more equal
    while moved and moves > 0:
        moved = False
        for member_id in sorted(kept, key=lambda member_id: -len(kept[member_id])):
            for place in list(kept[member_id]):
                least = min(by_topic[places[place]], key=lambda other: len(kept[other]))
                if len(kept[member_id]) - len(kept[least]) >= 2:
                    kept[member_id].remove(place)
                    kept[least].append(place)
                    moved, moves = True, moves - 1


def assign_range(
    subscribers: Sequence[Subscriber],
    topics: Mapping[str, Shape],
    present: Mapping[str, Assignment],
) -> Targets:
    """Divides each topic into ranges. Topics with equal subscribers and numbers of partitions are
    divided alike, so a member gets the same partitions of each."""
    ranked = sorted(subscribers, key=lambda subscriber: subscriber.rank)
    targets: dict[str, dict[UUID, frozenset[int]]] = {each.member_id: {} for each in ranked}
    for name, shape in topics.items():
        members = [each.member_id for each in ranked if name in each.topics]
        start = 0
        for position, member_id in enumerate(members):
            length = shape.partitions // len(members)
            length += position < shape.partitions % len(members)
            if length:
                targets[member_id][shape.id] = frozenset(range(start, start + length))
            start += length
    return dict(targets)


ASSIGNORS: Mapping[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}
DEFAULT_ASSIGNOR = "uniform"


def preferred_assignor(votes: Iterable[str | None]) -> str:
    """The assignor that most members ask for."""
    counted = Counter(vote for vote in votes if vote is not None)
    return counted.most_common(1)[0][0] if counted else DEFAULT_ASSIGNOR


def _places(assignment: Assignment) -> list[Place]:
    return [(topic, p) for topic, partitions in assignment.items() for p in sorted(partitions)]


def _assignment(places: Iterable[Place]) -> Assignment:
    partitions: dict[UUID, set[int]] = {}
    for topic, partition in places:
        partitions.setdefault(topic, set()).add(partition)
    return {topic: frozenset(numbers) for topic, numbers in partitions.items()}
