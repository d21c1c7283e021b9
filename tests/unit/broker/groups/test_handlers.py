"""The handlers translate: each answer survives its version's encoding, and says what Kafka says."""

import importlib
import inspect
from collections.abc import Generator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.broker.groups.world import GROUP, Client, World, at, offset, subscription

from holdfast.broker.api import offset_fetch
from holdfast.broker.context import RequestContext
from holdfast.broker.groups.coordinator import FETCHED_AT_ONCE
from holdfast.broker.groups.records import TopicPartition
from holdfast.broker.work import finish
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.join_group_request import JoinGroupRequestProtocol
from holdfast.wire.protocol.generated.leave_group_request import MemberIdentity
from holdfast.wire.protocol.generated.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from holdfast.wire.protocol.generated.offset_delete_request import (
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from holdfast.wire.protocol.generated.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from holdfast.wire.protocol.generated.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

CONTEXT = RequestContext(7, "client", "10.0.0.1", ("broker.example", 9092))


class Broker:
    """As much of a broker as groups need: the topic `events` has three partitions."""

    node_id = 1

    def __init__(self, world: World) -> None:
        self.world = world
        self.transactions = SimpleNamespace(verify=self.verify)
        self.topics = SimpleNamespace(get=lambda name: name if name == "events" else None)
        self.verdict: ErrorCode | None = None

    @property
    def groups(self) -> Any:
        return self.world.groups

    def clock(self) -> int:
        return self.world.clock()

    def partition(self, topic: str, index: int) -> object | None:
        return object() if topic == "events" and index < 3 else None

    def verify(self, producer_id: int, epoch: int, topic: str, partition: int) -> ErrorCode | None:
        assert (topic, partition) == ("__consumer_offsets", 0)
        return self.verdict

    def ask(self, api: str, version: int, **fields: Any) -> Any:
        """Through the wire and back, as far as the versions' encodings go."""
        class_name = "".join(word.capitalize() for word in api.split("_"))
        generated = "holdfast.wire.protocol.generated"
        request = importlib.import_module(f"{generated}.{api}_request")
        response = importlib.import_module(f"{generated}.{api}_response")
        handler = importlib.import_module(f"holdfast.broker.api.{api}")
        sent = b"".join(request.encode(version, getattr(request, f"{class_name}Request")(**fields)))
        context = RequestContext(version, "client", "10.0.0.1", ("broker.example", 9092))
        answer = handler.handle(self, request.decode(version, sent), context)
        if inspect.iscoroutine(answer):
            answer = self.world.answer(answer)
        if isinstance(answer, Generator):
            answer = finish(answer)
        return response.decode(version, b"".join(response.encode(version, answer)))


@pytest.fixture
def broker() -> Iterator[Broker]:
    with World() as world:
        yield Broker(world)


@pytest.mark.parametrize("version", range(6))
def test_coordinator_of_groups_and_transactions_is_this_broker(
    broker: Broker, version: int
) -> None:
    for key_type in (0, 1) if version else (0,):
        found = broker.ask(
            "find_coordinator",
            version,
            **({"key_type": key_type} if version else {}),
            **({"coordinator_keys": ["a", "b"]} if version >= 4 else {"key": "a"}),
        )
        answers = found.coordinators if version >= 4 else [found]
        assert [(a.node_id, a.host, a.port, a.error_code) for a in answers] == [
            (1, "broker.example", 9092, 0)
        ] * len(answers)
        if version >= 4:
            assert [a.key for a in answers] == ["a", "b"]


def test_share_groups_have_no_coordinator(broker: Broker) -> None:
    found = broker.ask("find_coordinator", 4, key_type=2, coordinator_keys=["a"])
    assert found.coordinators[0].error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", range(10))
def test_join_and_sync_in_every_version(broker: Broker, version: int) -> None:
    fields: dict[str, Any] = {
        "group_id": GROUP,
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 20_000,
        "protocol_type": "consumer",
        "protocols": [JoinGroupRequestProtocol("range", subscription("events"))],
    }
    joined = broker.ask("join_group", version, **fields)
    if version >= 4:
        assert joined.error_code == ErrorCode.MEMBER_ID_REQUIRED
        joined = broker.ask("join_group", version, **fields, member_id=joined.member_id)
    assert (joined.error_code, joined.generation_id) == (0, 1)
    assert joined.protocol_name == "range"
    assert joined.leader == joined.member_id == joined.members[0].member_id
    (member,) = broker.groups.get(GROUP).roster
    assert (member.client_id, member.client_host) == ("client", "/10.0.0.1")
    assert member.rebalance_timeout_ms == (20_000 if version else 10_000)

    sync_version = min(version, 5)
    names = {"protocol_type": "consumer", "protocol_name": "range"} if sync_version >= 5 else {}
    claim = {"group_id": GROUP, "generation_id": 1, "member_id": joined.member_id}
    assert broker.ask("sync_group", sync_version, **claim, **names).error_code == 0
    heartbeat = broker.ask("heartbeat", min(version, 4), **claim)
    assert heartbeat.error_code == 0


def test_sync_without_its_protocol_is_refused(broker: Broker) -> None:
    refused = broker.ask("sync_group", 5, group_id=GROUP, generation_id=1, member_id="x")
    assert refused.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_leaving_alone_and_together(broker: Broker) -> None:
    a, b = Client("a"), Client("b")
    broker.world.stabilise(a, b)
    together = [MemberIdentity(a.member_id), MemberIdentity("x", "y")]
    left = broker.ask("leave_group", 5, group_id=GROUP, members=together)
    assert [(m.member_id, m.group_instance_id, m.error_code) for m in left.members] == [
        (a.member_id, None, 0),
        ("x", "y", ErrorCode.UNKNOWN_MEMBER_ID),
    ]
    assert broker.ask("leave_group", 1, group_id=GROUP, member_id=b.member_id).error_code == 0
    again = broker.ask("leave_group", 1, group_id=GROUP, member_id=b.member_id)
    assert again.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    nameless = broker.ask("leave_group", 3, group_id="", members=together)
    assert (nameless.error_code, nameless.members) == (ErrorCode.INVALID_GROUP_ID, [])


def test_offsets_that_cannot_be_taken_do_not_hold_up_the_others(broker: Broker) -> None:
    topics = [
        OffsetCommitRequestTopic(
            "events",
            partitions=[
                OffsetCommitRequestPartition(0, 5, 2, "x" * 4096),
                OffsetCommitRequestPartition(1, 5, 2, "\N{GRINNING FACE}" * 1025),
                OffsetCommitRequestPartition(2, 6, 2, None),
                OffsetCommitRequestPartition(3, 5, 2, ""),
            ],
        ),
        OffsetCommitRequestTopic("unknown", partitions=[OffsetCommitRequestPartition(0, 5, 2, "")]),
    ]
    answer = broker.ask("offset_commit", 8, group_id=GROUP, topics=topics)
    errors = [[p.error_code for p in topic.partitions] for topic in answer.topics]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert errors == [[0, ErrorCode.OFFSET_METADATA_TOO_LARGE, 0, unknown], [unknown]]
    found = finish(broker.groups.fetch(GROUP, None))
    assert {at: (o.offset, o.leader_epoch) for at, o in found.items()} == {
        at(0): (5, 2),
        at(2): (6, 2),
    }
    assert found[at(2)].metadata == ""


def test_offsets_of_a_large_group_are_fetched_in_slices_and_sorted(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["b", "a"]
    offsets = {at(p, name): offset(p) for name in names for p in reversed(range(2_000))}
    store = broker.groups._offsets
    store.commit(GROUP, offsets, position=1)
    looked_up: list[TopicPartition] = []
    get = store.get

    def counted(group_id: str, at: TopicPartition) -> object:
        looked_up.append(at)
        return get(group_id, at)

    monkeypatch.setattr(store, "get", counted)
    request = OffsetFetchRequest(group_id=GROUP, topics=None)
    work = offset_fetch.handle(broker, request, CONTEXT)  # type: ignore[arg-type]
    most = 0
    while True:
        before = len(looked_up)
        try:
            next(work)
        except StopIteration as end:
            answer = end.value
            break
        finally:
            most = max(most, len(looked_up) - before)
    assert most <= FETCHED_AT_ONCE
    found = [(topic.name, p.partition_index) for topic in answer.topics for p in topic.partitions]
    assert found == sorted((at.topic, at.partition) for at in offsets)


def test_retention_that_an_old_client_asks_for_is_kept(broker: Broker) -> None:
    topics = [
        OffsetCommitRequestTopic("events", partitions=[OffsetCommitRequestPartition(0, 5, -1, "")])
    ]
    broker.ask("offset_commit", 2, group_id=GROUP, retention_time_ms=1000, topics=topics)
    assert finish(broker.groups.fetch(GROUP, None))[at()].expire_ms == broker.clock() + 1000


@pytest.mark.parametrize(
    ("version", "error"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_commit_of_a_member_of_no_group(broker: Broker, version: int, error: ErrorCode) -> None:
    answer = broker.ask(
        "offset_commit",
        version,
        group_id=GROUP,
        member_id="x",
        generation_id_or_member_epoch=3,
        topics=[
            OffsetCommitRequestTopic("events", partitions=[OffsetCommitRequestPartition(0, 5)])
        ],
    )
    assert answer.topics[0].partitions[0].error_code == error


@pytest.mark.parametrize("verdict", [None, ErrorCode.INVALID_TXN_STATE])
def test_transaction_is_verified_before_its_offsets_are_taken(
    broker: Broker, verdict: ErrorCode | None
) -> None:
    broker.verdict = verdict
    answer = broker.ask(
        "txn_offset_commit",
        3,
        transactional_id="t",
        group_id=GROUP,
        producer_id=7,
        topics=[TxnOffsetCommitRequestTopic("events", [TxnOffsetCommitRequestPartition(0, 5)])],
    )
    assert answer.topics[0].partitions[0].error_code == (verdict or 0)
    unstable = finish(broker.groups.fetch(GROUP, None, require_stable=True))
    assert bool(unstable) is (verdict is None)


def test_fetch_of_one_group_and_of_several(broker: Broker) -> None:
    broker.world.begin_commit({at(0): offset(5, "m"), at(1): offset(6)})
    broker.world.begin_transactional(7, 9, partition=1)
    broker.world.sync_log()
    one = broker.ask(
        "offset_fetch",
        7,
        group_id=GROUP,
        topics=[OffsetFetchRequestTopic("events", [0, 1, 2])],
        require_stable=True,
    )
    assert [(p.committed_offset, p.metadata, p.error_code) for p in one.topics[0].partitions] == [
        (5, "m", 0),
        (-1, "", ErrorCode.UNSTABLE_OFFSET_COMMIT),
        (-1, "", 0),
    ]
    several = broker.ask(
        "offset_fetch",
        9,
        groups=[
            OffsetFetchRequestGroup(GROUP, "anyone", 3, None),
            OffsetFetchRequestGroup(
                "none", None, -1, [OffsetFetchRequestTopics("events", partition_indexes=[0])]
            ),
        ],
    )
    assert [
        (g.group_id, [(t.name, [p.committed_offset for p in t.partitions]) for t in g.topics])
        for g in several.groups
    ] == [(GROUP, [("events", [5, 6])]), ("none", [("events", [-1])])]


def test_offsets_to_delete_are_answered_one_by_one(broker: Broker) -> None:
    broker.world.commit(5)
    topics = [
        OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(0)])
        for name in ("events", "unknown")
    ]
    answer = broker.ask("offset_delete", 0, group_id=GROUP, topics=topics)
    assert [t.partitions[0].error_code for t in answer.topics] == [
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    missing = broker.ask("offset_delete", 0, group_id="none", topics=topics)
    assert missing.error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_groups_are_listed_by_state_and_type(broker: Broker) -> None:
    broker.world.stabilise(Client("a"))
    broker.world.answer(broker.groups.commit("simple", Client("b").claim, {at(): offset(1)}))

    def listed(**filters: list[str]) -> set[tuple[str, str, str, str]]:
        groups = broker.ask("list_groups", 5, **filters).groups
        return {(g.group_id, g.protocol_type, g.group_state, g.group_type) for g in groups}

    stable = (GROUP, "consumer", "Stable", "classic")
    simple = ("simple", "", "Empty", "classic")
    assert listed() == listed(types_filter=["Classic"]) == {stable, simple}
    assert listed(states_filter=["stable"]) == {stable}
    assert listed(types_filter=["consumer"]) == set()


def test_description_shows_members_and_assignments_once_stable(broker: Broker) -> None:
    client = Client("a", instance_id="gate")
    broker.world.stabilise(client)
    stable, unknown = broker.ask("describe_groups", 5, groups=[GROUP, "none"]).groups
    assert (stable.group_state, stable.protocol_type, stable.protocol_data) == (
        "Stable",
        "consumer",
        "range",
    )
    (member,) = stable.members
    assert (member.group_instance_id, member.member_assignment) == ("gate", b"a")
    assert member.member_metadata == subscription("events")
    assert (unknown.error_code, unknown.group_state) == (0, "Dead")
    asked = broker.ask(
        "describe_groups", 5, groups=[GROUP], include_authorized_operations=True
    ).groups[0]
    assert (stable.authorized_operations, asked.authorized_operations) == (-(2**31), 3400)


def test_groups_are_deleted_each_with_its_own_answer(broker: Broker) -> None:
    broker.world.stabilise(Client("a"))
    broker.world.answer(broker.groups.commit("simple", Client("b").claim, {at(): offset(1)}))
    answer = broker.ask("delete_groups", 2, groups_names=[GROUP, "simple", "none"])
    assert {r.group_id: r.error_code for r in answer.results} == {
        GROUP: ErrorCode.NON_EMPTY_GROUP,
        "simple": 0,
        "none": ErrorCode.GROUP_ID_NOT_FOUND,
    }
