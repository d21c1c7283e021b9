"""Housekeeping of partitions that nobody writes to."""

import asyncio
from pathlib import Path

import pytest
from tests.unit.broker.serving.test_durability import batch

from holdfast.broker import housekeeping
from holdfast.broker.broker import Broker
from holdfast.broker.housekeeping import _keep_partition, keep_house
from holdfast.broker.settings import BrokerSettings


@pytest.mark.parametrize("flush", ["sync", "os"])
async def test_closed_segment_can_be_compacted_though_nothing_is_appended_any_more(
    tmp_path: Path, flush: str
) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path, flush=flush))  # type: ignore[arg-type]
    settings = {"cleanup.policy": "compact", "segment.ms": "1"}
    partition = broker.topics.create("t", 1, settings).partitions[0]
    for _ in range(3):
        await partition.when_durable(partition.append(batch()).last_offset)
    while broker.clock() - partition.log.segments.active.begun_ms < 2:
        await asyncio.sleep(0.001)
    async with asyncio.timeout(30):
        while partition.log.cleaned_offset < 3:
            await _keep_partition(broker, partition, broker.clock())
            await asyncio.sleep(0.001)
    assert [s.base_offset for s in partition.log.segments] == [0, 3]


async def test_clock_that_is_ahead_for_a_moment_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path, housekeeping_seconds=0))
    partition = broker.topics.create(
        "t", 1, {"retention.ms": "3600000", "message.timestamp.type": "LogAppendTime"}
    ).partitions[0]
    await partition.when_durable(partition.append(batch()).last_offset)
    right, monotonic, ahead, passes = broker.clock(), 0, 0, 0
    day_ms = 86_400_000

    def wall() -> int:
        return right + monotonic + ahead

    def count_pass(now_ms: int) -> None:
        nonlocal passes
        passes += 1

    monkeypatch.setattr(broker, "clock", wall)
    monkeypatch.setattr(broker.groups, "expire", count_pass)
    monkeypatch.setattr(housekeeping, "_monotonic", lambda: monotonic)

    async def two_passes() -> int:
        target = passes + 3  # the first of them may have begun before
        async with asyncio.timeout(30):
            while passes < target:
                await asyncio.sleep(0)
        return partition.log.log_start_offset

    keeping = asyncio.create_task(keep_house(broker))
    try:
        assert await two_passes() == 0
        ahead = day_ms
        assert await two_passes() == 0
        ahead = 0
        monotonic += 30_000
        assert await two_passes() == 0
        ahead = day_ms
        assert await two_passes() == 0
        monotonic += 30_000  # it stays ahead: so it is right
        assert await two_passes() == 1
    finally:
        keeping.cancel()
