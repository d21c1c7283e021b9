"""Decides who may do what, as Kafka's StandardAuthorizer does.

A denial wins over every permission, and what no entry permits is denied. Super users may do
everything.

Beyond Kafka: the resources of Holdfast itself (`is_own`) are changed only by super users, and by
principals that an entry permits for exactly that name. A permission for a prefix or for everything
does not reach them, because nobody means "write commands that hold and release keys" by it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.broker.security.acls import (
    EVERYONE,
    IMPLIED_BY,
    OPERATIONS,
    WILDCARD,
    Acl,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

MOST_DECISIONS = 50_000
"""Cached decisions of all principals, about 300 bytes each."""

_OWN_SUFFIXES = (".control", ".journal", ".status", ".held")
_OWN_PREFIX = "holdfast."
_READ_ONLY = frozenset((Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS))
_NONE: frozenset[Operation] = frozenset()


def is_own(resource_type: ResourceType, name: str) -> bool:
    """Returns True for topics, groups and transactional ids of Holdfast itself."""
    if resource_type is ResourceType.CLUSTER:
        return False
    is_topic = resource_type is ResourceType.TOPIC
    return name.startswith(_OWN_PREFIX) or (is_topic and name.endswith(_OWN_SUFFIXES))


def _is_change(operation: Operation, resource_type: ResourceType) -> bool:
    """Reading a topic changes nothing. Reading a group joins it and commits its offsets."""
    if operation is Operation.READ:
        return resource_type is ResourceType.GROUP
    return operation not in _READ_ONLY


class _Patterns:
    """The entries of one principal for one type of resource."""

    def __init__(self) -> None:
        self.literal: dict[str, list[Acl]] = defaultdict(list)
        self.prefixed: dict[str, list[Acl]] = defaultdict(list)
        self.lengths: list[int] = []

    def add(self, acl: Acl) -> None:
        if acl.pattern_type is PatternType.LITERAL:
            self.literal[acl.name].append(acl)
        else:
            self.prefixed[acl.name].append(acl)
            if len(acl.name) not in self.lengths:
                self.lengths.append(len(acl.name))

    def matching(self, name: str) -> Iterator[Acl]:
        yield from self.literal.get(name, ())
        if name != WILDCARD:
            yield from self.literal.get(WILDCARD, ())
        for length in self.lengths:
            if length <= len(name):
                yield from self.prefixed.get(name[:length], ())

    def all(self) -> Iterator[Acl]:
        for acls in (*self.literal.values(), *self.prefixed.values()):
            yield from acls


class Authorizer:
    """The entries, indexed. `load` replaces all of them; decisions follow at once."""

    def __init__(self, super_users: frozenset[str], acls: Iterable[Acl] = ()) -> None:
        self._super_users = super_users
        self._index: dict[tuple[str, ResourceType], _Patterns] = {}
        self._decisions: dict[tuple[str, str, Operation, ResourceType, str], bool] = {}
        self.load(acls)

    def load(self, acls: Iterable[Acl]) -> None:
        index: dict[tuple[str, ResourceType], _Patterns] = {}
        for acl in acls:
            index.setdefault((acl.principal, acl.resource_type), _Patterns()).add(acl)
        self._index = index
        self._decisions = {}  # a new one: a thread may still add to the old one

    def permits(
        self,
        principal: str,
        host: str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> bool:
        if principal in self._super_users:
            return True
        decisions = self._decisions
        key = (principal, host, operation, resource_type, name)
        decision = decisions.get(key)
        if decision is None:
            decision = self._decide(*key)
            if len(decisions) >= MOST_DECISIONS:
                decisions.clear()
            decisions[key] = decision
        return decision

    def _decide(
        self,
        principal: str,
        host: str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> bool:
        enough = IMPLIED_BY.get(operation, _NONE)
        only_by_name = is_own(resource_type, name) and _is_change(operation, resource_type)
        is_permitted = False
        for patterns in self._patterns(principal, resource_type):
            for acl in patterns.matching(name):
                if acl.host not in (WILDCARD, host):
                    continue
                applies = acl.operation in (operation, Operation.ALL)
                if acl.permission is Permission.DENY:
                    if applies:
                        return False
                elif (applies or acl.operation in enough) and (
                    not only_by_name
                    or (acl.pattern_type is PatternType.LITERAL and acl.name == name)
                ):
                    is_permitted = True
        return is_permitted

    def permits_any(
        self, principal: str, host: str, operation: Operation, resource_type: ResourceType
    ) -> bool:
        """Returns True if the principal may do this with some resource of the type."""
        if principal in self._super_users:
            return True
        allowed: list[Acl] = []
        denied: list[Acl] = []
        for patterns in self._patterns(principal, resource_type):
            for acl in patterns.all():
                if acl.host in (WILDCARD, host) and acl.operation in (operation, Operation.ALL):
                    (denied if acl.permission is Permission.DENY else allowed).append(acl)
        prefixes = [d.name for d in denied if d.pattern_type is PatternType.PREFIXED]
        literals = {d.name for d in denied if d.pattern_type is PatternType.LITERAL}
        if WILDCARD in literals:
            return False
        return any(not _is_covered(acl, literals, prefixes) for acl in allowed)

    def operations(self, principal: str, host: str, resource_type: ResourceType, name: str) -> int:
        """The permitted operations as Kafka's bits."""
        return sum(
            1 << operation
            for operation in OPERATIONS[resource_type]
            if self.permits(principal, host, operation, resource_type, name)
        )

    def _patterns(self, principal: str, resource_type: ResourceType) -> Iterator[_Patterns]:
        for each in (principal, EVERYONE):
            patterns = self._index.get((each, resource_type))
            if patterns is not None:
                yield patterns


def _is_covered(acl: Acl, literals: set[str], prefixes: list[str]) -> bool:
    """Returns True if a denial applies to every resource that the entry permits."""
    if acl.pattern_type is PatternType.LITERAL:
        if acl.name == WILDCARD:
            return False
        if acl.name in literals:
            return True
    return any(acl.name.startswith(prefix) for prefix in prefixes)


class Access(NamedTuple):
    """What one client may do."""

    authorizer: Authorizer
    principal: str
    host: str

    def to(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        return self.authorizer.permits(self.principal, self.host, operation, resource_type, name)

    def to_any(self, operation: Operation, resource_type: ResourceType) -> bool:
        return self.authorizer.permits_any(self.principal, self.host, operation, resource_type)

    def operations(self, resource_type: ResourceType, name: str) -> int:
        return self.authorizer.operations(self.principal, self.host, resource_type, name)
