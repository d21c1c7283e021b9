"""Offsets: seen when durable, unstable while a transaction may change them, gone when due."""

from collections.abc import Iterator

import pytest
from tests.unit.broker.groups.world import GROUP, Client, World, at, offset, subscription

from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.groups.records import CommittedOffset
from holdfast.broker.groups.requests import Leaver, MemberClaim, Offer
from holdfast.broker.work import finish
from holdfast.wire.protocol.errors import ErrorCode

UNSTABLE = ErrorCode.UNSTABLE_OFFSET_COMMIT
WEEK_MS = 7 * 24 * 3_600_000


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        yield world


# plain commits


def test_offset_is_visible_only_once_durable(world: World) -> None:
    committing = world.begin_commit({at(): offset(7, "note")})
    assert not committing.done()
    assert world.fetch() is None
    assert world.group is None
    world.sync_log()
    assert committing.result() is ErrorCode.NONE
    found = finish(world.groups.fetch(GROUP, None))
    assert found == {at(): offset(7, "note")}


def test_offset_that_failed_to_sync_is_not_visible(world: World) -> None:
    world.commit(1)
    committing = world.begin_commit({at(): offset(2)})
    world.log.fail()
    world.settle()
    assert committing.result() is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.fetch() == 1
    world.log.refuses = True
    assert world.begin_commit({at(): offset(3)}).result() is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.fetch() == 1


def test_commit_whose_client_went_away_still_counts(world: World) -> None:
    committing = world.begin_commit({at(): offset(7)})
    committing.cancel()
    world.settle()
    world.sync_log()
    assert world.fetch() == 7


def test_offsets_are_back_after_a_crash_as_far_as_acknowledged(world: World) -> None:
    world.commit(1)
    world.commit(2, partition=1)
    world.begin_commit({at(): offset(9)})
    world.restart()
    assert (world.fetch(0), world.fetch(1), world.fetch(2)) == (1, 2, None)


def test_leader_epoch_metadata_and_expiry_survive_a_restart(world: World) -> None:
    kept = {
        at(0): CommittedOffset(5, 3, "größer", 123),
        at(1): CommittedOffset(6, -1, "", 123, expire_ms=456),
    }
    world.begin_commit(kept)
    world.sync_log()
    world.restart()
    assert finish(world.groups.fetch(GROUP, None)) == kept


def test_only_members_may_commit_to_a_group_with_members(world: World) -> None:
    a = Client("a")
    world.stabilise(a)
    assert world.commit(1) is ErrorCode.UNKNOWN_MEMBER_ID
    wrong = MemberClaim(a.member_id, a.generation + 1)
    assert world.commit(1, wrong) is ErrorCode.ILLEGAL_GENERATION
    assert world.commit(1, MemberClaim("x", a.generation)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.fetch() is None
    assert world.commit(1, a.claim) is ErrorCode.NONE
    world.begin_join(a)  # the rebalance begins; what was read can still be committed
    assert world.group.state is GroupState.COMPLETING


def test_commit_while_the_leader_assigns_is_refused_until_later(world: World) -> None:
    a = Client("a")
    world.joined(a, world.begin_join(a))
    assert world.commit(1, a.claim) is ErrorCode.REBALANCE_IN_PROGRESS


def test_commit_during_the_join_phase_is_taken(world: World) -> None:
    a, b = Client("a"), Client("b")
    world.stabilise(a, b)
    world.begin_join(a)
    assert world.commit(4, b.claim) is ErrorCode.NONE


def test_member_of_an_unknown_group_may_not_commit(world: World) -> None:
    claim = MemberClaim("a-1", 3)
    assert world.commit(1, claim) is ErrorCode.ILLEGAL_GENERATION
    assert world.begin_transactional(1, 1, claim).result() is ErrorCode.ILLEGAL_GENERATION
    refused = world.answer(
        world.groups.commit(
            GROUP, claim, {at(): offset(1)}, if_unknown=ErrorCode.GROUP_ID_NOT_FOUND
        )
    )
    assert refused is ErrorCode.GROUP_ID_NOT_FOUND


# transactional commits


def test_transactional_offset_is_unstable_from_its_append_to_its_end(world: World) -> None:
    world.commit(1)
    committing = world.begin_transactional(70, 2)
    assert (world.fetch(), world.fetch(stable=True)) == (1, UNSTABLE)
    world.sync_log()
    assert committing.result() is ErrorCode.NONE
    assert (world.fetch(), world.fetch(stable=True)) == (1, UNSTABLE)
    world.end_transaction(70, commit=True)
    assert world.fetch(stable=True) is UNSTABLE
    world.sync_log()
    assert (world.fetch(), world.fetch(stable=True)) == (2, 2)


def test_aborted_offset_leaves_the_one_before(world: World) -> None:
    world.commit(1)
    world.begin_transactional(70, 2)
    world.end_transaction(70, commit=False)
    world.sync_log()
    assert (world.fetch(), world.fetch(stable=True)) == (1, 1)


def test_other_partitions_stay_stable(world: World) -> None:
    world.commit(1)
    world.commit(5, partition=1)
    world.begin_transactional(70, 2)
    assert world.fetch(1, stable=True) == 5
    assert finish(world.groups.fetch(GROUP, None, require_stable=True))[at(0)] is UNSTABLE


def test_unstable_partition_without_any_offset_yet_is_not_passed_over(world: World) -> None:
    world.begin_transactional(70, 2)
    assert finish(world.groups.fetch(GROUP, None, require_stable=True)) == {at(): UNSTABLE}
    assert finish(world.groups.fetch(GROUP, None)) == {}


def test_plain_commit_behind_a_transactional_one_counts(world: World) -> None:
    world.begin_transactional(70, 2)
    world.begin_commit({at(): offset(3)})
    world.end_transaction(70, commit=True)
    world.sync_log()
    assert world.fetch() == 3
    world.restart()
    assert world.fetch() == 3


def test_of_two_transactions_the_later_offset_in_the_log_counts_whichever_ends_first(
    world: World,
) -> None:
    world.begin_transactional(70, 2)
    world.begin_transactional(80, 5)
    world.end_transaction(80, commit=True)
    world.end_transaction(70, commit=True)
    world.sync_log()
    assert world.fetch() == 5
    world.restart()
    assert world.fetch() == 5


def test_transactional_offset_that_did_not_become_durable_restores_the_one_before_it(
    world: World,
) -> None:
    world.begin_transactional(70, 2)
    world.sync_log()
    world.begin_transactional(70, 3)
    world.log.fail()
    world.settle()
    world.end_transaction(70, commit=True)
    world.sync_log()
    assert world.fetch() == 2


def test_failed_first_commit_of_a_transaction_leaves_the_partition_stable(world: World) -> None:
    world.commit(1)
    failing = world.begin_transactional(70, 2)
    world.log.fail()
    world.settle()
    assert failing.result() is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.fetch(stable=True) == 1


def test_open_transaction_is_open_again_after_a_crash(world: World) -> None:
    world.commit(1)
    world.begin_transactional(70, 2)
    world.sync_log()
    world.begin_transactional(80, 3)
    world.end_transaction(70, commit=True)
    world.restart()
    assert (world.fetch(), world.fetch(stable=True)) == (1, UNSTABLE)
    world.end_transaction(70, commit=True)
    world.sync_log()
    assert (world.fetch(), world.fetch(stable=True)) == (2, 2)


def test_transaction_without_membership_is_accepted_by_a_group_with_members(world: World) -> None:
    world.stabilise(Client("a"))
    committing = world.begin_transactional(70, 2)
    world.sync_log()
    assert committing.result() is ErrorCode.NONE


def test_transaction_with_a_wrong_membership_is_refused(world: World) -> None:
    a = Client("a")
    world.stabilise(a)
    stale = MemberClaim(a.member_id, a.generation - 1)
    assert world.begin_transactional(70, 2, stale).result() is ErrorCode.ILLEGAL_GENERATION
    stranger = MemberClaim("x", a.generation)
    assert world.begin_transactional(70, 2, stranger).result() is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.fetch(stable=True) is None


def test_transaction_of_a_member_is_taken_while_the_leader_assigns(world: World) -> None:
    a = Client("a")
    world.joined(a, world.begin_join(a))
    committing = world.begin_transactional(70, 2, a.claim)
    world.sync_log()
    assert committing.result() is ErrorCode.NONE


def test_membership_is_checked_before_the_transaction(world: World) -> None:
    a = Client("a")
    world.stabilise(a)

    def commit(claim: MemberClaim) -> ErrorCode:
        return world.answer(
            world.groups.commit_in_transaction(
                GROUP,
                claim,
                (70, 0),
                {at(): offset(1)},
                verify=lambda: ErrorCode.INVALID_PRODUCER_EPOCH,
            )
        )

    assert commit(MemberClaim("x", a.generation)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(a.claim) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert world.fetch(stable=True) is None


def test_transactional_commit_to_a_group_without_a_name_is_refused(world: World) -> None:
    commit = world.groups.commit_in_transaction(
        "", MemberClaim(), (70, 0), {at(): offset(1)}, verify=lambda: None
    )
    assert world.answer(commit) is ErrorCode.INVALID_GROUP_ID


# deletion


def test_deleted_group_is_gone_once_durable_with_all_its_offsets(world: World) -> None:
    a = Client("a")
    world.stabilise(a)
    world.commit(1, a.claim)
    assert world.answer(world.groups.delete_group(GROUP)) is ErrorCode.NON_EMPTY_GROUP
    world.leave(Leaver(a.member_id, None))
    world.sync_log()
    deleting = world.ask(world.groups.delete_group(GROUP))
    assert not deleting.done()
    assert world.fetch() == 1
    world.sync_log()
    assert deleting.result() is ErrorCode.NONE
    assert (world.group, world.fetch()) == (None, None)
    world.restart()
    assert (world.group, world.fetch()) == (None, None)
    assert world.answer(world.groups.delete_group(GROUP)) is ErrorCode.GROUP_ID_NOT_FOUND


def test_commit_after_a_deletion_creates_the_group_again(world: World) -> None:
    world.commit(1)
    world.commit(1, partition=1)
    world.ask(world.groups.delete_group(GROUP))
    world.begin_commit({at(): offset(2)})
    world.sync_log()
    assert (world.fetch(0), world.fetch(1)) == (2, None)
    assert world.group is not None
    world.restart()
    assert (world.fetch(0), world.fetch(1)) == (2, None)


@pytest.mark.parametrize("what", ["group", "topic"])
def test_deleting_a_group_also_deletes_a_commit_in_flight(world: World, what: str) -> None:
    world.commit(1, partition=1)
    committing = world.begin_commit({at(): offset(2)})
    if what == "topic":
        world.groups.topic_deleted("events")
    else:
        world.ask(world.groups.delete_group(GROUP))
    world.sync_log()
    assert committing.result() is ErrorCode.NONE
    assert world.fetch() is None
    world.restart()
    assert world.fetch() is None


def test_member_that_joins_during_a_deletion_stays(world: World) -> None:
    a = Client("a")
    world.commit(1)
    world.ask(world.groups.delete_group(GROUP))
    world.stabilise(a)
    assert world.heartbeat(a) is ErrorCode.NONE
    assert world.fetch() is None


def test_deleting_records_removes_their_open_transactions(world: World) -> None:
    world.begin_transactional(70, 2)
    world.sync_log()
    world.answer(world.groups.delete_group(GROUP))
    world.end_transaction(70, commit=True)
    world.sync_log()
    assert world.fetch() is None
    world.restart()
    assert world.fetch() is None


def test_offsets_of_topics_that_are_read_cannot_be_deleted(world: World) -> None:
    a = Client("a", offers=(Offer("range", subscription("events", "b")),))
    world.stabilise(a)
    offsets = {at(0): offset(1), at(0, "b"): offset(1), at(0, "old"): offset(1)}
    world.begin_commit(offsets, a.claim)
    world.sync_log()
    error, errors = world.answer(world.groups.delete_offsets(GROUP, [*offsets, at(9, "none")]))
    assert error is ErrorCode.NONE
    assert errors == {
        at(0): ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        at(0, "b"): ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        at(0, "old"): ErrorCode.NONE,
        at(9, "none"): ErrorCode.NONE,
    }
    assert set(finish(world.groups.fetch(GROUP, None))) == {at(0), at(0, "b")}


def test_offsets_of_a_group_that_is_not_of_consumers_stay_while_it_has_members(
    world: World,
) -> None:
    a = Client("a", offers=(Offer("range", b"?"),))
    world.stabilise(a)
    deleting = world.groups.delete_offsets(GROUP, [at()])
    assert world.answer(deleting) == (ErrorCode.NON_EMPTY_GROUP, {})


@pytest.mark.parametrize(
    ("group_id", "error"),
    [("none", ErrorCode.GROUP_ID_NOT_FOUND), ("", ErrorCode.INVALID_GROUP_ID)],
)
def test_offsets_of_no_group_cannot_be_deleted(
    world: World, group_id: str, error: ErrorCode
) -> None:
    assert world.answer(world.groups.delete_offsets(group_id, [at()])) == (error, {})


def test_deleting_a_topic_removes_its_offsets(world: World) -> None:
    world.begin_commit({at(0): offset(1), at(0, "other"): offset(2)})
    world.begin_transactional(70, 5, partition=3)
    world.sync_log()
    world.groups.topic_deleted("events")
    world.sync_log()
    assert finish(world.groups.fetch(GROUP, None, require_stable=True)) == {
        at(0, "other"): offset(2)
    }


# expiry


def expire(world: World) -> None:
    world.groups.expire(world.clock())
    world.sync_log()


def test_offset_of_a_group_without_members_expires_after_its_commit(world: World) -> None:
    world.commit(1)
    world.advance(WEEK_MS - 1)
    world.commit(2, partition=1)
    expire(world)
    assert (world.fetch(0), world.fetch(1)) == (1, 2)
    world.advance(1)
    expire(world)
    assert (world.fetch(0), world.fetch(1)) == (None, 2)
    world.restart()
    assert (world.fetch(0), world.fetch(1)) == (None, 2)
    world.advance(WEEK_MS)
    expire(world)
    assert world.group is None


def test_offsets_of_a_group_with_members_stay(world: World) -> None:
    a = Client("a", session_ms=1_800_000)
    world.stabilise(a)
    world.commit(1, a.claim)
    for _ in range(4 * WEEK_MS // 1_000_000):
        world.advance(1_000_000)
        assert world.heartbeat(a) is ErrorCode.NONE
    expire(world)
    assert world.fetch() == 1


def test_retention_of_a_group_begins_when_its_last_member_is_gone(world: World) -> None:
    a = Client("a", session_ms=1_800_000)
    world.stabilise(a)
    world.commit(1, a.claim)
    for _ in range(2 * WEEK_MS // 1_000_000):
        world.advance(1_000_000)
        world.heartbeat(a)
    world.leave(Leaver(a.member_id, None))
    world.sync_log()
    world.restart()
    world.advance(WEEK_MS - 1)
    expire(world)
    assert world.fetch() == 1
    world.advance(1)
    expire(world)
    assert (world.fetch(), world.group) == (None, None)
    world.restart()
    assert world.group is None


def test_offset_that_an_open_transaction_may_change_does_not_expire(world: World) -> None:
    world.commit(1)
    world.begin_transactional(70, 2)
    world.sync_log()
    world.advance(2 * WEEK_MS)
    expire(world)
    assert (world.fetch(), world.fetch(stable=True)) == (1, UNSTABLE)


def test_offset_of_a_topic_without_subscriber_expires(world: World) -> None:
    a = Client("a", session_ms=1_800_000)
    world.stabilise(a)
    committed = {at(): offset(1), at(0, "old"): offset(1, commit_ms=world.clock())}
    world.begin_commit(committed, a.claim)
    world.sync_log()
    for _ in range(WEEK_MS // 1_000_000 + 1):
        world.advance(1_000_000)
        world.heartbeat(a)
    expire(world)
    assert set(finish(world.groups.fetch(GROUP, None))) == {at()}


def test_offset_with_its_own_expiry_uses_it(world: World) -> None:
    now = world.clock()
    world.begin_commit({at(): CommittedOffset(1, -1, "", now, expire_ms=now + 1000)})
    world.sync_log()
    world.advance(999)
    expire(world)
    assert world.fetch() == 1
    world.advance(1)
    expire(world)
    assert world.fetch() is None


def test_expiry_that_cannot_be_written_leaves_everything(world: World) -> None:
    world.commit(1)
    world.advance(2 * WEEK_MS)
    world.groups.expire(world.clock())
    world.log.fail()
    world.settle()
    assert world.fetch() == 1


def test_group_that_never_had_members_is_deleted(world: World) -> None:
    world.answer(world.groups.join(GROUP, Client("a").join_request()))
    expire(world)
    assert world.group is not None  # it was given an id to join with
    world.advance(1_800_000)
    expire(world)
    assert world.group is None
