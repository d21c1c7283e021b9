"""Regular work: retention, compaction, expiry.

A wall clock that is ahead for a moment must not delete records, offsets or ids that are not old. So
a jump ahead counts only once the clock has stayed ahead.
"""

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from holdfast.broker.log.compaction import compact, compact_needed
from holdfast.broker.work import run_in_turns
from holdfast.gate.clock import Clock

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker
    from holdfast.broker.partition import Partition

log = logging.getLogger(__name__)


async def keep_house(broker: "Broker") -> None:
    """Runs until cancelled. An error of one partition is logged and does not stop the others."""
    clock = Clock(broker.clock(), _monotonic())
    while True:
        await asyncio.sleep(broker.settings.housekeeping_seconds)
        jumps = clock.jumps
        now = clock.read(broker.clock(), _monotonic()).wall
        if clock.jumps > jumps:
            log.warning("The broker's clock %s", clock.last_jump)
        broker.groups.expire(now)
        broker.transactions.expire(now)
        for partition in broker.topics.partitions():
            try:
                await _keep_partition(broker, partition, now)
            except OSError as error:
                broker.metrics.storage_failures += 1
                log.error("Housekeeping of %s failed: %s", partition, error)
            await asyncio.sleep(0)  # requests have priority


def _monotonic() -> int:
    return time.monotonic_ns() // 1_000_000


async def _keep_partition(broker: "Broker", partition: "Partition", now: int) -> None:
    partition.log.expire_producers(now, broker.settings.producer_id_expiration_ms)
    for done in await run_in_turns(partition.log.retain(now)):
        log.info("%s: %s", partition, done)
    await partition.sync_in_background()
    if compact_needed(partition.log, now):
        result = await compact(partition.log, now)
        log.info("%s: %s", partition, result)
