"""The broker itself: everything that the API handlers act on, put together."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.broker.flusher import Flusher
from holdfast.broker.groups.coordinator import GroupCoordinator
from holdfast.broker.log import CleanState, PartitionLog, Source
from holdfast.broker.log.files import replace_file, sync_directory
from holdfast.broker.metadata import Metadata
from holdfast.broker.metrics import Metrics
from holdfast.broker.partition import Partition
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.state_log import StateLog
from holdfast.broker.topic_config import TopicConfig
from holdfast.broker.topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, Topics
from holdfast.broker.transactions.coordinator import TransactionCoordinator
from holdfast.wire.records.batch import control_batch

log = logging.getLogger(__name__)

CLEAN_SHUTDOWN_FILE = "clean-shutdown.json"
INTERNAL_TOPIC_CONFIG = {"cleanup.policy": "compact", "segment.bytes": str(64 * 1024 * 1024)}
"""Small segments: only closed ones are compacted, and start reads all of it."""


class Broker:
    """Topics, coordinators and the flusher over one data directory, on the running loop."""

    node_id = 1

    def __init__(self, settings: BrokerSettings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.waiting_fetches: set[Callable[[], None]] = set()
        """Each answers one fetch that waits for records, with what there is."""
        self.reply_room: Callable[[], int] = lambda: settings.reply_memory_bytes
        self._flusher = Flusher(self.metrics) if settings.flush == "sync" else None
        self._clean = _take_clean_shutdown(settings.data_dir)
        self.metadata = Metadata.load(settings.data_dir)
        self.topics = Topics(settings.data_dir, self.metadata, self._open_partition)
        self.topics.load()
        if not self.metadata.path.exists():
            self.metadata.save()
        self._sync_recovered()
        loop = asyncio.get_running_loop()
        self.groups = GroupCoordinator(
            self._state_log(OFFSETS_TOPIC), settings, self.clock, loop.call_later
        )
        self.transactions = TransactionCoordinator(
            self._state_log(TRANSACTIONS_TOPIC),
            self,
            self.groups.complete_transaction,
            settings,
            self.clock,
            loop.call_later,
            self.metadata.take_producer_id,
        )
        self.groups.load()
        self.transactions.load()
        self.topics.on_delete = self.groups.topic_deleted

    def clock(self) -> int:
        """Milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def partition(self, topic: str, index: int) -> Partition | None:
        found = self.topics.get(topic)
        if found is None or not 0 <= index < len(found.partitions):
            return None
        return found.partitions[index]

    # what the transaction coordinator needs of partitions

    def exists(self, topic: str, partition: int) -> bool:
        return self.partition(topic, partition) is not None

    def write_marker(
        self,
        topic: str,
        partition: int,
        producer_id: int,
        producer_epoch: int,
        commit: bool,
        coordinator_epoch: int,
    ) -> "asyncio.Future[None]":
        """Durable when the future is done."""
        found = self.partition(topic, partition)
        if found is None:
            raise LookupError(f"{topic}-{partition} does not exist")
        batch = control_batch(
            producer_id, producer_epoch, commit, coordinator_epoch, timestamp=self.clock()
        )
        appended = found.append(memoryview(batch), Source.COORDINATOR)
        return found.when_durable(appended.last_offset)

    # life

    def answer_who_waits(self) -> None:
        """Answer fetches and group members that wait for something to happen: it will not."""
        for answer in list(self.waiting_fetches):
            answer()
        self.groups.close()

    async def close(self) -> None:
        """Sync everything and write down that nothing needs to be recovered."""
        if self._flusher is not None:
            await self._flusher.stop()
        states = {str(p): p.log.close().to_json() for p in self.topics.partitions()}
        replace_file(self.settings.data_dir / CLEAN_SHUTDOWN_FILE, json.dumps(states).encode())

    def _open_partition(self, topic: str, index: int, config: TopicConfig) -> Partition:
        name = f"{topic}-{index}"
        state = self._clean.pop(name, None)  # a topic made anew is another one
        opened = PartitionLog.open(
            self.settings.data_dir / name,
            config,
            now_ms=self.clock(),
            clean=None if state is None else CleanState.from_json(state),
            report=lambda text: log.warning("%s: %s", name, text),
        )
        return Partition(topic, index, opened, self._flusher, self.clock)

    def _sync_recovered(self) -> None:
        """What a crash left in the page cache alone is synced before anyone can see it."""
        for partition in self.topics.partitions():
            ticket = partition.log.flush_targets()
            if ticket is not None:
                ticket.sync()
                partition.log.flushed(ticket)

    def _state_log(self, name: str) -> StateLog:
        topic = self.topics.get(name)
        if topic is None:
            topic = self.topics.create(name, 1, INTERNAL_TOPIC_CONFIG, internal=True)
        return StateLog(topic.partitions[0], self.clock)


def _take_clean_shutdown(data_dir: Path) -> dict[str, dict[str, object]]:
    """The states that a clean shutdown left. They hold once."""
    path = data_dir / CLEAN_SHUTDOWN_FILE
    try:
        states: dict[str, dict[str, object]] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        log.warning("%s cannot be read: recovering as after a crash", path)
        states = {}
    path.unlink()
    sync_directory(data_dir)
    return states
