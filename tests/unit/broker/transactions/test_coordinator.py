"""The coordinator: what is acknowledged is durable, and what was decided happens."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from tests.unit.broker.transactions.world import OFFSETS, Marker, World

from holdfast.broker.transactions.record import encode_key, encode_value
from holdfast.broker.transactions.transaction import (
    EXHAUSTED_EPOCH,
    Producer,
    TopicPartition,
    Transaction,
    TransactionRefused,
    TransactionState,
)
from holdfast.wire.protocol.errors import ErrorCode

A, B = TopicPartition("a", 0), TopicPartition("b", 3)


async def refused(world: World, coroutine: Coroutine[Any, Any, object]) -> ErrorCode:
    with pytest.raises(TransactionRefused) as refusal:
        await world.answer(coroutine)
    return refusal.value.error


async def producer(world: World, timeout_ms: int = 60_000) -> Producer:
    return await world.answer(world.coordinator.init_producer_id("t", timeout_ms, None))


async def begun(world: World, *partitions: TopicPartition, timeout_ms: int = 60_000) -> Producer:
    who = await producer(world, timeout_ms)
    await world.answer(world.coordinator.add_partitions("t", who, set(partitions)))
    return who


def state(world: World) -> TransactionState:
    transaction = world.coordinator.transaction("t")
    assert transaction is not None
    return transaction.state


async def test_idempotent_producers_get_ids_of_their_own() -> None:
    world = World()
    ids = [await world.coordinator.init_producer_id(None, 0, None) for _ in range(3)]
    assert len({who.id for who in ids}) == 3
    assert {who.epoch for who in ids} == {0}
    assert not world.state.entries


async def test_nothing_is_acknowledged_before_it_is_durable() -> None:
    world = World()
    request = world.request(world.coordinator.init_producer_id("t", 1000, None))
    await world.settle()
    assert not request.done()
    assert world.coordinator.transaction("t") is None
    world.state.sync()
    who = await request
    assert who.epoch == 0
    adding = world.request(world.coordinator.add_partitions("t", who, {A}))
    await world.settle()
    assert not adding.done()
    assert world.coordinator.verify(*who, *A) is ErrorCode.INVALID_TXN_STATE
    world.state.sync()
    await adding
    assert world.coordinator.verify(*who, *A) is None


async def test_steps_of_one_id_never_overlap() -> None:
    world = World()
    who = await begun(world, A)
    coordinator = world.coordinator
    first = world.request(coordinator.add_partitions("t", who, {B}))
    same_turn = world.request(coordinator.end("t", who, commit=True))
    await world.settle()
    for overlapping in (
        same_turn,
        world.request(coordinator.add_partitions("t", who, {OFFSETS})),
        world.request(coordinator.end("t", who, commit=True)),
        world.request(coordinator.init_producer_id("t", 1000, None)),
    ):
        with pytest.raises(TransactionRefused) as refusal:
            await overlapping
        assert refusal.value.error is ErrorCode.CONCURRENT_TRANSACTIONS
    world.state.sync()
    await first


async def test_two_first_requests_for_an_id_do_not_get_the_same_epoch() -> None:
    world = World()
    requests = [
        world.request(world.coordinator.init_producer_id("t", 1000, None)) for _ in range(2)
    ]
    await world.rest()
    first, second = await asyncio.gather(*requests, return_exceptions=True)
    assert isinstance(first, Producer)
    assert first.epoch == 0
    assert isinstance(second, TransactionRefused)
    assert second.error is ErrorCode.CONCURRENT_TRANSACTIONS


async def test_commit_is_answered_when_the_markers_are_durable() -> None:
    world = World()
    who = await begun(world, A, B)
    request = world.request(world.coordinator.end("t", who, commit=True))
    await world.settle()
    assert not world.markers(A)  # the decision is not durable yet
    world.state.sync()
    await world.settle()
    assert world.markers(A) == world.markers(B) == [Marker(*who, True)]
    assert not request.done()
    world.partitions[A].sync()
    await world.settle()
    assert not request.done()
    ending = world.coordinator.transaction("t")
    assert ending is not None
    assert ending.partitions == {B}  # what lacks its marker
    world.partitions[B].sync()
    await request
    assert state(world) is TransactionState.COMPLETE_COMMIT


async def test_the_next_transaction_does_not_wait_for_the_record_of_the_end() -> None:
    world = World()
    who = await begun(world, A)
    end = world.request(world.coordinator.end("t", who, commit=True))
    await world.settle()
    world.state.sync()
    await world.settle()
    world.partitions[A].sync()
    await end
    assert world.state.waiting
    await world.answer(world.coordinator.add_partitions("t", who, {B}))
    assert state(world) is TransactionState.ONGOING


async def test_groups_are_notified_when_the_marker_of_their_offsets_is_durable() -> None:
    world = World()
    who = await producer(world)
    await world.answer(world.coordinator.add_offsets("t", who))
    assert world.coordinator.verify(*who, *OFFSETS) is None
    world.request(world.coordinator.end("t", who, commit=True))
    await world.settle()
    world.state.sync()
    await world.settle()
    assert world.markers(OFFSETS) == [Marker(*who, True)]
    assert not world.groups_told
    await world.rest()
    assert world.groups_told == [(who.id, True)]


async def test_a_retried_end_gets_the_answer_of_the_first() -> None:
    world = World()
    who = await begun(world, A)
    await world.answer(world.coordinator.end("t", who, commit=True))
    await world.answer(world.coordinator.end("t", who, commit=True))
    assert world.markers(A) == [Marker(*who, True)]
    assert (
        await refused(world, world.coordinator.end("t", who, commit=False))
        is ErrorCode.INVALID_TXN_STATE
    )


async def test_partitions_deleted_meanwhile_are_skipped() -> None:
    world = World()
    who = await begun(world, A, B)
    world.deleted.add(A)
    await world.answer(world.coordinator.end("t", who, commit=True))
    assert not world.markers(A)
    assert world.markers(B)


async def test_a_takeover_aborts_the_open_transaction_and_fences_its_producer() -> None:
    world = World()
    old = await begun(world, A)
    coordinator = world.coordinator
    takeover = world.request(coordinator.init_producer_id("t", 1000, None))
    await world.settle()
    world.state.sync()
    await world.settle()
    with pytest.raises(TransactionRefused) as refusal:
        await takeover
    assert refusal.value.error is ErrorCode.CONCURRENT_TRANSACTIONS
    # Until the markers are durable the answer stays the same.
    assert (
        await refused_now(world, coordinator.init_producer_id("t", 1000, None))
        is ErrorCode.CONCURRENT_TRANSACTIONS
    )
    await world.rest()
    assert world.markers(A) == [Marker(old.id, old.epoch + 1, False)]
    new = await producer(world)
    assert new == (old.id, old.epoch + 2)
    for request in (
        coordinator.end("t", old, commit=True),
        coordinator.add_partitions("t", old, {A}),
    ):
        assert await refused(world, request) is ErrorCode.PRODUCER_FENCED
    assert coordinator.verify(*old, *A) is ErrorCode.INVALID_PRODUCER_EPOCH


async def refused_now(world: World, coroutine: Coroutine[Any, Any, object]) -> ErrorCode:
    request = world.request(coroutine)
    await world.settle()
    with pytest.raises(TransactionRefused) as refusal:
        request.result()
    return refusal.value.error


async def test_used_up_epochs_lead_to_a_new_producer_id_and_the_old_one_is_unknown() -> None:
    world = World()
    worn = Transaction(
        transactional_id="t", producer_id=1, epoch=EXHAUSTED_EPOCH - 1, timeout_ms=1, updated_ms=1
    )
    world.state.append([(encode_key("t"), encode_value(worn))])
    world.sync()
    await world.crash()
    who = await producer(world)
    assert who == (1, EXHAUSTED_EPOCH)
    after = await producer(world)
    assert after.id != who.id
    assert after.epoch == 0
    assert world.coordinator.verify(*who, *A) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("ahead_ms", [0, -3_600_000, 3_600_000])
async def test_a_transaction_times_out_whatever_the_wall_clock_says_and_its_producer_is_fenced(
    ahead_ms: int,
) -> None:
    world = World()
    who = await begun(world, A, timeout_ms=5_000)
    world.clock.wall_ahead_ms = ahead_ms
    world.clock.advance(4_999)
    await world.rest()
    assert state(world) is TransactionState.ONGOING
    world.clock.advance(1)
    await world.rest()
    assert state(world) is TransactionState.COMPLETE_ABORT
    assert world.markers(A) == [Marker(who.id, who.epoch + 1, False)]
    assert (
        await refused(world, world.coordinator.end("t", who, commit=True))
        is ErrorCode.PRODUCER_FENCED
    )


async def test_timeout_during_a_pending_step_is_tried_later() -> None:
    world = World()
    who = await begun(world, A, timeout_ms=5_000)
    pending = world.request(world.coordinator.add_partitions("t", who, {B}))
    await world.settle()
    world.clock.advance(5_000)
    await world.settle()
    world.state.sync()
    await pending
    world.clock.advance(1_000)
    await world.rest()
    assert state(world) is TransactionState.COMPLETE_ABORT
    assert world.markers(A) == world.markers(B) == [Marker(who.id, who.epoch + 1, False)]


async def test_a_timeout_on_a_full_disk_is_tried_again() -> None:
    world = World()
    await begun(world, A, timeout_ms=5_000)
    world.state.broken = True
    world.clock.advance(5_000)
    await world.rest()
    assert state(world) is TransactionState.ONGOING
    world.state.broken = False
    world.clock.advance(1_000)
    await world.rest()
    assert state(world) is TransactionState.COMPLETE_ABORT


async def test_a_committed_transaction_is_not_timed_out() -> None:
    world = World()
    who = await begun(world, A, timeout_ms=5_000)
    await world.answer(world.coordinator.end("t", who, commit=True))
    world.clock.advance(60_000)
    await world.rest()
    assert world.markers(A) == [Marker(*who, True)]


async def test_each_transaction_has_its_own_time() -> None:
    world = World()
    who = await begun(world, A, timeout_ms=5_000)
    world.clock.advance(4_000)
    await world.answer(world.coordinator.end("t", who, commit=True))
    await world.answer(world.coordinator.add_partitions("t", who, {A}))
    world.clock.advance(4_000)
    await world.rest()
    assert state(world) is TransactionState.ONGOING


async def test_markers_that_the_disk_refuses_are_written_later() -> None:
    world = World()
    who = await begun(world, A, B)
    world.partitions[B].broken = True
    request = world.request(world.coordinator.end("t", who, commit=True))
    await world.rest()
    assert not request.done()
    assert state(world) is TransactionState.PREPARE_COMMIT
    world.partitions[B].broken = False
    world.clock.advance(1_000)
    await world.rest()
    await request
    assert world.markers(A) == world.markers(B) == [Marker(*who, True)]


async def test_a_step_that_the_disk_refuses_changes_nothing() -> None:
    world = World()
    who = await begun(world, A)
    request = world.request(world.coordinator.end("t", who, commit=True))
    await world.settle()
    world.state.fail()
    with pytest.raises(TransactionRefused) as refusal:
        await request
    assert refusal.value.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert state(world) is TransactionState.ONGOING
    await world.answer(world.coordinator.end("t", who, commit=False))
    assert world.markers(A) == [Marker(*who, False)]


async def test_a_first_producer_that_the_disk_refuses_leaves_nothing_behind() -> None:
    world = World()
    world.state.broken = True
    assert (
        await refused(world, world.coordinator.init_producer_id("t", 1000, None))
        is ErrorCode.COORDINATOR_NOT_AVAILABLE
    )
    assert not list(world.coordinator.transactions())
    world.state.broken = False
    assert (await producer(world)).epoch == 0


async def test_a_step_finishes_after_its_client_disconnects() -> None:
    world = World()
    who = await begun(world, A)
    request = world.request(world.coordinator.end("t", who, commit=True))
    await world.settle()
    request.cancel()
    await world.rest()
    assert state(world) is TransactionState.COMPLETE_COMMIT
    assert world.markers(A) == [Marker(*who, True)]


async def test_bad_requests_are_refused() -> None:
    world = World(transaction_max_timeout_ms=900_000)
    coordinator = world.coordinator
    for timeout_ms in (0, -1, 900_001):
        assert (
            await refused(world, coordinator.init_producer_id("t", timeout_ms, None))
            is ErrorCode.INVALID_TRANSACTION_TIMEOUT
        )
    for request in (
        coordinator.init_producer_id("", 1000, None),
        coordinator.add_partitions("", Producer(1, 0), {A}),
        coordinator.end("", Producer(1, 0), commit=True),
    ):
        assert await refused(world, request) is ErrorCode.INVALID_REQUEST
    for request in (
        coordinator.add_partitions("x", Producer(1, 0), {A}),
        coordinator.end("x", Producer(1, 0), commit=True),
    ):
        assert await refused(world, request) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert coordinator.verify(1, 0, *A) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


async def test_records_are_taken_only_for_partitions_of_the_open_transaction() -> None:
    world = World()
    who = await begun(world, A)
    coordinator = world.coordinator
    assert coordinator.verify(*who, *A) is None
    assert coordinator.verify(*who, *B) is ErrorCode.INVALID_TXN_STATE
    assert coordinator.verify(who.id, who.epoch + 1, *A) is ErrorCode.INVALID_PRODUCER_EPOCH
    end = world.request(coordinator.end("t", who, commit=True))
    await world.settle()
    world.state.sync()
    await world.settle()
    assert coordinator.verify(*who, *A) is ErrorCode.INVALID_TXN_STATE
    await world.rest()
    await end
    assert coordinator.verify(*who, *A) is ErrorCode.INVALID_TXN_STATE


async def test_unused_ids_expire_and_stay_gone() -> None:
    world = World(transactional_id_expiration_ms=10_000)
    who = await begun(world, A)
    world.clock.advance(20_000)
    world.coordinator.expire(world.clock())
    await world.rest()
    assert state(world) is TransactionState.ONGOING  # open ones never expire
    await world.answer(world.coordinator.end("t", who, commit=True))
    world.clock.advance(9_999)
    world.coordinator.expire(world.clock())
    await world.rest()
    assert state(world) is TransactionState.COMPLETE_COMMIT
    world.clock.advance(1)
    world.coordinator.expire(world.clock())
    assert (
        await refused_now(world, world.coordinator.init_producer_id("t", 1000, None))
        is ErrorCode.CONCURRENT_TRANSACTIONS
    )
    await world.rest()
    await world.crash()
    assert not list(world.coordinator.transactions())
    again = await producer(world)
    assert (again.epoch, again.id != who.id) == (0, True)


async def test_restart_keeps_every_transaction_and_its_time() -> None:
    world = World()
    who = await begun(world, A, timeout_ms=5_000)
    before = world.coordinator.transaction("t")
    world.clock.advance(3_000)
    await world.crash()
    assert world.coordinator.transaction("t") == before
    assert world.coordinator.verify(*who, *A) is None
    world.clock.advance(1_999)
    await world.rest()
    assert state(world) is TransactionState.ONGOING
    world.clock.advance(1)
    await world.rest()
    assert state(world) is TransactionState.COMPLETE_ABORT


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("synced", [0, 1, 2, 3])
async def test_restart_finishes_decided_transactions_after_a_crash_at_any_point(
    commit: bool, synced: int
) -> None:
    world = World()
    who = await begun(world, A, B)
    world.request(world.coordinator.end("t", who, commit=commit))
    await world.settle()
    for log in (world.state, world.partitions[A], world.partitions[B])[:synced]:
        log.sync()
        await world.settle()
    for log in (world.state, world.partitions[A], world.partitions[B])[synced:]:
        log.fail()
    await world.crash()
    await world.rest()
    if synced == 0:
        assert state(world) is TransactionState.ONGOING
        assert not world.markers(A)
        return
    assert state(world) is (
        TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT
    )
    for partition in (A, B):
        assert set(world.markers(partition)) == {Marker(*who, commit)}


async def test_request_with_a_lost_reply_can_be_repeated_after_a_restart() -> None:
    world = World()
    who = await producer(world)
    bumped = await world.answer(world.coordinator.init_producer_id("t", 1000, who))
    await world.crash()
    assert await world.answer(world.coordinator.init_producer_id("t", 1000, who)) == bumped
