"""What has to be done from time to time: retention, compaction, expiry."""

import asyncio
import logging
from typing import TYPE_CHECKING

from holdfast.broker.log.compaction import compact, compact_needed

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker
    from holdfast.broker.partition import Partition

log = logging.getLogger(__name__)


async def keep_house(broker: "Broker") -> None:
    """Until cancelled. One partition's trouble is logged and does not stop the rest."""
    while True:
        await asyncio.sleep(broker.settings.housekeeping_seconds)
        broker.groups.expire(broker.clock())
        broker.transactions.expire(broker.clock())
        for partition in broker.topics.partitions():
            try:
                await _keep_partition(broker, partition)
            except OSError as error:
                broker.metrics.storage_failures += 1
                log.error("Housekeeping of %s failed: %s", partition, error)
            await asyncio.sleep(0)  # requests go first


async def _keep_partition(broker: "Broker", partition: "Partition") -> None:
    now = broker.clock()
    partition.log.expire_producers(now, broker.settings.producer_id_expiration_ms)
    for done in partition.log.retain(now):
        log.info("%s: %s", partition, done)
    await partition.sync_in_background()
    if compact_needed(partition.log, now):
        result = await compact(partition.log, now)
        log.info("%s: %s", partition, result)
