"""The broker itself: topics, coordinators and flusher, which the API handlers use."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from holdfast.broker.context import WaitingFetch
from holdfast.broker.dynamic_file import Dynamic, DynamicFile
from holdfast.broker.flusher import Flusher
from holdfast.broker.groups.coordinator import GroupCoordinator
from holdfast.broker.log import CleanState, PartitionLog, Source
from holdfast.broker.log.files import replace_file, sync_directory
from holdfast.broker.log.producers import NO_TRANSACTION
from holdfast.broker.log.state import decode_clean_states, encode_clean_states
from holdfast.broker.metadata import Metadata
from holdfast.broker.metrics import Metrics
from holdfast.broker.partition import Partition
from holdfast.broker.patience import Patience
from holdfast.broker.quotas import Quotas
from holdfast.broker.security.security import Security
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.state_log import StateLog
from holdfast.broker.topic_config import InvalidTopicConfig, TopicConfig
from holdfast.broker.topic_defaults import TopicDefaults
from holdfast.broker.topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, Topics
from holdfast.broker.transactions.coordinator import TransactionCoordinator
from holdfast.broker.transactions.markers import COORDINATOR_EPOCH
from holdfast.broker.transactions.transaction import Producer, TopicPartition
from holdfast.broker.work import Work, Workshop
from holdfast.clock import now_ms
from holdfast.errors import ConfigError, DataDirectoryError
from holdfast.wire.records.batch import control_batch

log = logging.getLogger(__name__)

T = TypeVar("T")

CLEAN_SHUTDOWN_FILE = "clean-shutdown.json"
MOST_PRODUCERS = 100_000
"""Producers of all partitions, about 1.5 kB each; for a moment a tenth more."""
INTERNAL_TOPIC_CONFIG = {"cleanup.policy": "compact", "segment.bytes": str(64 * 1024 * 1024)}
"""Small segments, because only closed ones are compacted and a start reads the whole log."""


class Broker:
    """Topics, coordinators and the flusher over one data directory, on the running loop."""

    node_id = 1

    def __init__(self, settings: BrokerSettings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.security = Security(settings, self.metrics)
        self.dynamic = DynamicFile(settings.data_dir)
        self.dynamic.on_change = self._apply
        self.quotas = Quotas(self.dynamic.entries.quotas)
        self.workshop = Workshop(self.metrics.longest_turn.note)
        self.waiting_fetches: dict[WaitingFetch, int] = {}
        """With the number of their partitions, in the order of arrival."""
        self.waiting_partitions = 0
        self.reply_room: Callable[[], int] = lambda: settings.reply_memory_bytes
        self._flusher = Flusher(self.metrics) if settings.flush == "sync" else None
        self._new_producers = 0
        """New producers since the last count."""
        self._clean = _take_clean_shutdown(settings.data_dir)
        self.metadata = Metadata.load(settings.data_dir)
        self.topics = Topics(
            settings.data_dir, self.metadata, self._open_partition, self._topic_defaults()
        )
        self.topics.load()
        if not self.metadata.path.exists():
            self.metadata.save()
        self._sync_recovered()
        self.patience = Patience(
            asyncio.get_running_loop().call_later, self.metrics.longest_turn.note
        )
        self.groups = GroupCoordinator(
            self._state_log(OFFSETS_TOPIC),
            settings,
            self.clock,
            self.patience.call_later,
            self.topics,
            compute_on_thread,
        )
        self.transactions = TransactionCoordinator(
            self._state_log(TRANSACTIONS_TOPIC),
            self,
            self.groups.complete_transaction,
            settings,
            self.clock,
            self.patience.call_later,
            self.metadata.take_producer_id,
        )
        self.groups.settings.load(self.dynamic.entries.groups)
        self.groups.load()
        self.transactions.load()
        self.topics.on_delete = self.groups.topic_deleted

    def clock(self) -> int:
        """Milliseconds since 1970."""
        return now_ms()

    def partition(self, topic: str, index: int) -> Partition | None:
        known = self.topics.get(topic)
        if known is None or not 0 <= index < len(known.partitions):
            return None
        return known.partitions[index]

    # partitions of transactions

    def exists(self, topic: str, partition: int) -> bool:
        return self.partition(topic, partition) is not None

    def producer_epoch(self, topic: str, partition: int, producer_id: int) -> int:
        """The last epoch of the producer in the partition; -1 if it never wrote there."""
        present = self.partition(topic, partition)
        producer = None if present is None else present.log.producer(producer_id)
        return -1 if producer is None else producer.epoch

    def has_open_transaction(self, topic: str, partition: int, producer_id: int) -> bool:
        present = self.partition(topic, partition)
        producer = None if present is None else present.log.producer(producer_id)
        return producer is not None and producer.transaction_start != NO_TRANSACTION

    def open_transactions(self) -> Iterator[tuple[str, int, int, int]]:
        """Topic, partition, producer id and epoch of each transaction without its marker."""
        for partition in self.topics.partitions():
            for producer_id, producer in partition.log.active_producers():
                if producer.transaction_start != NO_TRANSACTION:
                    yield partition.topic, partition.index, producer_id, producer.epoch

    def write_marker(
        self, partition: TopicPartition, producer: Producer, commit: bool
    ) -> "asyncio.Future[None]":
        """Durable when the future is done."""
        present = self.partition(*partition)
        if present is None:
            raise LookupError(f"{partition.topic}-{partition.partition} does not exist")
        batch = control_batch(*producer, commit, COORDINATOR_EPOCH, timestamp=self.clock())
        appended = present.append(memoryview(batch), Source.COORDINATOR)
        return present.when_durable(appended.last_offset)

    def _apply(self, dynamic: Dynamic) -> Work[None]:
        """Clients have changed settings."""
        self.quotas.load(dynamic.quotas)
        self.groups.settings.load(dynamic.groups)
        if self.topics.defaults.load(dynamic.broker_defaults, dynamic.broker):
            yield from self.topics.apply_defaults()

    def _topic_defaults(self) -> TopicDefaults:
        try:
            defaults = TopicDefaults(self.settings)
        except InvalidTopicConfig as error:
            raise ConfigError(
                f"A default for topics under [broker] cannot be used (log_retention_ms, "
                f"log_retention_bytes, log_segment_bytes, message_max_bytes): {error}"
            ) from None
        defaults.load(self.dynamic.entries.broker_defaults, self.dynamic.entries.broker)
        return defaults

    # life

    def answer_who_waits(self) -> None:
        """Replies to waiting fetches and group members, before a stop."""
        for fetch in list(self.waiting_fetches):
            fetch.finish()
        self.groups.close()

    async def close(self) -> None:
        """Syncs everything, and records that no recovery is needed."""
        self.patience.stop()
        self.security.close()
        if self._flusher is not None:
            await self._flusher.stop()
        states = {str(p): p.log.close() for p in self.topics.partitions()}
        replace_file(self.settings.data_dir / CLEAN_SHUTDOWN_FILE, encode_clean_states(states))

    def _open_partition(self, topic: str, index: int, config: TopicConfig) -> Partition:
        name = f"{topic}-{index}"
        opened = PartitionLog.open(
            self.settings.data_dir / name,
            config,
            now_ms=self.clock(),
            clean=self._clean.pop(name, None),  # a later topic of this name is another one
            report=lambda text: log.warning("%s: %s", name, text),
        )
        partition = Partition(topic, index, opened, self._flusher, self.clock)
        partition.on_new_producer = self._bound_producers
        return partition

    def _bound_producers(self) -> None:
        """If there are too many producers in total, the partition with the most forgets some."""
        self._new_producers += 1
        if self._new_producers < MOST_PRODUCERS // 10:
            return  # counting visits all partitions
        self._new_producers = 0
        partitions = self.topics.partitions()
        excess = sum(p.log.producer_count for p in partitions) - MOST_PRODUCERS
        while excess > 0:
            crowded = max(partitions, key=lambda p: p.log.producer_count)
            before = crowded.log.producer_count
            crowded.log.forget_silent_producers(max(1, min(excess, before // 2)))
            if crowded.log.producer_count == before:
                return  # all of them have open transactions
            excess -= before - crowded.log.producer_count

    def _sync_recovered(self) -> None:
        """Syncs records that may be in the page cache only, before readers can see them."""
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


def compute_on_thread(function: Callable[[], T], then: Callable[[T], None]) -> None:
    """Calls `then` with the result of a function that never fails, on the event loop."""
    future = asyncio.get_running_loop().run_in_executor(None, function)
    future.add_done_callback(lambda done: None if done.cancelled() else then(done.result()))


def _take_clean_shutdown(data_dir: Path) -> dict[str, CleanState]:
    """The states of the last clean stop. They are valid for one start."""
    path = data_dir / CLEAN_SHUTDOWN_FILE
    states: dict[str, CleanState] = {}
    try:
        states = decode_clean_states(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        log.warning("%s cannot be read (%s): recovering as after a crash", path, error)
    try:
        if path.is_dir() and not path.is_symlink():
            path.rename(path.with_name(f"{path.name}.{uuid.uuid4()}.unknown"))
        else:
            path.unlink()
        sync_directory(data_dir)
    except OSError as error:
        raise DataDirectoryError(
            f"{path} cannot be removed: {error.strerror}. It is valid for one start only: "
            "a later start with it could lose records. Remove it, and start again."
        ) from None
    return states
