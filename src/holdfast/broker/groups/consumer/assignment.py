"""Sets of partitions, by topic id."""

from collections.abc import Callable, Mapping
from uuid import UUID

Assignment = Mapping[UUID, frozenset[int]]
"""Partitions of each topic. A topic without partitions is left out."""

NOTHING: Assignment = {}


def common(one: Assignment, other: Assignment) -> Assignment:
    return _each(one, lambda topic, partitions: partitions & other.get(topic, frozenset()))


def without(one: Assignment, other: Assignment) -> Assignment:
    return _each(one, lambda topic, partitions: partitions - other.get(topic, frozenset()))


def union(one: Assignment, other: Assignment) -> Assignment:
    return {
        topic: one.get(topic, frozenset()) | other.get(topic, frozenset())
        for topic in (*one, *(topic for topic in other if topic not in one))
    }


def only(one: Assignment, is_wanted: Callable[[UUID, int], bool]) -> Assignment:
    return _each(
        one, lambda topic, partitions: frozenset(p for p in partitions if is_wanted(topic, p))
    )


def count(assignment: Assignment) -> int:
    return sum(map(len, assignment.values()))


def _each(
    assignment: Assignment, change: Callable[[UUID, frozenset[int]], frozenset[int]]
) -> Assignment:
    changed = ((topic, change(topic, partitions)) for topic, partitions in assignment.items())
    return {topic: partitions for topic, partitions in changed if partitions}
