"""Access control: each API demands of its client what Apache Kafka's StandardAuthorizer demands."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.access_table import (
    BY_NAME,
    GROUP,
    MISSING,
    OPEN_TO_ALL,
    REFUSALS,
    TOPIC,
    Caller,
    Row,
    codes,
    group,
    in_transaction,
    on_cluster,
    produced,
    rows,
    topic,
    transaction,
)
from tests.brokers import ApacheKafka, EmbeddedBroker, free_ports
from tests.clients import wait_until
from tests.secured import PASSWORD, add_users
from tests.wire import batch

from holdfast.broker.security.acls import Operation, Permission
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.create_topics_request import (
    CreatableTopic,
    CreateTopicsRequest,
)
from holdfast.wire.protocol.generated.describe_cluster_request import DescribeClusterRequest
from holdfast.wire.protocol.generated.describe_groups_request import DescribeGroupsRequest
from holdfast.wire.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from holdfast.wire.protocol.generated.list_groups_request import ListGroupsRequest
from holdfast.wire.protocol.generated.metadata_request import (
    MetadataRequest,
    MetadataRequestTopic,
)
from holdfast.wire.protocol.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from holdfast.wire.protocol.generated.produce_request import ProduceRequest

NOBODY, WRONG, RIGHT = "nobody", "wrong", "right"
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"


class World:
    """A broker with a door for its administrator and one with a login."""

    def __init__(self, broker: ApacheKafka | EmbeddedBroker, login_port: int) -> None:
        self.broker = broker
        self.admin = Caller(broker.port)
        self.callers = {user: Caller(login_port, user, PASSWORD) for user in (NOBODY, WRONG, RIGHT)}

    def close(self) -> None:
        for caller in (self.admin, *self.callers.values()):
            caller.close()


@pytest.fixture(
    scope="module", params=[pytest.param("apache", marks=pytest.mark.apache), "embedded"]
)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("access")
    (login_port,) = free_ports(1)
    broker = (
        _apache(folder, login_port) if request.param == "apache" else _embedded(folder, login_port)
    )
    with broker:
        world = World(broker, login_port)
        wanted = [CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)]
        created = world.admin.ask("create_topics", 5, CreateTopicsRequest(wanted, 10_000))
        assert codes(created) == {0}
        _commit_offset(world.admin)
        yield world
        world.close()


def _embedded(folder: Path, login_port: int) -> EmbeddedBroker:
    (port,) = free_ports(1)
    settings = {
        "listen": f"127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{login_port}",
        "sasl_mechanisms": "PLAIN",
        "access_control": True,
        "super_users": "User:ANONYMOUS",
    }
    add_users(folder / "data", NOBODY, WRONG, RIGHT)
    return EmbeddedBroker(folder, settings)


def _apache(folder: Path, login_port: int) -> ApacheKafka:
    broker = ApacheKafka(folder)
    controller = free_ports(1)[0]
    users = " ".join(f'user_{name}="{PASSWORD}"' for name in (NOBODY, WRONG, RIGHT))
    here = f"PLAINTEXT://127.0.0.1:{broker.port},SASL_PLAINTEXT://127.0.0.1:{login_port}"
    broker.settings = {
        "listeners": f"{here},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": here,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
        "SASL_PLAINTEXT:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{JAAS} {users};",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    return broker


def _commit_offset(admin: Caller) -> None:
    """Makes the group. Apache Kafka makes its topic of offsets when a coordinator is looked for."""
    wanted = FindCoordinatorRequest(coordinator_keys=[GROUP])
    admin.ask("find_coordinator", 4, wanted)
    part = OffsetCommitRequestPartition(0, 0, -1, "")
    request = OffsetCommitRequest(
        GROUP, -1, topics=[OffsetCommitRequestTopic(TOPIC, partitions=[part])]
    )
    wait_until(
        lambda: codes(admin.ask("offset_commit", 8, request)) == {0}, "the coordinator of groups"
    )


def test_table_has_every_api() -> None:
    assert {row.api for row in rows()} == set(BY_NAME) - OPEN_TO_ALL


@pytest.mark.parametrize("row", [row for row in rows() if row.refusal is not None], ids=str)
def test_each_api_is_refused_without_its_permission_and_served_with_it(
    world: World, row: Row
) -> None:
    world.admin.grant(f"User:{WRONG}", *row.insufficient())
    world.admin.grant(f"User:{RIGHT}", *row.needs)

    def refusals(user: str) -> set[int]:
        return codes(world.callers[user].ask(row.api, row.version, row.request)) & REFUSALS

    try:
        assert refusals(NOBODY), "nobody was served"
        # Apache Kafka's brokers learn of new entries a moment after they are created.
        wait_until(lambda: refusals(WRONG) == {row.refusal}, f"a refusal of {row}", 30)
        wait_until(lambda: not refusals(RIGHT), f"a permission for {row}", 30)
    finally:
        world.admin.revoke(f"User:{WRONG}")
        world.admin.revoke(f"User:{RIGHT}")


@pytest.mark.parametrize("row", rows(), ids=str)
def test_no_answer_tells_whether_a_topic_exists(world: World, row: Row) -> None:
    caller = world.callers[NOBODY]
    known = caller.ask(row.api, row.version, row.request)
    missing = caller.ask(row.api, row.version, _about_another(row.request))
    assert _about_another(known) == _about_another(missing)


def _about_another(value: object) -> object:
    """Returns a copy of a message, about a topic that does not exist. Apache Kafka's messages have
    the address of a session, which differs each time."""
    if isinstance(value, str):
        return re.sub(r"Session@[0-9a-f]+", "Session", value.replace(TOPIC, MISSING))
    if isinstance(value, list):
        return [_about_another(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return type(value)(**{f.name: _about_another(getattr(value, f.name)) for f in fields})
    return value


def test_a_denial_wins_over_every_permission(world: World) -> None:
    user = f"User:{RIGHT}"
    caller = world.callers[RIGHT]

    def error() -> int:
        request = MetadataRequest([MetadataRequestTopic(name=TOPIC)])
        return int(caller.ask("metadata", 9, request).topics[0].error_code)

    try:
        world.admin.grant(user, topic(Operation.ALL), topic(Operation.ALL, "*"))
        wait_until(lambda: error() == 0, "a permission")
        world.admin.grant(user, topic(Operation.DESCRIBE), permission=Permission.DENY)
        wait_until(lambda: error() == ErrorCode.TOPIC_AUTHORIZATION_FAILED, "a denial")
    finally:
        world.admin.revoke(user)


def test_records_of_a_transaction_without_its_id_are_refused(world: World) -> None:
    user = f"User:{RIGHT}"
    caller = world.callers[RIGHT]
    plain, transactional = (
        ProduceRequest(**produced(None, records)) for records in (batch([b"v"]), in_transaction())
    )
    try:
        world.admin.grant(user, topic(Operation.WRITE), transaction(Operation.WRITE))
        wait_until(lambda: codes(caller.ask("produce", 9, plain)) == {0}, "a permission")
        refused = {int(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)}
        assert codes(caller.ask("produce", 9, transactional)) == refused
    finally:
        world.admin.revoke(user)


def test_lists_show_what_the_client_may_describe(world: World) -> None:
    user = f"User:{RIGHT}"
    caller = world.callers[RIGHT]

    def topics() -> set[str]:
        return {each.name for each in caller.ask("metadata", 9, MetadataRequest(None)).topics}

    def groups() -> set[str]:
        return {each.group_id for each in caller.ask("list_groups", 4, ListGroupsRequest()).groups}

    _commit_offset(world.admin)
    assert (topics(), groups()) == (set(), set())
    try:
        world.admin.grant(user, topic(Operation.READ), group(Operation.READ))
        wait_until(lambda: (topics(), groups()) == ({TOPIC}, {GROUP}), "topic and group")
    finally:
        world.admin.revoke(user)


def test_authorized_operations_are_those_that_are_permitted(world: World) -> None:
    user = f"User:{RIGHT}"
    caller = world.callers[RIGHT]

    def bits(*operations: Operation) -> int:
        return sum(1 << operation for operation in operations)

    def found() -> tuple[int, int, int, int]:
        request = MetadataRequest([MetadataRequestTopic(name=TOPIC)])
        request.include_topic_authorized_operations = True
        request.include_cluster_authorized_operations = True
        metadata = caller.ask("metadata", 9, request)
        described = caller.ask("describe_groups", 5, DescribeGroupsRequest([GROUP], True))
        cluster = caller.ask("describe_cluster", 0, DescribeClusterRequest(True))
        return (
            metadata.topics[0].topic_authorized_operations,
            metadata.cluster_authorized_operations,
            cluster.cluster_authorized_operations,
            described.groups[0].authorized_operations,
        )

    try:
        world.admin.grant(
            user,
            topic(Operation.READ),
            group(Operation.READ),
            on_cluster(Operation.ALTER),
        )
        on_topic = bits(Operation.READ, Operation.DESCRIBE)
        whole = bits(Operation.ALTER, Operation.DESCRIBE)
        wait_until(lambda: found() == (on_topic, whole, whole, on_topic), "the operations")
    finally:
        world.admin.revoke(user)
