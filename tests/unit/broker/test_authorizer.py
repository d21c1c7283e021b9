"""Decisions of access control, compared with a naive reading of the lists."""

import random

import pytest
from tests.access_table import BY_NAME

from holdfast.broker.security.acls import (
    IMPLIED_BY,
    OPERATIONS,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from holdfast.broker.security.authorizer import Authorizer, is_own
from holdfast.broker.security.rules.table import RULES

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
USERS = ("User:a", "User:b", "User:*")
HOSTS = ("1.1.1.1", "2.2.2.2", "*")
NAMES = ("x", "xy", "xyz", "z", "*")


def entry(
    name: str = "t",
    operation: Operation = Operation.READ,
    pattern: PatternType = PatternType.LITERAL,
    kind: ResourceType = TOPIC,
    permission: Permission = Permission.ALLOW,
) -> Acl:
    return Acl(kind, pattern, name, "User:a", "*", operation, permission)


def test_every_api_has_a_rule() -> None:
    assert set(RULES) == {api.key for api in BY_NAME.values()}


@pytest.mark.parametrize("seed", range(300))
def test_decisions_are_those_of_a_naive_reading(seed: int) -> None:
    source = random.Random(seed)
    operations = sorted(OPERATIONS[TOPIC] | {Operation.ALL})
    acls = {
        Acl(
            TOPIC,
            source.choice((PatternType.LITERAL, PatternType.PREFIXED)),
            source.choice(NAMES),
            source.choice(USERS),
            source.choice(HOSTS),
            source.choice(operations),
            source.choice((Permission.ALLOW, Permission.ALLOW, Permission.DENY)),
        )
        for _ in range(source.randint(0, 12))
    }
    authorizer = Authorizer(frozenset(("User:root",)), acls)
    for _ in range(60):
        who, host = source.choice(USERS[:2]), source.choice(HOSTS[:2])
        name, operation = source.choice(NAMES[:4]), source.choice(sorted(OPERATIONS[TOPIC]))
        for _ in range(2):  # the second time from the cache
            found = authorizer.permits(who, host, operation, TOPIC, name)
            assert found == _naive(acls, who, host, operation, name), f"seed {seed}"
        assert authorizer.permits("User:root", host, operation, TOPIC, name)
    for operation in OPERATIONS[TOPIC]:
        if (
            any(
                _naive(acls, "User:a", "1.1.1.1", operation, n)
                for n in (*NAMES[:4], "other", "xyw")
            )
            and operation not in IMPLIED_BY
        ):
            assert authorizer.permits_any("User:a", "1.1.1.1", operation, TOPIC), f"seed {seed}"


def _naive(acls: set[Acl], who: str, host: str, operation: Operation, name: str) -> bool:
    matching = [
        acl
        for acl in acls
        if acl.principal in (who, "User:*")
        and acl.host in (host, "*")
        and (
            acl.name in (name, "*")
            if acl.pattern_type is PatternType.LITERAL
            else name.startswith(acl.name)
        )
    ]
    same = (operation, Operation.ALL)
    if any(a.permission is Permission.DENY and a.operation in same for a in matching):
        return False
    enough = {*same, *IMPLIED_BY.get(operation, ())}
    return any(a.permission is Permission.ALLOW and a.operation in enough for a in matching)


def test_new_lists_apply_at_once() -> None:
    authorizer = Authorizer(frozenset(), [entry()])
    assert authorizer.permits("User:a", "h", Operation.READ, TOPIC, "t")
    authorizer.load([])
    assert not authorizer.permits("User:a", "h", Operation.READ, TOPIC, "t")


def test_cached_decisions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.broker.security.authorizer.MOST_DECISIONS", 100)
    authorizer = Authorizer(frozenset(), [entry()])
    for number in range(1_000):
        authorizer.permits("User:a", "h", Operation.READ, TOPIC, f"t{number}")
    assert len(authorizer._decisions) <= 100


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (TOPIC, "orders.control", True),
        (TOPIC, "orders.journal", True),
        (TOPIC, "orders.status", True),
        (TOPIC, "orders.held", True),
        (TOPIC, "holdfast.tokens", True),
        (GROUP, "holdfast.orders", True),
        (ResourceType.TRANSACTIONAL_ID, "holdfast.orders.driver", True),
        (TOPIC, "orders.events", False),
        (TOPIC, "orders.processed", False),
        (TOPIC, "orders.dlq", False),
        (TOPIC, "control", False),
        (GROUP, "my.control", False),
    ],
)
def test_own_resources_are_known_by_their_names(
    kind: ResourceType, name: str, expected: bool
) -> None:
    assert is_own(kind, name) is expected


@pytest.mark.parametrize(
    ("kind", "name", "prefix", "changes", "reads"),
    [
        (
            TOPIC,
            "orders.control",
            "orders.",
            (Operation.WRITE, Operation.DELETE, Operation.ALTER, Operation.ALTER_CONFIGS),
            (Operation.READ, Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS),
        ),
        (GROUP, "holdfast.orders", "holdfast", (Operation.READ, Operation.DELETE), ()),
    ],
)
def test_own_resources_are_changed_only_with_a_permission_for_their_name(
    kind: ResourceType,
    name: str,
    prefix: str,
    changes: tuple[Operation, ...],
    reads: tuple[Operation, ...],
) -> None:
    broad = [
        entry(prefix, Operation.ALL, PatternType.PREFIXED, kind),
        entry("*", Operation.ALL, kind=kind),
    ]
    authorizer = Authorizer(frozenset(("User:pipeline",)), broad)
    for operation in changes:
        assert not authorizer.permits("User:a", "h", operation, kind, name)
        assert authorizer.permits("User:pipeline", "h", operation, kind, name)
    for operation in reads:
        assert authorizer.permits("User:a", "h", operation, kind, name)
    exact = [*broad, entry(name, Operation.ALL, kind=kind)]
    assert Authorizer(frozenset(), exact).permits("User:a", "h", changes[0], kind, name)


def test_filters_select_as_in_kafka() -> None:
    acls = [entry("t"), entry("*"), entry("te", pattern=PatternType.PREFIXED)]

    def selected(pattern: PatternType, name: str | None) -> list[str]:
        wanted = AclFilter(ResourceType.ANY, pattern, name, None, None, 1, 1)
        return [acl.name for acl in acls if wanted.matches(acl)]

    assert selected(PatternType.ANY, None) == ["t", "*", "te"]
    assert selected(PatternType.LITERAL, "t") == ["t"]
    assert selected(PatternType.MATCH, "test") == ["*", "te"]
    assert selected(PatternType.PREFIXED, "te") == ["te"]
    assert selected(PatternType.ANY, "te") == ["te"]
