"""Housekeeping of partitions that nobody writes to."""

import asyncio
from pathlib import Path

import pytest
from tests.unit.broker.serving.test_durability import batch

from holdfast.broker.broker import Broker
from holdfast.broker.housekeeping import _keep_partition
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
            await _keep_partition(broker, partition)
            await asyncio.sleep(0.001)
    assert [s.base_offset for s in partition.log.segments] == [0, 3]
