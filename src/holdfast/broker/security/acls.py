"""Access control lists, in Kafka's terms."""

from enum import IntEnum
from typing import NamedTuple


class ResourceType(IntEnum):
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5


class PatternType(IntEnum):
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


class Permission(IntEnum):
    ANY = 1
    DENY = 2
    ALLOW = 3


CLUSTER_NAME = "kafka-cluster"
WILDCARD = "*"
EVERYONE = "User:*"
ANONYMOUS = "User:ANONYMOUS"

_ON_ALL = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)
OPERATIONS: dict[ResourceType, frozenset[Operation]] = {
    ResourceType.TOPIC: frozenset(
        (
            *_ON_ALL,
            Operation.READ,
            Operation.WRITE,
            Operation.CREATE,
            Operation.DELETE,
            Operation.ALTER,
        )
    ),
    ResourceType.GROUP: frozenset((*_ON_ALL, Operation.READ, Operation.DELETE)),
    ResourceType.CLUSTER: frozenset(
        (
            *_ON_ALL,
            Operation.CREATE,
            Operation.ALTER,
            Operation.CLUSTER_ACTION,
            Operation.IDEMPOTENT_WRITE,
        )
    ),
    ResourceType.TRANSACTIONAL_ID: frozenset((Operation.DESCRIBE, Operation.WRITE)),
}
"""The operations that each type of resource knows."""

IMPLIED_BY: dict[Operation, frozenset[Operation]] = {
    Operation.DESCRIBE: frozenset(
        (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
    ),
    Operation.DESCRIBE_CONFIGS: frozenset((Operation.ALTER_CONFIGS,)),
}
"""Who is allowed one of these is allowed the operation. Denials imply nothing."""


class Acl(NamedTuple):
    """One entry: who may, or may not, do what, from where, with which resources."""

    resource_type: ResourceType
    pattern_type: PatternType
    name: str
    principal: str
    host: str
    operation: Operation
    permission: Permission


class AclFilter(NamedTuple):
    """Selects entries. None and ANY match everything."""

    resource_type: int
    pattern_type: int
    name: str | None
    principal: str | None
    host: str | None
    operation: int
    permission: int

    def matches(self, acl: Acl) -> bool:
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self._matches_name(acl)
        )

    def _matches_name(self, acl: Acl) -> bool:
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, acl.pattern_type):
            return False
        if self.name is None or self.name == acl.name:
            return True
        if self.pattern_type != PatternType.MATCH:
            return False
        # MATCH: every entry that applies to a resource of this name.
        if acl.pattern_type == PatternType.LITERAL:
            return acl.name == WILDCARD
        return self.name.startswith(acl.name)
