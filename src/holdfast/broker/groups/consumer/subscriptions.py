"""The topics that the members of a group subscribe to, by name or by regular expression."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sized
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from holdfast.broker.groups.consumer.assignors import Shape
from holdfast.broker.groups.consumer.member import ConsumerMember
from holdfast.broker.groups.consumer.patterns import Pattern, TooCostly

log = logging.getLogger(__name__)

MOST_PATTERNS = 100
"""Different patterns of one group. Each is searched again when topics are created."""


class KnownTopic(Protocol):
    @property
    def id(self) -> UUID: ...
    @property
    def name(self) -> str: ...
    @property
    def partitions(self) -> Sized: ...
    @property
    def internal(self) -> bool: ...


class KnownTopics(Protocol):
    """The topics of this broker."""

    version: int
    """Grows when topics are created, deleted or get partitions."""

    def get(self, name: str) -> KnownTopic | None: ...
    def by_id(self, topic_id: UUID) -> KnownTopic | None: ...
    def names(self) -> list[str]: ...


Compute = Callable[[Callable[[], Any], Callable[[Any], None]], None]
"""Runs a function on a thread, and calls back with its result on the event loop."""
Visible = Callable[[str], bool] | None


class Subscriptions:
    """Counts subscribers, and searches the topics of patterns on a thread."""

    def __init__(self, topics: KnownTopics, compute: Compute) -> None:
        self._topics = topics
        self._compute = compute
        self._by_name: Counter[str] = Counter()
        self._by_pattern: Counter[str] = Counter()
        self._visible: dict[str, Visible] = {}
        """By pattern: what the member that sent it last may see."""
        self._searched: dict[str, int] = {}
        """By pattern: the version of the topics that were searched."""
        self._is_searching = False
        self.found: dict[str, frozenset[str]] = {}
        """By pattern: its topics at the last search."""
        self.too_costly: set[str] = set()

    def replace(self, old: ConsumerMember | None, new: ConsumerMember | None) -> None:
        for counter, before, after in (
            (self._by_name, old.topics if old else (), new.topics if new else ()),
            (self._by_pattern, _pattern_of(old), _pattern_of(new)),
        ):
            counter.update(after)
            counter.subtract(before)
            for gone in [name for name in before if counter[name] <= 0]:
                del counter[gone]

    def unused_patterns(self) -> list[str]:
        return [pattern for pattern in self.found if pattern not in self._by_pattern]

    def forget(self, pattern: str) -> None:
        for by_pattern in (self.found, self._searched, self._visible):
            by_pattern.pop(pattern, None)
        self.too_costly.discard(pattern)

    def has_room_for(self, pattern: str | None) -> bool:
        return not pattern or pattern in self._by_pattern or len(self._by_pattern) < MOST_PATTERNS

    def of(self, member: ConsumerMember) -> frozenset[str]:
        """All topics of a member."""
        return member.topics | self.found.get(member.pattern or "", frozenset())

    def names(self) -> set[str]:
        """All topics of all members, whether they exist or not."""
        patterns = (self.found.get(pattern, frozenset()) for pattern in self._by_pattern)
        return set(self._by_name).union(*patterns)

    def shapes(self) -> Mapping[str, Shape]:
        """The subscribed topics that exist."""
        return {
            name: Shape(topic.id, len(topic.partitions))
            for name in self.names()
            if (topic := self._topics.get(name)) is not None
        }

    def more_partitions(self, member: ConsumerMember) -> int:
        """Partitions of the member's topics that no member of the group subscribes to yet."""
        new = (self._topics.get(name) for name in member.topics if name not in self._by_name)
        return sum(len(topic.partitions) for topic in new if topic is not None)

    def fingerprint(self) -> int:
        """A number that changes when a subscribed topic is created, deleted or gets partitions."""
        mixed = (
            (shape.id.int ^ shape.id.int >> 64) * (2 * shape.partitions + 1)
            for shape in self.shapes().values()
        )
        return sum(mixed) % (1 << 63)

    # patterns

    def search(self, pattern: str | None, visible: Visible, then: Callable[[str], None]) -> None:
        """Starts to search the topics of patterns that have not been searched since the topics
        changed. Calls back with each pattern whose topics have changed."""
        if pattern and pattern not in self._visible:
            self._visible[pattern] = visible
        self._search_next(then)

    def _search_next(self, then: Callable[[str], None]) -> None:
        version = self._topics.version
        due = next(self._due(version), None)
        if due is None or self._is_searching:
            return
        names = self._topics.names()
        self._is_searching = True
        self._compute(
            partial(_search, due, names, self._topics, self._visible[due]),
            partial(self._searched_one, due, version, then),
        )

    def _due(self, version: int) -> Iterator[str]:
        return (
            pattern
            for pattern in self._by_pattern
            if pattern in self._visible and self._searched.get(pattern) != version
        )

    def _searched_one(
        self,
        pattern: str,
        version: int,
        then: Callable[[str], None],
        found: frozenset[str] | None,
    ) -> None:
        self._is_searching = False
        if pattern in self._by_pattern:
            self._searched[pattern] = version
            if found is None:
                log.warning("The regular expression %.200r takes too long", pattern)
                self.too_costly.add(pattern)
            elif found != self.found.get(pattern):
                self.found[pattern] = found
                then(pattern)
        self._search_next(then)


def _pattern_of(member: ConsumerMember | None) -> tuple[str, ...]:
    return (member.pattern,) if member is not None and member.pattern else ()


def _search(
    pattern: str, names: list[str], topics: KnownTopics, visible: Visible
) -> frozenset[str] | None:
    """On a thread. None: it would take too long."""
    try:
        found = Pattern(pattern).search(names)
    except TooCostly:
        return None
    return frozenset(
        name
        for name in found
        if (topic := topics.get(name)) is not None
        and not topic.internal
        and (visible is None or visible(name))
    )
