"""One member to an instance id: the newest, at once. The gate's fence stands on this."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.broker.groups.world import (
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    Client,
    Timer,
    World,
    subscription,
)

from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.groups.requests import Leaver, MemberClaim, Offer
from holdfast.wire.protocol.errors import ErrorCode

FENCED = ErrorCode.FENCED_INSTANCE_ID


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        yield world


def gate(name: str = "old", **changes: Any) -> Client:
    return replace(Client(name, instance_id="gate", session_ms=1_800_000), **changes)


def test_static_member_joins_in_one_step(world: World) -> None:
    old = gate()
    joined = world.answer(world.groups.join(GROUP, old.join_request()))
    assert joined.error is ErrorCode.NONE
    assert joined.member_id.startswith("gate-")


def test_second_member_with_the_instance_id_takes_over_within_the_generation(world: World) -> None:
    old, new = gate(), gate("new")
    world.stabilise(old)
    joined = world.answer(world.groups.join(GROUP, new.join_request()))
    assert joined.error is ErrorCode.NONE
    assert joined.generation == old.generation
    assert joined.member_id != old.member_id
    new.member_id, new.generation = joined.member_id, joined.generation
    assert world.begin_sync(new).result().assignment == b"old"
    assert world.heartbeat(new) is ErrorCode.NONE
    assert len(world.group.roster) == 1


def test_replaced_member_is_fenced_everywhere(world: World) -> None:
    old, new = gate(), gate("new")
    world.stabilise(old)
    world.answer(world.groups.join(GROUP, new.join_request()))
    assert world.heartbeat(old) is FENCED
    assert world.begin_join(old).result().error is FENCED
    assert world.begin_sync(old).result().error is FENCED
    assert world.commit(1, old.claim) is FENCED
    for producer_id in (1, 2):  # whatever its transactional id
        assert world.begin_transactional(producer_id, 1, old.claim).result() is FENCED
    left = world.leave(Leaver(old.member_id, "gate"))
    assert left.result().members == [FENCED]
    assert world.fetch() is None
    assert world.fetch(stable=True) is None


def test_replaced_member_is_fenced_from_the_moment_of_the_join(world: World) -> None:
    old, new = gate(), gate("new")
    world.stabilise(old)
    joining = world.begin_join(new)
    assert not joining.done()  # its record is not durable yet
    assert world.begin_transactional(1, 1, old.claim).result() is FENCED
    assert world.heartbeat(old) is FENCED


def test_replacement_is_acknowledged_once_durable_and_survives_a_crash(world: World) -> None:
    old, new = gate(), gate("new")
    world.stabilise(old)
    joining = world.begin_join(new)
    assert not joining.done()
    world.sync_log()
    world.joined(new, joining)
    world.restart()
    assert world.heartbeat(new) is ErrorCode.NONE
    assert world.heartbeat(old) is FENCED


def test_replacement_lost_in_a_crash_has_no_effect(world: World) -> None:
    old, new = gate(), gate("new")
    world.stabilise(old)
    assert not world.begin_join(new).done()
    world.restart()
    assert world.heartbeat(old) is ErrorCode.NONE


def test_replacement_that_cannot_be_stored_is_refused_and_can_be_tried_again(world: World) -> None:
    old, new = gate(), gate("new")
    world.stabilise(old)
    joining = world.begin_join(new)
    world.log.fail()
    world.settle()
    refused = joining.result()
    assert refused.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert refused.member_id == ""
    again = world.begin_join(new)
    world.sync_log()
    world.joined(new, again)
    assert world.heartbeat(new) is ErrorCode.NONE
    assert world.heartbeat(old) is FENCED


def test_replacements_one_after_the_other_leave_the_last(world: World) -> None:
    old = gate()
    world.stabilise(old)
    second, third = gate("second"), gate("third")
    joins = [world.begin_join(second), world.begin_join(third)]
    world.sync_log()
    assert joins[0].result().error is FENCED
    world.joined(third, joins[1])
    assert [m.client_id for m in world.group.roster] == ["third"]
    world.restart()
    assert world.heartbeat(third) is ErrorCode.NONE


def test_replaced_leader_learns_that_it_leads_and_need_not_assign(world: World) -> None:
    old, new = gate(), gate("new")
    world.stabilise(old)
    joined = world.answer(world.groups.join(GROUP, new.join_request()))
    assert joined.leader == joined.member_id
    assert joined.skip_assignment
    assert [m.member_id for m in joined.members] == [joined.member_id]


def test_replaced_leader_of_an_old_client_is_kept_from_assigning(world: World) -> None:
    old, new = gate(version=5), gate("new", version=5)
    world.stabilise(old)
    joined = world.answer(world.groups.join(GROUP, new.join_request()))
    assert joined.leader == old.member_id
    assert not joined.skip_assignment
    assert joined.members == ()


def test_replaced_follower_gets_the_leaders_id(world: World) -> None:
    leader, old, new = Client("leader"), gate(), gate("new")
    world.stabilise(leader, old)
    joined = world.answer(world.groups.join(GROUP, new.join_request()))
    assert (joined.leader, joined.skip_assignment) == (leader.member_id, False)
    assert world.heartbeat(leader) is ErrorCode.NONE


def test_requests_that_the_replaced_member_waits_for_are_answered(world: World) -> None:
    a, old = Client("a", rebalance_ms=600_000, session_ms=600_000), gate()
    world.stabilise(a, old)
    old_join = world.begin_join(replace(old, offers=(Offer("range", subscription("x")),)))
    assert not old_join.done()
    new = gate("new")
    new_join = world.begin_join(new)
    assert old_join.result().error is FENCED
    world.joined(a, world.begin_join(a))
    world.joined(new, new_join)

    waiting_sync = world.begin_sync(new)
    third_join = world.begin_join(gate("third"))
    assert waiting_sync.result().error is FENCED
    assert not third_join.done()  # the leader may be assigning to the old id: all join again
    assert world.group.state is GroupState.PREPARING


@pytest.mark.parametrize(
    "offers",
    [
        (Offer("range", subscription("other")),),
        (Offer("sticky", subscription("events")), Offer("range", subscription("events"))),
    ],
    ids=["topics", "protocol"],
)
def test_replacement_with_other_topics_or_protocol_rebalances(
    world: World, offers: tuple[Offer, ...]
) -> None:
    both = (Offer("range", subscription("events")), Offer("sticky", b""))
    a: Client | None = Client("a", offers=both)
    old = gate(offers=both)
    if offers[0].protocol == "sticky":
        a = None
    world.stabilise(*([a] if a else []), old)
    generation = old.generation
    new = gate("new", offers=offers)
    joining = world.begin_join(new)
    world.sync_log()
    if a is not None:
        assert not joining.done()
        world.joined(a, world.begin_join(a))
    assert world.joined(new, joining).generation == generation + 1


def test_replacement_with_other_assignor_metadata_keeps_the_generation(world: World) -> None:
    sticky = (Offer("range", subscription("events", rest=b"owned: 1, 2")),)
    old, new = gate(offers=sticky), gate("new")
    world.stabilise(old)
    joined = world.answer(world.groups.join(GROUP, new.join_request()))
    assert joined.generation == old.generation


def test_static_member_that_is_away_stays_through_a_rebalance(world: World) -> None:
    a, static = Client("a", session_ms=600_000), gate()
    world.stabilise(a, static)
    rejoined = world.begin_join(a)
    world.advance(REBALANCE_MS)
    world.joined(a, rejoined)
    assert len(world.group.roster) == 2


def test_administrator_removes_a_static_member_by_its_instance_id(world: World) -> None:
    a, static = Client("a"), gate()
    world.stabilise(a, static)
    left = world.leave(Leaver("", "gate"), Leaver("", "unknown"), Leaver("", None))
    assert left.result().members == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]
    assert [m.member_id for m in world.group.roster] == [a.member_id]


def test_unknown_instance_is_an_unknown_member(world: World) -> None:
    a = Client("a")
    world.stabilise(a)
    claim = MemberClaim(a.member_id, a.generation, "nobody")
    assert world.groups.heartbeat(GROUP, claim) is ErrorCode.UNKNOWN_MEMBER_ID


def test_replacement_during_a_new_rebalance_is_answered_by_it(world: World) -> None:
    a, old = Client("a", session_ms=600_000), gate()
    world.stabilise(a, old)
    new = gate("new")
    joining = world.begin_join(new)
    other = world.begin_join(replace(a, offers=(Offer("range", subscription("events", "b")),)))
    world.sync_log()
    assert world.joined(new, joining).generation == world.joined(a, other).generation == 3


def test_replacement_is_not_answered_before_the_rebalance_that_overtook_it(world: World) -> None:
    a, old = Client("a", session_ms=600_000), gate()
    world.stabilise(a, old)
    new = gate("new")
    joining = world.begin_join(new)
    world.begin_join(Client("c"))
    world.sync_log()
    assert not joining.done()
    rejoined = world.begin_join(a)
    assert world.joined(new, joining).generation == world.joined(a, rejoined).generation == 3


def test_replacement_of_a_replacement_waits_for_its_own_record(world: World) -> None:
    world.stabilise(gate())
    second, third = world.begin_join(gate("second")), world.begin_join(gate("third"))
    world.sync_log(1)
    assert second.result().error is FENCED
    assert not third.done()
    world.sync_log()
    assert third.result().error is ErrorCode.NONE


def test_group_of_absent_static_members_is_checked_rarely(world: World) -> None:
    """A client chooses its rebalance timeout, and may choose none."""
    away, other = Client("a", instance_id="i", rebalance_ms=0), Client("b", rebalance_ms=0)
    world.stabilise(away, other)
    began: list[float] = []
    call_later = world.clock.call_later

    def counting(seconds: float, then: Callable[[], None]) -> Timer:
        began.append(seconds)
        assert len(began) < 100, "timers without end"
        return call_later(seconds, then)

    object.__setattr__(world.group._runtime, "call_later", counting)
    world.answer(world.groups.leave(GROUP, [Leaver(other.member_id, None)]))
    world.advance(SESSION_MS - 1)
    assert world.group.state is GroupState.PREPARING
