"""Groups of Kafka 4 (KIP-848), with unchanged clients: the broker assigns the partitions."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, ConsumerGroupType, KafkaException
from tests.access_table import Caller
from tests.brokers import BrokerProcess
from tests.clients import (
    admin,
    assigned,
    committed,
    consumer,
    create_topic,
    done,
    poll_until,
    producer,
    send,
    wait_until,
)
from tests.contract.test_java_tools import CONSOLE_CONSUMER, GROUPS, tool

import holdfast
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated import (
    describe_configs_request,
    incremental_alter_configs_request,
)
from holdfast.wire.protocol.generated.consumer_group_describe_request import (
    ConsumerGroupDescribeRequest,
)
from holdfast.wire.protocol.generated.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from holdfast.wire.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from holdfast.wire.protocol.generated.list_config_resources_request import (
    ListConfigResourcesRequest,
)
from holdfast.wire.protocol.generated.list_groups_request import ListGroupsRequest

ALL_SIX = set(range(6))
NEW = {"group.protocol": "consumer"}


@pytest.fixture
def consumers() -> Iterator[ExitStack]:
    """Closes the consumers of a test at its end."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def caller(kafka: BrokerProcess, group: str) -> Iterator[Caller]:
    """Asks for the coordinator first: Apache Kafka then makes its topic of offsets."""
    caller = Caller(kafka.port)
    wanted = FindCoordinatorRequest(coordinator_keys=[group])
    wait_until(
        lambda: not caller.ask("find_coordinator", 4, wanted).coordinators[0].error_code,
        "the coordinator",
    )
    yield caller
    caller.close()


def new_consumer(
    stack: ExitStack, kafka: BrokerProcess, group: str, topic: str, **config: Any
) -> Consumer:
    client = consumer(kafka, group, NEW | {k.replace("_", "."): v for k, v in config.items()})
    stack.callback(client.close)
    client.subscribe([topic])
    return client


def beat(caller: Caller, group: str, member: str, epoch: int, **fields: Any) -> Any:
    request = ConsumerGroupHeartbeatRequest(
        group_id=group, member_id=member, member_epoch=epoch, **fields
    )
    return caller.ask("consumer_group_heartbeat", 1, request)


def join(caller: Caller, group: str, member: str, topic: str, **fields: Any) -> Any:
    """Joins, once the coordinator of Apache Kafka has loaded its topic."""
    first = {
        "rebalance_timeout_ms": 30_000,
        "topic_partitions": [],
        "subscribed_topic_names": [topic],
    }
    replies: list[Any] = []

    def is_answered() -> bool:
        replies.append(beat(caller, group, member, 0, **first | fields))
        return replies[-1].error_code not in (14, 15, 16)

    wait_until(is_answered, "the coordinator")
    return replies[-1]


def partitions(reply: Any) -> list[int]:
    if reply.assignment is None:
        return []
    return sorted(p for each in reply.assignment.topic_partitions for p in each.partitions)


@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_members_share_the_partitions_and_take_over_from_one_that_leaves(
    kafka: BrokerProcess, topic: str, group: str, assignor: str, consumers: ExitStack
) -> None:
    create_topic(kafka, topic, partitions=6)
    config = {"group_remote_assignor": assignor}
    first = new_consumer(consumers, kafka, group, topic, **config)
    poll_until([first], lambda: assigned(first) == ALL_SIX, "all partitions for the only member")
    with ExitStack() as short:
        second = new_consumer(short, kafka, group, topic, **config)
        poll_until(
            [first, second],
            lambda: (
                len(assigned(first)) == len(assigned(second)) == 3
                and assigned(first) | assigned(second) == ALL_SIX
            ),
            "three partitions each",
        )
        if assignor == "range":
            assert {min(assigned(first)), min(assigned(second))} == {0, 3}
    poll_until([first], lambda: assigned(first) == ALL_SIX, "all partitions for who stays")


def test_records_are_read_and_offsets_committed_under_the_member_epoch(
    kafka: BrokerProcess, topic: str, group: str, consumers: ExitStack
) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"%d" % number for number in range(50)])
    client = new_consumer(consumers, kafka, group, topic, auto_offset_reset="earliest")
    read: list[bytes | None] = []

    def is_read() -> bool:
        message = client.poll(0.2)
        if message is not None and message.error() is None:
            read.append(message.value())
        return len(read) == 50

    wait_until(is_read, "fifty records")
    client.commit(asynchronous=False)
    assert committed(kafka, group, topic) == 50


def test_group_is_listed_and_described_by_its_type_and_state(
    kafka: BrokerProcess, topic: str, group: str, consumers: ExitStack, caller: Caller
) -> None:
    create_topic(kafka, topic, partitions=6)
    client = new_consumer(consumers, kafka, group, topic)
    poll_until([client], lambda: assigned(client) == ALL_SIX, "all partitions")

    def listed(**filters: Any) -> list[tuple[str, str, str]]:
        answer = caller.ask("list_groups", 5, ListGroupsRequest(**filters))
        return [
            (each.group_state, each.group_type, each.protocol_type)
            for each in answer.groups
            if each.group_id == group
        ]

    wait_until(lambda: listed() == [("Stable", "consumer", "consumer")], "a stable group")
    assert listed(types_filter=["consumer"], states_filter=["stable"]) == listed()
    assert listed(types_filter=["classic"]) == listed(states_filter=["Empty"]) == []
    answer = caller.ask("consumer_group_describe", 1, ConsumerGroupDescribeRequest([group]))
    (described,) = answer.groups
    (member,) = described.members
    assert (described.group_state, described.assignor_name) == ("Stable", "uniform")
    assert described.group_epoch == described.assignment_epoch == member.member_epoch
    assert (member.subscribed_topic_names, member.member_type) == ([topic], 1)
    assert member.assignment == member.target_assignment
    (of_topic,) = member.assignment.topic_partitions
    assert (of_topic.topic_name, set(of_topic.partitions)) == (topic, ALL_SIX)
    asking = admin(kafka)  # kept: its requests fail when it is collected
    groups = asking.list_consumer_groups(types={ConsumerGroupType.CONSUMER}).result()
    assert groups.errors == []
    (by_client,) = [each for each in groups.valid if each.group_id == group]
    assert (by_client.type, by_client.state) == (
        ConsumerGroupType.CONSUMER,
        ConsumerGroupState.STABLE,
    )
    with pytest.raises(KafkaException, match=r"NON_EMPTY_GROUP|not empty"):
        done(asking.delete_consumer_groups([group]))


def test_live_group_moves_to_the_new_protocol_and_back(
    kafka: BrokerProcess, topic: str, group: str, consumers: ExitStack, caller: Caller
) -> None:
    create_topic(kafka, topic, partitions=6)
    classic = consumer(kafka, group, {"partition.assignment.strategy": "cooperative-sticky"})
    consumers.callback(classic.close)
    classic.subscribe([topic])
    poll_until([classic], lambda: assigned(classic) == ALL_SIX, "all partitions")

    def kind() -> str:
        answer = caller.ask("list_groups", 5, ListGroupsRequest())
        return str(next(g.group_type for g in answer.groups if g.group_id == group)).lower()

    assert kind() == "classic"
    with ExitStack() as short:
        client = new_consumer(short, kafka, group, topic)
        poll_until(
            [classic, client],
            lambda: (
                len(assigned(classic)) == len(assigned(client)) == 3
                and assigned(classic) | assigned(client) == ALL_SIX
            ),
            "three partitions each",
        )
        assert kind() == "consumer"
    poll_until([classic], lambda: assigned(classic) == ALL_SIX, "all partitions again")
    assert kind() == "classic"


def test_static_member_keeps_its_partitions_while_it_is_away(
    kafka: BrokerProcess, topic: str, group: str, caller: Caller
) -> None:
    create_topic(kafka, topic, partitions=4)
    joined = join(caller, group, "m1", topic, instance_id="one")
    assert (joined.error_code, partitions(joined)) == (0, [0, 1, 2, 3])
    taken = join(caller, group, "m2", topic, instance_id="one")
    assert taken.error_code == ErrorCode.UNRELEASED_INSTANCE_ID
    away = beat(caller, group, "m1", -2, instance_id="one")
    assert (away.error_code, away.member_epoch) == (0, -2)
    back = join(caller, group, "m2", topic, instance_id="one")
    assert (back.error_code, partitions(back)) == (0, [0, 1, 2, 3])
    assert back.member_epoch == joined.member_epoch
    fenced = beat(caller, group, "m1", joined.member_epoch, instance_id="one")
    assert fenced.error_code == ErrorCode.FENCED_INSTANCE_ID


def test_partition_waits_for_its_reader(
    kafka: BrokerProcess, topic: str, group: str, caller: Caller
) -> None:
    create_topic(kafka, topic, partitions=2)
    first = join(caller, group, "m1", topic)
    (topic_id,) = [each.topic_id for each in first.assignment.topic_partitions]
    second = join(caller, group, "m2", topic)
    assert (partitions(first), partitions(second)) == ([0, 1], [])
    both = [TopicPartitions(topic_id, [0, 1])]
    revoking = beat(caller, group, "m1", first.member_epoch, topic_partitions=both)
    assert revoking.member_epoch == first.member_epoch
    (kept,) = partitions(revoking)
    assert partitions(beat(caller, group, "m2", second.member_epoch)) == []
    one = [TopicPartitions(topic_id, [kept])]
    done_revoking = beat(caller, group, "m1", first.member_epoch, topic_partitions=one)
    assert done_revoking.member_epoch == second.member_epoch
    assert partitions(beat(caller, group, "m2", second.member_epoch)) == [1 - kept]


def test_subscription_by_regular_expression(
    kafka: BrokerProcess, topic: str, group: str, caller: Caller
) -> None:
    stem = f"r{uuid.uuid4().hex}"
    create_topic(kafka, f"{stem}-a", partitions=2)
    create_topic(kafka, f"{stem}-b", partitions=1)
    epoch = 0
    reply = join(
        caller, group, "m1", topic, subscribed_topic_names=[], subscribed_topic_regex=f"{stem}-[a]"
    )
    assert reply.error_code == 0
    found = partitions(reply)
    epoch = reply.member_epoch

    def is_found() -> bool:
        nonlocal epoch, found
        reply = beat(caller, group, "m1", epoch, topic_partitions=[])
        epoch = reply.member_epoch
        found = partitions(reply) or found
        return found == [0, 1]

    wait_until(is_found, "the topics of the expression")
    bad = join(
        caller, group, "m2", topic, subscribed_topic_names=[], subscribed_topic_regex="(broken"
    )
    assert bad.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_errors_of_bad_heartbeats(
    kafka: BrokerProcess, topic: str, group: str, caller: Caller
) -> None:
    create_topic(kafka, topic)
    unknown = beat(caller, group, "m1", 5)
    assert unknown.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert join(caller, group, "m1", topic, server_assignor="none").error_code == (
        ErrorCode.UNSUPPORTED_ASSIGNOR
    )
    assert join(caller, group, "", topic).error_code == ErrorCode.INVALID_REQUEST
    joined = join(caller, group, "m1", topic)
    ahead = beat(caller, group, "m1", joined.member_epoch + 1)
    assert ahead.error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert beat(caller, group, "m2", 1).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    described = caller.ask("consumer_group_describe", 1, ConsumerGroupDescribeRequest(["none"]))
    assert described.groups[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert beat(caller, group, "m1", -1).member_epoch == -1


def test_our_client_shows_the_group_and_its_protocol(
    kafka: BrokerProcess, topic: str, group: str, consumers: ExitStack
) -> None:
    create_topic(kafka, topic, partitions=2)
    client = new_consumer(consumers, kafka, group, topic)
    poll_until([client], lambda: assigned(client) == {0, 1}, "both partitions")
    with holdfast.connect(kafka.bootstrap) as connected:
        described = connected.groups.describe(group)
        assert (described.protocol, described.assignor) == ("consumer", "uniform")
        (member,) = described.members
        assert {partition.number for partition in member.partitions} == {0, 1}
        listed = {each.name: each.protocol for each in connected.groups.list()}
    assert listed[group] == "consumer"


@pytest.mark.apache
def test_java_consumer_with_the_new_protocol_reads_and_is_described(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, partitions=2)
    sender = producer(kafka)
    for number in range(20):
        sender.produce(topic, b"v%02d" % number, partition=number % 2)
    sender.flush()
    printed = tool(
        kafka, CONSOLE_CONSUMER, "--topic", topic, "--group", group, "--from-beginning",
        "--max-messages", "20", "--timeout-ms", "60000",
        "--consumer-property", "group.protocol=consumer",
    )  # fmt: skip
    assert sorted(printed.split()) == [f"v{number:02}" for number in range(20)]
    described = tool(kafka, GROUPS, "--describe", "--group", group, "--state")
    assert "Empty" in described
    listed = tool(kafka, GROUPS, "--list", "--type", "consumer")
    assert [group, "Consumer"] in [line.split() for line in listed.splitlines()]
    tool(kafka, GROUPS, "--delete", "--group", group)
    assert group not in tool(kafka, GROUPS, "--list").splitlines()


def test_group_has_times_of_its_own(
    kafka: BrokerProcess, caller: Caller, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    name = "consumer.heartbeat.interval.ms"

    def alter(value: str | None, config: str = name, of: str = group) -> int:
        operation = 1 if value is None else 0
        change = incremental_alter_configs_request.AlterableConfig(config, operation, value)
        resource = incremental_alter_configs_request.AlterConfigsResource(32, of, [change])
        request = incremental_alter_configs_request.IncrementalAlterConfigsRequest([resource])
        (result,) = caller.ask("incremental_alter_configs", 1, request).responses
        return int(result.error_code)

    def described() -> tuple[str | None, int]:
        resource = describe_configs_request.DescribeConfigsResource(32, group, [name])
        request = describe_configs_request.DescribeConfigsRequest([resource])
        (result,) = caller.ask("describe_configs", 4, request).results
        (config,) = result.configs
        return config.value, config.config_source

    reply = join(caller, group, "one", topic)
    assert reply.heartbeat_interval_ms == 5_000
    assert described() == ("5000", 5)
    assert alter("7000") == 0
    wait_until(lambda: described() == ("7000", 8) or None, "the change")
    listed = caller.ask("list_config_resources", 1, ListConfigResourcesRequest([32]))
    assert group in {resource.resource_name for resource in listed.config_resources}
    wait_until(
        lambda: (
            beat(caller, group, "one", reply.member_epoch).heartbeat_interval_ms == 7_000 or None
        ),
        "the new interval",
    )
    invalid_config, invalid_request = 40, 42
    for refused in ("1", "60000", "x"):
        assert alter(refused) == invalid_config
    assert alter("5", "no.such.setting") == invalid_config
    assert alter("6000", of="") == invalid_request
    assert alter(None) == 0
    wait_until(lambda: described() == ("5000", 5) or None, "the removal")
    beat(caller, group, "one", -1)
