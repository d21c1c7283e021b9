"""Transactional ids and the partitions of transactions are bounded in number."""

from collections.abc import Coroutine
from typing import Any

import pytest
from tests.unit.broker.transactions.world import World

from holdfast.broker.transactions import coordinator
from holdfast.broker.transactions.transaction import Producer, TopicPartition, TransactionRefused
from holdfast.wire.protocol.errors import ErrorCode

A = TopicPartition("a", 0)


async def init(world: World, name: str) -> Producer:
    world.clock.now_ms += 1
    return await world.answer(world.coordinator.init_producer_id(name, 60_000, None))


async def refusal(request: Coroutine[Any, Any, object]) -> ErrorCode:
    with pytest.raises(TransactionRefused) as refused:
        await request
    return refused.value.error


async def test_ids_that_never_had_a_transaction_make_room_and_others_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coordinator, "MOST_IDS", 3)
    monkeypatch.setattr(coordinator, "IDS_PER_ROOM", 1)
    world = World()
    used = await init(world, "used")
    await world.answer(world.coordinator.add_partitions("used", used, {A}))
    await world.answer(world.coordinator.end("used", used, True))
    old = await init(world, "old")
    await init(world, "young")
    assert await refusal(init(world, "new")) is ErrorCode.CONCURRENT_TRANSACTIONS
    await world.rest()
    await init(world, "new")
    assert {t.transactional_id for t in world.coordinator.transactions()} == {
        "used", "young", "new"
    }  # fmt: skip
    # Whoever had the forgotten id can do nothing with it, and its next owner is another producer.
    request = world.coordinator.add_partitions("old", old, {A})
    assert await refusal(request) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


async def test_new_id_is_refused_if_all_are_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "MOST_IDS", 1)
    world = World()
    used = await init(world, "used")
    await world.answer(world.coordinator.add_partitions("used", used, {A}))
    assert await refusal(init(world, "new")) is ErrorCode.POLICY_VIOLATION
    await world.answer(world.coordinator.end("used", used, True))
    assert await refusal(init(world, "new")) is ErrorCode.POLICY_VIOLATION
    assert await refusal(init(world, "x" * 4_097)) is ErrorCode.INVALID_REQUEST


async def test_partitions_of_transactions_are_bounded_and_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coordinator, "MOST_PARTITIONS", 3)
    world = World()
    first, second = await init(world, "first"), await init(world, "second")
    two = {TopicPartition("a", 0), TopicPartition("a", 1)}
    await world.answer(world.coordinator.add_partitions("first", first, two))
    request = world.coordinator.add_partitions("second", second, two)
    assert await refusal(request) is ErrorCode.POLICY_VIOLATION
    await world.crash()
    await world.rest()
    request = world.coordinator.add_partitions("second", second, two)
    assert await refusal(request) is ErrorCode.POLICY_VIOLATION
    await world.answer(world.coordinator.end("first", first, True))
    await world.answer(world.coordinator.add_partitions("second", second, two))
