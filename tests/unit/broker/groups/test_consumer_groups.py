"""Groups of Kafka 4: heartbeats, epochs, static members, both protocols in one group."""

import pytest
from tests.unit.broker.groups.consumers import (
    NewConsumer,
    beat,
    begin_beat,
    group_of,
    places,
    settle,
)
from tests.unit.broker.groups.world import GROUP, Client, World, at, offset

from holdfast.broker.groups.consumer import group as group_module
from holdfast.broker.groups.consumer.group import ConsumerGroup
from holdfast.broker.groups.consumer_protocol import read_assignment, write_assignment
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.groups.requests import Leaver, MemberClaim, Offer
from holdfast.wire.protocol.errors import ErrorCode

SIX = {("events", p) for p in range(6)}


def world_with(partitions: int = 6) -> World:
    world = World()
    world.topics.put("events", partitions)
    return world


def subscription_v1(*topics: str) -> bytes:
    names = b"".join(len(t).to_bytes(2, "big") + t.encode() for t in topics)
    return b"\0\1" + len(topics).to_bytes(4, "big") + names + b"\xff\xff\xff\xff" + b"\0\0\0\0"


def classic(name: str, **fields: object) -> Client:
    return Client(name, offers=(Offer("range", subscription_v1("events")),), **fields)  # type: ignore[arg-type]


def test_only_member_gets_everything_at_once() -> None:
    with world_with() as world:
        one = NewConsumer("one")
        reply = beat(world, one)
        assert (reply.epoch, places(world, one.owned)) == (1, SIX)
        assert group_of(world).state is GroupState.STABLE
        assert beat(world, one).assignment is None, "unchanged"


def test_partition_is_given_away_only_after_its_reader_has_given_it_up() -> None:
    with world_with() as world:
        one, two = NewConsumer("one"), NewConsumer("two")
        beat(world, one)
        beat(world, two)
        assert two.owned == {}, "one still reads everything"
        assert group_of(world).state is GroupState.RECONCILING
        before = one.owned
        task = begin_beat(world, one)
        world.sync_log()
        one.hear(task.result())
        assert len(places(world, one.owned)) == 3
        one_kept, one.owned = one.owned, before  # it has not given up yet
        assert begin_beat(world, one).result().epoch == 1
        beat(world, two)
        assert two.owned == {}
        one.owned = one_kept
        settle(world, one, two)
        assert places(world, one.owned) | places(world, two.owned) == SIX
        assert len(places(world, two.owned)) == 3
        assert group_of(world).state is GroupState.STABLE


def test_reply_waits_until_its_change_is_durable() -> None:
    with world_with() as world:
        one = NewConsumer("one")
        first = begin_beat(world, one)
        second = begin_beat(world, one)
        assert not first.done()
        assert not second.done(), "it would show a state that a crash could lose"
        world.sync_log()
        assert first.result().epoch == second.result().epoch == 1


def test_change_that_could_not_be_written_is_written_with_the_next_one() -> None:
    with world_with() as world:
        one = NewConsumer("one")
        task = begin_beat(world, one)
        world.log.fail()
        world.settle()
        assert task.result().error is ErrorCode.COORDINATOR_NOT_AVAILABLE
        beat(world, one)
        world.restart()
        assert group_of(world).members["one"].epoch == one.epoch == 1
        assert places(world, group_of(world).members["one"].assigned) == SIX


def test_group_survives_a_crash() -> None:
    with world_with() as world:
        one, two = NewConsumer("one", assignor="range"), NewConsumer("two", instance_id="static")
        settle(world, one, two)
        before = {**group_of(world).members}
        epochs = group_of(world).epoch, group_of(world).assignment_epoch
        world.restart()
        assert group_of(world).members == before
        assert (group_of(world).epoch, group_of(world).assignment_epoch) == epochs
        assert beat(world, one).error is ErrorCode.NONE
        assert group_of(world).epoch == epochs[0], "a restart is no reason to rebalance"


def test_silent_member_is_expelled_and_its_partitions_move() -> None:
    with world_with() as world:
        one, two = NewConsumer("one"), NewConsumer("two")
        settle(world, one, two)
        world.advance(40_000)
        beat(world, one)
        world.advance(40_000)
        assert set(group_of(world).members) == {"one"}
        settle(world, one)
        assert places(world, one.owned) == SIX
        assert beat(world, two).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_member_that_does_not_give_up_in_time_is_expelled() -> None:
    with world_with() as world:
        one, two = NewConsumer("one", rebalance_ms=10_000), NewConsumer("two")
        beat(world, one)
        everything = one.owned
        beat(world, two)
        for _ in range(3):
            one.epoch, one.owned = 1, everything
            begin_beat(world, one)
            world.sync_log()
            world.advance(4_000)
        assert set(group_of(world).members) == {"two"}


def test_epochs_fence_members_that_were_left_behind() -> None:
    with world_with() as world:
        one, two = NewConsumer("one"), NewConsumer("two")
        settle(world, one, two)
        epoch = one.epoch
        assert beat(world, one, epoch=epoch + 1).error is ErrorCode.FENCED_MEMBER_EPOCH
        assert beat(world, one, epoch=epoch - 1).error is ErrorCode.NONE, "the reply was lost"
        foreign = {topic: frozenset({99}) for topic in one.owned}
        behind = beat(world, one, epoch=epoch - 1, owned=foreign)
        assert behind.error is ErrorCode.FENCED_MEMBER_EPOCH
        one.epoch = 0
        assert beat(world, one).epoch == epoch, "it may always join again"


def test_static_member_that_comes_back_gets_its_partitions_without_a_rebalance() -> None:
    with world_with() as world:
        one, two = NewConsumer("one", instance_id="a"), NewConsumer("two", instance_id="b")
        settle(world, one, two)
        before, epoch = two.owned, group_of(world).epoch
        other = NewConsumer("three", instance_id="b")
        assert beat(world, other).error is ErrorCode.UNRELEASED_INSTANCE_ID
        assert beat(world, two, epoch=-2).epoch == -2
        again = NewConsumer("three", instance_id="b")
        beat(world, again)
        assert (again.owned, group_of(world).epoch) == (before, epoch)
        assert beat(world, two, epoch=epoch).error is ErrorCode.FENCED_INSTANCE_ID
        world.restart()
        assert set(group_of(world).members) == {"one", "three"}


def test_static_member_that_stays_away_loses_its_partitions_with_its_session() -> None:
    with world_with() as world:
        one, two = NewConsumer("one", instance_id="a"), NewConsumer("two", instance_id="b")
        settle(world, one, two)
        beat(world, two, epoch=-2)
        world.advance(30_000)
        settle(world, one)
        assert len(places(world, one.owned)) == 3
        world.advance(30_000)
        settle(world, one)
        assert places(world, one.owned) == SIX


def test_new_partitions_and_topics_reach_the_members() -> None:
    with world_with(2) as world:
        one = NewConsumer("one", topics=("events", "later"))
        settle(world, one)
        world.topics.put("events", 4)
        world.topics.put("later", 1)
        settle(world, one)
        assert places(world, one.owned) == {("events", p) for p in range(4)} | {("later", 0)}
        world.topics.put("later", 1, again=True)
        settle(world, one)
        assert places(world, one.owned) == {("events", p) for p in range(4)} | {("later", 0)}
        world.topics.delete("later")
        settle(world, one)
        assert places(world, one.owned) == {("events", p) for p in range(4)}


def test_topic_that_was_created_while_the_broker_was_down_is_noticed() -> None:
    with world_with(2) as world:
        one = NewConsumer("one", topics=("events", "later"))
        settle(world, one)
        world.topics.put("later", 1)
        world.restart()
        settle(world, one)
        assert ("later", 0) in places(world, one.owned)


def test_pattern_finds_topics_now_and_later() -> None:
    with world_with(1) as world:
        world.topics.put("__consumer_offsets", 1)
        one = NewConsumer("one", topics=(), pattern="ev.*|__.*")
        beat(world, one)
        assert one.owned == {}, "the search is on a thread"
        settle(world, one)
        assert places(world, one.owned) == {("events", 0)}
        world.topics.put("evenings", 1)
        settle(world, one)
        assert places(world, one.owned) == {("events", 0), ("evenings", 0)}
        world.restart()
        assert group_of(world).subscribed_topics() == {"events", "evenings"}
        one.epoch = 0
        one.pattern, one.topics = "", ("events",)
        settle(world, one)
        world.restart()
        assert group_of(world).subscribed_topics() == {"events"}


def test_pattern_shows_only_topics_that_the_member_may_see() -> None:
    with world_with(1) as world:
        world.topics.put("events-secret", 1)
        one = NewConsumer("one", topics=(), pattern="events.*")
        for _ in range(3):
            beat(world, one, may_see=lambda name: name == "events")
            world.threads.finish()
            world.sync_log()
        assert places(world, one.owned) == {("events", 0)}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"member_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"instance_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"rebalance_timeout_ms": -1}, ErrorCode.INVALID_REQUEST),
        ({"topics": []}, ErrorCode.INVALID_REQUEST),
        ({"owned": None}, ErrorCode.INVALID_REQUEST),
        ({"epoch": -2}, ErrorCode.INVALID_REQUEST),
        ({"epoch": -3}, ErrorCode.INVALID_REQUEST),
        ({"assignor": "sticky"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"pattern": "(a"}, ErrorCode.INVALID_REGULAR_EXPRESSION),
        ({"epoch": 5}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"member_id": "x" * 1000}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_bad_heartbeat_is_refused_with_its_reason(
    changes: dict[str, object], error: ErrorCode
) -> None:
    with world_with() as world:
        reply = beat(world, NewConsumer("one"), **changes)
        assert reply.error is error
        assert reply.message
        assert world.groups.get(GROUP) is None


def test_large_target_is_computed_on_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_module, "ASSIGNED_ON_LOOP", 5)
    with world_with() as world:
        one, two = NewConsumer("one"), NewConsumer("two")
        beat(world, one)
        assert group_of(world).state is GroupState.ASSIGNING
        beat(world, two)
        settle(world, one, two)
        assert places(world, one.owned) | places(world, two.owned) == SIX
        assert group_of(world).state is GroupState.STABLE


# offsets


def test_offsets_need_the_epoch_of_the_member() -> None:
    with world_with() as world:
        one = NewConsumer("one")
        beat(world, one)
        assert world.commit(5, MemberClaim("one", 1)) is ErrorCode.NONE
        assert world.commit(6, MemberClaim("one", 2)) is ErrorCode.STALE_MEMBER_EPOCH
        assert world.commit(6, MemberClaim("two", 1)) is ErrorCode.UNKNOWN_MEMBER_ID
        assert world.commit(6) is ErrorCode.UNKNOWN_MEMBER_ID
        task = world.ask(
            world.groups.commit(GROUP, MemberClaim("one", 1), {at(): offset(7)}, version=8)
        )
        assert task.result() is ErrorCode.UNSUPPORTED_VERSION
        stale = world.begin_transactional(7, 6, MemberClaim("one", 2))
        assert stale.result() is ErrorCode.ILLEGAL_GENERATION
        assert world.fetch() == 5
        check = world.groups.check_fetch
        assert check(GROUP, None, -1) is check(GROUP, "one", 1) is ErrorCode.NONE
        assert check(GROUP, "one", 2) is ErrorCode.STALE_MEMBER_EPOCH
        assert check(GROUP, "two", 1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_group_is_deleted_with_all_its_records() -> None:
    with world_with() as world:
        one = NewConsumer("one", topics=(), pattern="e.*")
        settle(world, one)
        world.commit(5, MemberClaim("one", one.epoch))
        assert world.answer(world.groups.delete_group(GROUP)) is ErrorCode.NON_EMPTY_GROUP
        beat(world, one, epoch=-1)
        assert world.group.state is GroupState.EMPTY
        assert world.answer(world.groups.delete_group(GROUP)) is ErrorCode.NONE
        latest = {record.key: record.value for record in world.log.durable}
        assert set(latest.values()) == {None}
        world.restart()
        assert world.groups.get(GROUP) is None


# both protocols


def form_classic_group(world: World, client: Client) -> None:
    """Makes the client the only member, with all partitions."""
    world.joined(client, world.begin_join(client))
    everything = write_assignment({"events": frozenset(range(6))}, client.offers[0].metadata)
    sync = world.begin_sync(client, **{client.member_id: everything})
    world.sync_log()
    assert sync.result().error is ErrorCode.NONE


def test_classic_group_becomes_a_consumer_group_and_back() -> None:
    with world_with() as world:
        old = classic("old")
        form_classic_group(world, old)
        new = NewConsumer("new")
        beat(world, new)
        assert isinstance(world.groups.get(GROUP), ConsumerGroup)
        assert world.heartbeat(old) is ErrorCode.REBALANCE_IN_PROGRESS
        world.restart()
        assert isinstance(world.groups.get(GROUP), ConsumerGroup), "the conversion is durable"
        joined = world.answer(world.groups.join(GROUP, old.join_request()))
        assert joined.error is ErrorCode.NONE
        old.generation = joined.generation
        synced = world.begin_sync(old).result()
        beat(world, new)
        mine = read_assignment(synced.assignment).get("events", frozenset())
        assert len(mine) == 3
        assert mine | {p for _, p in places(world, new.owned)} == set(range(6))
        assert world.heartbeat(old) is ErrorCode.NONE

        left = begin_beat(world, new, epoch=-1)
        world.sync_log()
        assert left.result().epoch == -1
        group = world.groups.get(GROUP)
        assert isinstance(group, Group)
        assert group.state is GroupState.PREPARING
        world.restart()
        group = world.groups.get(GROUP)
        assert isinstance(group, Group)
        assert [member.member_id for member in group.roster] == [old.member_id]


@pytest.mark.parametrize("durable", [False, True])
def test_crash_during_a_conversion_leaves_one_kind_of_group_or_the_other(durable: bool) -> None:
    with world_with() as world:
        old = classic("old")
        form_classic_group(world, old)
        begin_beat(world, NewConsumer("new"))
        if durable:
            world.sync_log()
        world.restart()
        group = world.groups.get(GROUP)
        assert isinstance(group, ConsumerGroup if durable else Group)
        members = set(group.members) if isinstance(group, ConsumerGroup) else {
            member.member_id for member in group.roster
        }  # fmt: skip
        assert old.member_id in members
        assert ("new" in members) is durable


def test_group_that_is_not_of_consumers_is_not_converted() -> None:
    with world_with() as world:
        form_classic_group(world, Client("worker", offers=(Offer("connect", b"?"),)))
        assert beat(world, NewConsumer("new")).error is ErrorCode.GROUP_ID_NOT_FOUND
        assert isinstance(world.groups.get(GROUP), Group)


def test_empty_groups_change_their_kind_and_keep_their_offsets() -> None:
    with world_with() as world:
        world.commit(5)
        new = NewConsumer("new")
        beat(world, new)
        beat(world, new, epoch=-1)
        assert world.fetch() == 5
        form_classic_group(world, classic("old"))
        assert isinstance(world.groups.get(GROUP), Group)
        world.restart()
        assert isinstance(world.groups.get(GROUP), Group)
        assert world.fetch() == 5


def test_classic_member_leaves_a_consumer_group() -> None:
    with world_with() as world:
        new, old = NewConsumer("new"), classic("old")
        beat(world, new)
        required = world.answer(world.groups.join(GROUP, old.join_request()))
        assert required.error is ErrorCode.MEMBER_ID_REQUIRED
        old.member_id = required.member_id
        assert world.answer(world.groups.join(GROUP, old.join_request())).error is ErrorCode.NONE
        leaving = world.leave(Leaver(old.member_id, None), Leaver("new", None))
        world.sync_log()
        assert leaving.result().members == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID]
        settle(world, new)
        assert places(world, new.owned) == SIX


def test_static_classic_process_that_replaces_the_last_consumer_makes_the_group_classic() -> None:
    with world_with() as world:
        new = NewConsumer("new", instance_id="a")
        settle(world, new)
        old = classic("old", instance_id="a")
        joined = world.answer(world.groups.join(GROUP, old.join_request()))
        assert joined.error is ErrorCode.NONE
        group = world.groups.get(GROUP)
        assert isinstance(group, Group)
        assert [member.instance_id for member in group.roster] == ["a"]
