"""Joining, agreeing, staying and leaving, as Kafka's classic protocol has it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.broker.groups.world import (
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    Client,
    World,
    subscription,
)

from holdfast.broker.groups.budget import LARGEST_GROUP
from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.groups.requests import Leaver, MemberClaim, Offer
from holdfast.wire.protocol.errors import ErrorCode


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        yield world


def test_new_member_is_given_an_id_before_it_may_join(world: World) -> None:
    client = Client("a")
    told = world.answer(world.groups.join(GROUP, client.join_request()))
    assert told.error is ErrorCode.MEMBER_ID_REQUIRED
    assert told.member_id.startswith("a-")
    assert world.state() is GroupState.EMPTY
    client.member_id = told.member_id
    joined = world.joined(client, world.begin_join(client))
    assert (joined.generation, joined.leader, joined.protocol) == (1, client.member_id, "range")


def test_old_client_joins_in_one_step(world: World) -> None:
    joined = world.answer(world.groups.join(GROUP, Client("a", version=3).join_request()))
    assert joined.error is ErrorCode.NONE
    assert joined.leader == joined.member_id


def test_only_the_leader_gets_the_subscriptions_of_members(world: World) -> None:
    a = Client("a", offers=(Offer("range", subscription("events", rest=b"of-a")),))
    b = Client("b", offers=(Offer("range", subscription("events", rest=b"of-b")),))
    world.joined(a, world.begin_join(a))
    waiting = world.begin_join(b)
    assert not waiting.done()
    again = world.joined(a, world.begin_join(a))
    other = world.joined(b, waiting)
    assert {m.member_id: m.metadata for m in again.members} == {
        a.member_id: a.offers[0].metadata,
        b.member_id: b.offers[0].metadata,
    }
    assert other.members == ()
    assert again.generation == other.generation == 2


def test_assignment_is_handed_out_only_once_it_is_durable(world: World) -> None:
    a = Client("a")
    world.joined(a, world.begin_join(a))
    synced = world.begin_sync(a, **{a.member_id: b"part"})
    assert not synced.done()
    assert world.state() is GroupState.COMPLETING
    world.sync_log()
    assert synced.result().assignment == b"part"
    assert synced.result().protocol == "range"
    assert world.state() is GroupState.STABLE


def test_follower_that_syncs_first_waits_for_the_leader(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    rejoin_b = world.begin_join(replace(b, offers=(Offer("range", b"changed"),)))
    world.joined(a, world.begin_join(a))
    world.joined(b, rejoin_b)
    follower = world.begin_sync(b)
    assert not follower.done()
    leader = world.begin_sync(a, **{a.member_id: b"1", b.member_id: b"2"})
    world.sync_log()
    assert (leader.result().assignment, follower.result().assignment) == (b"1", b"2")


def test_assignment_that_cannot_be_stored_is_not_handed_out_and_the_group_begins_again(
    world: World,
) -> None:
    a = Client("a")
    world.joined(a, world.begin_join(a))
    synced = world.begin_sync(a, **{a.member_id: b"part"})
    world.log.fail()
    world.settle()
    assert synced.result().error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert synced.result().assignment == b""
    assert world.heartbeat(a) is ErrorCode.REBALANCE_IN_PROGRESS
    world.stabilise(a)
    assert world.heartbeat(a) is ErrorCode.NONE


def test_log_that_refuses_at_once_is_an_error_too(world: World) -> None:
    a = Client("a")
    world.joined(a, world.begin_join(a))
    world.log.refuses = True
    synced = world.begin_sync(a, **{a.member_id: b"part"})
    assert synced.result().error is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_repeated_sync_of_the_leader_changes_nothing(world: World) -> None:
    a = Client("a")
    world.joined(a, world.begin_join(a))
    lost = world.begin_sync(a, **{a.member_id: b"first"})
    again = world.begin_sync(a, **{a.member_id: b"second"})
    world.sync_log()
    assert lost.result().error is ErrorCode.REBALANCE_IN_PROGRESS
    assert again.result().assignment == b"first"
    world.restart()
    assert world.begin_sync(a).result().assignment == b"first"


def test_protocol_that_most_members_prefer_is_chosen_among_shared_ones(world: World) -> None:
    def offers(*names: str) -> tuple[Offer, ...]:
        return tuple(Offer(name, subscription("events")) for name in names)

    a = Client("a", offers=offers("only-a", "range", "sticky"))
    b = Client("b", offers=offers("sticky", "range"))
    c = Client("c", offers=offers("sticky", "range"))
    world.stabilise(a, b, c)
    assert world.group.roster.protocol == "sticky"


@pytest.mark.parametrize(
    ("protocol_type", "offers"),
    [
        ("consumer", (Offer("other", b""),)),
        ("connect", (Offer("range", b""),)),
        ("consumer", ()),
    ],
)
def test_member_without_a_shared_protocol_is_refused(
    world: World, protocol_type: str, offers: tuple[Offer, ...]
) -> None:
    world.stabilise(Client("a"))
    join = replace(Client("b").join_request(), protocol_type=protocol_type, offers=offers)
    answer = world.answer(world.groups.join(GROUP, join))
    assert answer.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("change", [{"protocol_type": ""}, {"offers": ()}])
def test_first_member_must_offer_something(world: World, change: dict[str, Any]) -> None:
    join = replace(Client("a").join_request(), **change)
    answer = world.answer(world.groups.join(GROUP, join))
    assert answer.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_member_that_does_not_rejoin_in_time_is_out(world: World) -> None:
    a, b = Client("a", session_ms=600_000), Client("b", session_ms=600_000)
    world.stabilise(a, b)
    rejoined = world.begin_join(a)
    assert world.heartbeat(b) is ErrorCode.REBALANCE_IN_PROGRESS
    world.advance(REBALANCE_MS - 1)
    assert not rejoined.done()
    world.advance(1)
    world.joined(a, rejoined)
    assert [m.member_id for m in world.group.roster] == [a.member_id]
    assert world.heartbeat(b) is ErrorCode.UNKNOWN_MEMBER_ID


def test_new_leader_is_a_member_that_joined(world: World) -> None:
    a, b = Client("a", session_ms=600_000), Client("b", session_ms=600_000)
    world.stabilise(a, b)
    assert a.leads
    rejoined = world.begin_join(replace(b, offers=(Offer("range", b"new"),)))
    world.advance(REBALANCE_MS)
    assert world.joined(b, rejoined).leader == b.member_id


def test_member_that_does_not_sync_in_time_is_out(world: World) -> None:
    a, b = Client("a", session_ms=600_000), Client("b", session_ms=600_000)
    world.stabilise(a, b)
    rejoined = world.begin_join(a)
    world.joined(b, world.begin_join(b))
    world.joined(a, rejoined)
    synced = world.begin_sync(a, **{a.member_id: b"1", b.member_id: b"2"})
    world.sync_log()
    assert synced.result().error is ErrorCode.NONE
    world.advance(REBALANCE_MS)
    assert world.heartbeat(b) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat(a) is ErrorCode.REBALANCE_IN_PROGRESS


def test_silent_member_is_out_after_its_session(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    world.advance(SESSION_MS - 1)
    assert world.heartbeat(a) is ErrorCode.NONE
    world.advance(1)
    assert world.heartbeat(b) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat(a) is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize("sign_of_life", ["heartbeat", "commit", "sync"])
def test_sign_of_life_extends_the_session(world: World, sign_of_life: str) -> None:
    a = Client("a")
    world.stabilise(a)
    for _ in range(5):
        world.advance(SESSION_MS - 1)
        if sign_of_life == "heartbeat":
            assert world.heartbeat(a) is ErrorCode.NONE
        elif sign_of_life == "commit":
            assert world.commit(1, a.claim) is ErrorCode.NONE
        else:
            assert world.begin_sync(a).result().assignment == b"a"
    assert world.state() is GroupState.STABLE
    world.advance(SESSION_MS)
    assert world.state() is GroupState.EMPTY


def test_member_that_waits_for_the_others_does_not_lose_its_session(world: World) -> None:
    a, b = Client("a", rebalance_ms=600_000), Client("b", session_ms=600_000, rebalance_ms=600_000)
    world.stabilise(a, b)
    rejoined = world.begin_join(a)
    world.advance(10 * SESSION_MS)
    world.joined(b, world.begin_join(b))
    world.joined(a, rejoined)
    assert world.heartbeat(a) is ErrorCode.NONE
    world.advance(SESSION_MS)
    assert world.heartbeat(a) is ErrorCode.UNKNOWN_MEMBER_ID


def test_session_of_a_waiting_member_starts_again_with_the_reply(world: World) -> None:
    a, b = Client("a", rebalance_ms=600_000), Client("b", session_ms=600_000, rebalance_ms=600_000)
    world.stabilise(a, b)
    rejoined = world.begin_join(a)
    world.advance(10 * SESSION_MS)
    world.joined(b, world.begin_join(b))
    world.joined(a, rejoined)
    world.advance(SESSION_MS - 1)
    assert world.state() is GroupState.COMPLETING
    world.advance(1)
    assert world.state() is GroupState.PREPARING


def test_new_member_may_wait_for_five_minutes_and_must_then_join_again(world: World) -> None:
    a = Client("a", session_ms=600_000, rebalance_ms=600_000)
    world.stabilise(a)
    joining = world.begin_join(Client("b"))
    world.advance(299_999)
    assert not joining.done()
    world.advance(1)
    assert (joining.result().error, joining.result().member_id) == (
        ErrorCode.UNKNOWN_MEMBER_ID,
        "",
    )


def test_assignment_of_an_earlier_generation_is_not_handed_out_in_a_later_one(world: World) -> None:
    a = Client("a")
    world.joined(a, world.begin_join(a))
    world.begin_sync(a, **{a.member_id: b"earlier"})
    changed = replace(a, offers=(Offer("range", b"changed"),))
    world.joined(a, world.begin_join(changed))
    later = world.begin_sync(a, **{a.member_id: b"later"})
    world.sync_log(1)
    assert not later.done()
    world.sync_log()
    assert later.result().assignment == b"later"


def test_heartbeat_returns_the_error_of_the_claim(world: World) -> None:
    a = Client("a")
    assert world.groups.heartbeat("", a.claim) is ErrorCode.INVALID_GROUP_ID
    assert world.heartbeat(a) is ErrorCode.UNKNOWN_MEMBER_ID
    world.joined(a, world.begin_join(a))
    assert world.heartbeat(a) is ErrorCode.NONE  # while the leader assigns, too
    world.stabilise(a)
    claim = MemberClaim(a.member_id, a.generation + 1)
    assert world.groups.heartbeat(GROUP, claim) is ErrorCode.ILLEGAL_GENERATION
    assert (
        world.groups.heartbeat(GROUP, MemberClaim("b", a.generation)) is ErrorCode.UNKNOWN_MEMBER_ID
    )


def test_follower_that_rejoins_unchanged_gets_the_same_generation(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    again = world.begin_join(b).result()
    assert (again.error, again.generation, again.members) == (ErrorCode.NONE, b.generation, ())
    assert world.heartbeat(a) is ErrorCode.NONE


def test_leader_that_rejoins_starts_a_rebalance(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    assert not world.begin_join(a).done()
    assert world.heartbeat(b) is ErrorCode.REBALANCE_IN_PROGRESS


def test_rebalance_while_the_leader_assigns_makes_all_members_join_again(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    first = world.begin_join(a)
    world.joined(b, world.begin_join(b))
    world.joined(a, first)
    follower = world.begin_sync(b)
    leader = world.begin_sync(a, **{a.member_id: b"1", b.member_id: b"2"})
    world.begin_join(Client("c"))
    assert follower.result().error is ErrorCode.REBALANCE_IN_PROGRESS
    assert leader.result().error is ErrorCode.REBALANCE_IN_PROGRESS
    world.sync_log()  # the assignment that was on its way is nobody's
    assert world.state() is GroupState.PREPARING


def test_sync_of_another_protocol_or_generation_is_refused(world: World) -> None:
    a = Client("a")
    world.joined(a, world.begin_join(a))
    good = world.begin_sync
    stale = replace(a, generation=a.generation - 1)
    assert good(stale).result().error is ErrorCode.ILLEGAL_GENERATION
    assert good(replace(a, member_id="x")).result().error is ErrorCode.UNKNOWN_MEMBER_ID


def test_last_member_to_leave_is_answered_when_the_emptiness_is_durable(world: World) -> None:
    a = Client("a")
    world.stabilise(a)
    left = world.leave(Leaver(a.member_id, None))
    assert not left.done()
    world.sync_log()
    assert left.result().members == [ErrorCode.NONE]
    world.restart()
    assert world.state() is GroupState.EMPTY
    assert world.group.generation == 2


def test_member_that_leaves_starts_a_rebalance(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    assert world.leave(Leaver(b.member_id, None)).result().members == [ErrorCode.NONE]
    assert world.heartbeat(a) is ErrorCode.REBALANCE_IN_PROGRESS
    assert world.leave(Leaver(b.member_id, None)).result().members == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_client_that_leaves_instead_of_joining_is_not_waited_for(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a)
    told = world.answer(world.groups.join(GROUP, b.join_request()))
    rejoined = world.begin_join(a)
    assert not rejoined.done()
    world.leave(Leaver(told.member_id, None))
    assert rejoined.done()


def test_client_that_never_joins_with_its_id_is_not_waited_for_beyond_its_session(
    world: World,
) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a)
    world.answer(world.groups.join(GROUP, b.join_request()))
    rejoined = world.begin_join(a)
    world.advance(SESSION_MS)
    assert rejoined.done()


def test_first_members_are_waited_for_if_so_configured() -> None:
    with World(group_initial_rebalance_delay_ms=3_000) as world:
        a, b = Client("a"), Client("b")
        joins = [world.begin_join(a), world.begin_join(b)]
        world.advance(2_999)
        assert not any(task.done() for task in joins)
        world.advance(3_001)
        assert {world.joined(a, joins[0]).generation, world.joined(b, joins[1]).generation} == {1}


def test_members_and_pending_members_of_a_group_are_bounded(world: World) -> None:
    for n in range(LARGEST_GROUP):
        world.ask(world.groups.join(GROUP, Client(f"c{n}").join_request()))
    late = world.answer(world.groups.join(GROUP, Client("late").join_request()))
    assert late.error is ErrorCode.GROUP_MAX_SIZE_REACHED


@pytest.mark.parametrize("session_ms", [5_999, 1_800_001])
def test_session_out_of_bounds_is_refused(world: World, session_ms: int) -> None:
    answer = world.answer(
        world.groups.join(GROUP, Client("a", session_ms=session_ms).join_request())
    )
    assert answer.error is ErrorCode.INVALID_SESSION_TIMEOUT


def test_group_without_a_name_is_refused(world: World) -> None:
    joined = world.answer(world.groups.join("", Client("a").join_request()))
    assert joined.error is ErrorCode.INVALID_GROUP_ID
    assert world.answer(world.groups.leave("", [])).error is ErrorCode.INVALID_GROUP_ID


def test_member_of_an_unknown_group_must_join_again(world: World) -> None:
    answer = world.answer(world.groups.join(GROUP, Client("a", member_id="a-1").join_request()))
    assert answer.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_members_survive_a_crash_and_their_sessions_start_again(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    world.advance(SESSION_MS - 1)
    world.restart()
    assert world.state() is GroupState.STABLE
    world.advance(SESSION_MS - 1)
    assert world.heartbeat(a) is ErrorCode.NONE
    assert world.begin_sync(b).result().assignment == b"b"
    assert world.begin_join(b).result().generation == b.generation
    world.advance(SESSION_MS)
    assert world.heartbeat(a) is ErrorCode.UNKNOWN_MEMBER_ID


def test_half_an_hour_of_session_survives_a_restart(world: World) -> None:
    a = Client("a", instance_id="gate", session_ms=1_800_000)
    world.stabilise(a)
    world.restart()
    world.advance(1_799_999)
    assert world.heartbeat(a) is ErrorCode.NONE
    assert world.commit(5, a.claim) is ErrorCode.NONE


def test_rebalance_that_a_crash_interrupted_leaves_the_last_durable_generation(
    world: World,
) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    stable = a.generation
    rejoined = world.begin_join(a)
    world.joined(b, world.begin_join(b))
    world.joined(a, rejoined)
    world.begin_sync(a, **{a.member_id: b"never", b.member_id: b"durable"})
    world.restart()
    assert world.group.generation == stable
    assert {m.assignment for m in world.group.roster} == {b"a", b"b"}
    assert world.heartbeat(a) is ErrorCode.ILLEGAL_GENERATION


def test_no_request_waits_and_no_timer_runs_after_close(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    waiting = world.begin_join(a)
    world.groups.close()
    world.settle()
    away = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert waiting.result().error is away
    assert world.clock.running == 0
    assert world.begin_join(b).result().error is away
    assert world.begin_sync(b).result().error is away
    assert world.heartbeat(b) is away
    assert world.commit(5, b.claim) is ErrorCode.NONE  # nobody has to wait for that
    world.restart()
    assert world.heartbeat(b) is ErrorCode.NONE
