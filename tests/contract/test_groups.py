"""Consumer groups: who has which partition, what is committed, and who may say so."""

import struct
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import NewPartitions
from kafka.protocol.consumer import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from tests.brokers import BrokerProcess
from tests.clients import (
    DEADLINE_S,
    admin,
    assigned,
    committed,
    consumer,
    create_topic,
    done,
    next_record,
    offsets,
    open_consumer,
    poll_until,
    producer,
    send,
    to_end,
    wait_until,
)
from tests.wire import Response, Wire, join, load_group, sync

ALL_SIX = set(range(6))

UNKNOWN_MEMBER_ID = 25
ILLEGAL_GENERATION = 22
REBALANCE_IN_PROGRESS = 27
FENCED_INSTANCE_ID = 82
INCONSISTENT_GROUP_PROTOCOL = 23
INVALID_SESSION_TIMEOUT = 26


@pytest.fixture
def consumers() -> Iterator[ExitStack]:
    """Closes the consumers of a test at its end."""
    with ExitStack() as stack:
        yield stack


def opened(stack: ExitStack, client: Consumer) -> Consumer:
    stack.callback(client.close)
    return client


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "cooperative-sticky"])
def test_members_share_the_partitions_and_take_over_from_one_that_leaves(
    kafka: BrokerProcess, topic: str, group: str, strategy: str, consumers: ExitStack
) -> None:
    create_topic(kafka, topic, partitions=6)
    config = {"partition.assignment.strategy": strategy}
    first = opened(consumers, consumer(kafka, group, config))
    first.subscribe([topic])
    poll_until([first], lambda: assigned(first) == ALL_SIX, "all partitions for the only member")

    second = consumer(kafka, group, config)
    second.subscribe([topic])

    def shared() -> bool:
        return (
            len(assigned(first)) == len(assigned(second)) == 3
            and assigned(first) | assigned(second) == ALL_SIX
        )

    poll_until([first, second], shared, "three partitions each")
    second.close()
    poll_until([first], lambda: assigned(first) == ALL_SIX, "all partitions for who stays")


def test_cooperative_members_keep_their_partitions_through_a_rebalance(
    kafka: BrokerProcess, topic: str, group: str, consumers: ExitStack
) -> None:
    create_topic(kafka, topic, partitions=6)
    config = {"partition.assignment.strategy": "cooperative-sticky"}
    taken_away: list[int] = []
    first = opened(consumers, consumer(kafka, group, config))
    first.subscribe([topic], on_revoke=lambda _, gone: taken_away.extend(p.partition for p in gone))
    poll_until([first], lambda: assigned(first) == ALL_SIX, "all partitions for the only member")
    second = opened(consumers, consumer(kafka, group, config))
    second.subscribe([topic])
    poll_until([first, second], lambda: len(assigned(second)) == 3, "half for the second member")
    assert set(taken_away) == assigned(second)
    assert len(taken_away) == 3


def test_a_static_member_that_comes_back_causes_no_rebalance(
    kafka: BrokerProcess, topic: str, group: str, consumers: ExitStack
) -> None:
    create_topic(kafka, topic, partitions=6)
    revocations: list[int] = []

    def static(name: str) -> Consumer:
        client = consumer(kafka, group, {"group.instance.id": name, "session.timeout.ms": 30_000})
        client.subscribe([topic], on_revoke=lambda _, gone: revocations.append(len(gone)))
        return client

    first = opened(consumers, static("one"))
    second = static("two")
    poll_until(
        [first, second],
        lambda: len(assigned(first)) == len(assigned(second)) == 3,
        "three partitions each",
    )
    before = assigned(second)
    revocations.clear()
    second.close()  # librdkafka does not leave the group for a static member
    revocations.clear()
    again = opened(consumers, static("two"))
    poll_until([first, again], lambda: assigned(again) == before, "the same partitions again")
    assert revocations == []
    assert assigned(first) == ALL_SIX - before


def test_silent_member_is_removed_when_its_session_ends(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as silent, Wire(kafka, timeout=DEADLINE_S) as other:
        dead = join(silent, group, session_ms=6_000)
        assert dead.error_code == 0
        assert sync(silent, group, dead, assignments=[(dead.member_id, b"x")]).error_code == 0
        # The other one's join is answered only once the silent one is out.
        alive = join(other, group, session_ms=6_000)
        assert alive.error_code == 0
        assert [m.member_id for m in alive.members] == [alive.member_id]
        assert heartbeat(silent, group, dead) == UNKNOWN_MEMBER_ID


def test_heartbeat_reports_a_rebalance_to_members(kafka: BrokerProcess, group: str) -> None:
    with Wire(kafka) as one, Wire(kafka) as two:
        first = join(one, group)
        sync(one, group, first, assignments=[(first.member_id, b"x")])
        assert heartbeat(one, group, first) == 0
        kind = JoinGroupRequest.JoinGroupRequestProtocol
        request = JoinGroupRequest(
            version=3, group_id=group, session_timeout_ms=10_000, rebalance_timeout_ms=10_000,
            member_id="", protocol_type="consumer",
            protocols=[kind(version=3, name="range", metadata=b"")],
        )  # fmt: skip
        two.send(request)
        wait_until(
            lambda: heartbeat(one, group, first) == REBALANCE_IN_PROGRESS,
            "a heartbeat that tells of the rebalance",
        )
        rejoined = join(one, group, member=first.member_id)
        second = two.receive(request)
        assert rejoined.generation_id == second.generation_id > first.generation_id
        assert heartbeat(one, group, first) == ILLEGAL_GENERATION


def test_the_leader_gets_the_metadata_and_the_members_their_assignments(
    kafka: BrokerProcess, group: str
) -> None:
    with Wire(kafka) as wire:
        joined = join(
            wire, group, protocols=[("mine", subscription(b"1")), ("range", subscription(b"2"))]
        )
        assert joined.leader == joined.member_id
        assert joined.protocol_name == "mine"
        assert [bytes(m.metadata) for m in joined.members] == [subscription(b"1")]
        synced = sync(wire, group, joined, assignments=[(joined.member_id, b"assignment")])
        assert bytes(synced.assignment) == b"assignment"


def test_a_member_without_a_common_protocol_is_refused(kafka: BrokerProcess, group: str) -> None:
    with Wire(kafka) as one, Wire(kafka) as two:
        first = join(one, group, protocols=[("range", b"")])
        sync(one, group, first, assignments=[(first.member_id, b"")])
        other = join(two, group, protocols=[("other", b"")])
        assert other.error_code == INCONSISTENT_GROUP_PROTOCOL


def test_a_session_outside_the_brokers_limits_is_refused(kafka: BrokerProcess, group: str) -> None:
    with Wire(kafka) as wire:
        assert join(wire, group, session_ms=5_999).error_code == INVALID_SESSION_TIMEOUT
        assert join(wire, group, session_ms=1_800_001).error_code == INVALID_SESSION_TIMEOUT


def test_a_group_resumes_where_it_committed(kafka: BrokerProcess, topic: str, group: str) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"%d" % i for i in range(10)])
    with open_consumer(kafka, group) as client:
        client.subscribe([topic])
        for _ in range(4):
            message = next_record(client)
        client.commit(message=message, asynchronous=False)
    assert committed(kafka, group, topic) == 4
    with open_consumer(kafka, group) as client:
        client.subscribe([topic])
        assert offsets(to_end(client, 1)) == [4, 5, 6, 7, 8, 9]


def test_automatic_commits_are_made_on_close(kafka: BrokerProcess, topic: str, group: str) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"%d" % i for i in range(5)])
    with open_consumer(kafka, group, {"enable.auto.commit": True}) as client:
        client.subscribe([topic])
        to_end(client, 1)
    assert committed(kafka, group, topic) == 5


def test_committed_offsets_carry_their_metadata(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, partitions=2)
    with open_consumer(kafka, group) as client:
        told = [TopicPartition(topic, 0, 7, metadata='{"step": 1}'), TopicPartition(topic, 1, 0)]
        client.commit(offsets=told, asynchronous=False)
        found = client.committed([TopicPartition(topic, p) for p in (0, 1)], timeout=DEADLINE_S)
    assert [(p.offset, p.metadata or "") for p in found] == [(7, '{"step": 1}'), (0, "")]


def test_a_committed_offset_may_go_back(kafka: BrokerProcess, topic: str, group: str) -> None:
    create_topic(kafka, topic)
    with open_consumer(kafka, group) as client:
        for offset in (5, 9, 2):
            client.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    assert committed(kafka, group, topic) == 2


def test_lag_is_the_end_minus_the_committed_offset(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"v"] * 10)
    with open_consumer(kafka, group) as client:
        client.commit(offsets=[TopicPartition(topic, 0, 3)], asynchronous=False)
        _, end = client.get_watermark_offsets(TopicPartition(topic, 0), timeout=DEADLINE_S)
    assert end - (committed(kafka, group, topic) or 0) == 7


def test_a_group_takes_up_new_partitions(
    kafka: BrokerProcess, topic: str, group: str, consumers: ExitStack
) -> None:
    create_topic(kafka, topic, partitions=1)
    client = opened(consumers, consumer(kafka, group, {"topic.metadata.refresh.interval.ms": 200}))
    client.subscribe([topic])
    poll_until([client], lambda: assigned(client) == {0}, "the only partition")
    operator = admin(kafka)
    done(operator.create_partitions([NewPartitions(topic, 3)]))
    poll_until([client], lambda: assigned(client) == {0, 1, 2}, "the new partitions too")


def test_a_pattern_subscribes_to_every_topic_it_matches(
    kafka: BrokerProcess, topic: str, group: str, consumers: ExitStack
) -> None:
    for suffix in ("a", "b"):
        create_topic(kafka, f"{topic}.{suffix}")
    client = opened(consumers, consumer(kafka, group))
    client.subscribe([f"^{topic}\\..*"])
    poll_until(
        [client],
        lambda: {p.topic for p in client.assignment()} == {f"{topic}.a", f"{topic}.b"},
        "both topics",
    )


def test_commits_of_unknown_members_and_old_generations_are_refused(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        member = join(wire, group)
        sync(wire, group, member, assignments=[(member.member_id, b"")])
        assert commit(wire, group, topic, 1, member.generation_id, member.member_id) == 0
        stale = member.generation_id - 1
        assert commit(wire, group, topic, 2, stale, member.member_id) == ILLEGAL_GENERATION
        assert commit(wire, group, topic, 2, member.generation_id, "nobody") == UNKNOWN_MEMBER_ID
        # Without membership, while the group has members:
        assert commit(wire, group, topic, 2, -1, "") == UNKNOWN_MEMBER_ID
    assert committed(kafka, group, topic) == 1


def test_an_empty_group_takes_commits_without_membership(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        load_group(wire, group)
        assert commit(wire, group, topic, 42, -1, "") == 0
    assert committed(kafka, group, topic) == 42


def test_a_second_member_with_the_same_instance_id_fences_the_first(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as one, Wire(kafka) as two:
        first = join(one, group, instance="gate")
        sync(one, group, first, instance="gate", assignments=[(first.member_id, b"")])
        second = join(two, group, instance="gate")
        assert second.error_code == 0
        assert second.member_id != first.member_id
        assert heartbeat(one, group, first, instance="gate") == FENCED_INSTANCE_ID
        refused = commit(
            one, group, topic, 1, first.generation_id, first.member_id, instance="gate"
        )
        assert refused == FENCED_INSTANCE_ID


def test_a_static_member_is_removed_by_its_instance_id(kafka: BrokerProcess, group: str) -> None:
    with Wire(kafka) as wire:
        member = join(wire, group, instance="gate")
        sync(wire, group, member, instance="gate", assignments=[(member.member_id, b"")])
        identity = LeaveGroupRequest.MemberIdentity
        reply = wire.ask(
            LeaveGroupRequest(
                version=4, group_id=group,
                members=[
                    identity(version=4, member_id="", group_instance_id="gate"),
                    identity(version=4, member_id="", group_instance_id="nobody"),
                ],
            )
        )  # fmt: skip
        assert [m.error_code for m in reply.members] == [0, UNKNOWN_MEMBER_ID]
        assert heartbeat(wire, group, member, instance="gate") == UNKNOWN_MEMBER_ID


def test_missing_committed_offset_is_reported_as_minus_one(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        load_group(wire, group)
        asked = OffsetFetchRequest.OffsetFetchRequestTopic
        reply = wire.ask(
            OffsetFetchRequest(
                version=5, group_id=group,
                topics=[asked(version=5, name=topic, partition_indexes=[0])],
            )
        )  # fmt: skip
        (partition,) = reply.topics[0].partitions
        assert (partition.error_code, partition.committed_offset) == (0, -1)


def test_offset_of_an_unknown_topic_cannot_be_committed(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    with open_consumer(kafka, group) as client:
        with pytest.raises(KafkaException) as refused:
            client.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
        assert refused.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def subscription(user_data: bytes) -> bytes:
    """A consumer's subscription to no topics. Apache Kafka looks inside and hangs on garbage."""
    return struct.pack(">hii", 0, 0, len(user_data)) + user_data


def heartbeat(wire: Wire, group: str, joined: Response, instance: str | None = None) -> int:
    reply = wire.ask(
        HeartbeatRequest(
            version=4, group_id=group, generation_id=joined.generation_id,
            member_id=joined.member_id, group_instance_id=instance,
        )
    )  # fmt: skip
    return int(reply.error_code)


def commit(
    wire: Wire,
    group: str,
    topic: str,
    offset: int,
    generation: int,
    member: str,
    instance: str | None = None,
) -> int:
    topics = OffsetCommitRequest.OffsetCommitRequestTopic
    reply = wire.ask(
        OffsetCommitRequest(
            version=7, group_id=group, generation_id_or_member_epoch=generation,
            member_id=member, group_instance_id=instance,
            topics=[topics(version=7, name=topic, partitions=[
                topics.OffsetCommitRequestPartition(
                    version=7, partition_index=0, committed_offset=offset,
                    committed_leader_epoch=-1, committed_metadata="",
                )
            ])],
        )
    )  # fmt: skip
    return int(reply.topics[0].partitions[0].error_code)
