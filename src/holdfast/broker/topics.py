"""The topics: created, changed and deleted, durably, with Kafka's rules and errors."""

import logging
import re
import shutil
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.broker.log import StorageFailed
from holdfast.broker.log.files import sync_directory
from holdfast.broker.metadata import Metadata, TopicRecord
from holdfast.broker.partition import Partition
from holdfast.broker.topic_config import InvalidTopicConfig, TopicConfig
from holdfast.wire.protocol.errors import ErrorCode

log = logging.getLogger(__name__)

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
INTERNAL = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})

MAX_PARTITIONS = 10_000
"""Of one topic: each is a directory and files, and a slip of the finger must not make a million."""

_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_DELETED = ".deleted"


class TopicError(Exception):
    """A request about a topic that is refused: Kafka's code, and words for the one who asked."""

    def __init__(self, error_code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.message = message


@dataclass(slots=True)
class Topic:
    """A topic in service."""

    record: TopicRecord
    config: TopicConfig
    partitions: list[Partition]

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def id(self) -> uuid.UUID:
        return self.record.id

    @property
    def overrides(self) -> Mapping[str, str]:
        return self.record.overrides

    @property
    def internal(self) -> bool:
        return self.record.name in INTERNAL


OpenPartition = Callable[[str, int, TopicConfig], Partition]


class Topics:
    """The registry. A change is on disk before it is visible, and visible when the call returns."""

    def __init__(self, data_dir: Path, metadata: Metadata, open_partition: OpenPartition) -> None:
        self._data_dir = data_dir
        self._metadata = metadata
        self._open_partition = open_partition
        self._topics: dict[str, Topic] = {}
        self._by_id: dict[uuid.UUID, Topic] = {}
        self.on_delete: Callable[[str], None] = lambda name: None

    def load(self) -> None:
        """Open what the metadata names, and finish the deletions that a crash interrupted."""
        for record in self._metadata.deleting.values():
            self._set_aside(record)
        _remove_in_background(list(self._data_dir.glob(f"*{_DELETED}")))
        for record in self._metadata.topics.values():
            config = TopicConfig.of(record.overrides)
            partitions = [
                self._open_partition(record.name, index, config)
                for index in range(record.partitions)
            ]
            self._serve(Topic(record, config, partitions))

    def get(self, name: str) -> Topic | None:
        return self._topics.get(name)

    def by_id(self, topic_id: uuid.UUID) -> Topic | None:
        return self._by_id.get(topic_id)

    def names(self) -> list[str]:
        return sorted(self._topics)

    def all(self) -> Iterable[Topic]:
        return list(self._topics.values())

    def partitions(self) -> list[Partition]:
        return [p for topic in self._topics.values() for p in topic.partitions]

    def create(
        self,
        name: str,
        partitions: int,
        overrides: Mapping[str, str],
        *,
        validate_only: bool = False,
        internal: bool = False,
    ) -> Topic:
        self._check_name(name, internal)
        _check_partitions(partitions)
        config = _config(overrides)
        record = TopicRecord(name, uuid.uuid4(), partitions, dict(overrides))
        if validate_only:
            return Topic(record, config, [])
        opened = self._make_partitions(name, range(partitions), config)
        self._save({**self._metadata.topics, name: record})
        topic = Topic(record, config, opened)
        self._serve(topic)
        return topic

    def delete(self, name: str) -> None:
        topic = self._existing(name)
        remaining = {n: r for n, r in self._metadata.topics.items() if n != name}
        self._save(remaining, deleting={name: topic.record})
        del self._topics[name]
        del self._by_id[topic.id]
        for partition in topic.partitions:
            partition.abandon()
        _remove_in_background(self._set_aside(topic.record))
        self.on_delete(name)

    def add_partitions(self, name: str, total: int, *, validate_only: bool = False) -> None:
        topic = self._existing(name)
        count = len(topic.partitions)
        if total <= count:
            raise TopicError(
                ErrorCode.INVALID_PARTITIONS,
                f"The topic {name} currently has {count} partition(s); {total} would not be an "
                "increase.",
            )
        _check_partitions(total)
        if validate_only:
            return
        added = self._make_partitions(name, range(count, total), topic.config)
        self._change(topic, replace(topic.record, partitions=total))
        topic.partitions.extend(added)

    def alter(
        self, name: str, overrides: Mapping[str, str], *, validate_only: bool = False
    ) -> None:
        """Replace the topic's settings by these."""
        topic = self._existing(name)
        config = _config(overrides)
        if validate_only:
            return
        self._change(topic, replace(topic.record, overrides=dict(overrides)))
        topic.config = config
        for partition in topic.partitions:
            partition.log.apply_config(config)

    # inside

    def _serve(self, topic: Topic) -> None:
        self._topics[topic.name] = topic
        self._by_id[topic.id] = topic

    def _change(self, topic: Topic, record: TopicRecord) -> None:
        self._save({**self._metadata.topics, topic.name: record})
        topic.record = record

    def _save(
        self, topics: dict[str, TopicRecord], deleting: dict[str, TopicRecord] | None = None
    ) -> None:
        """Write the change down, or leave everything as it was. Earlier deletions are done."""
        before = self._metadata.topics, self._metadata.deleting
        self._metadata.topics, self._metadata.deleting = topics, deleting or {}
        try:
            self._metadata.save()
        except OSError as error:
            self._metadata.topics, self._metadata.deleting = before
            raise TopicError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"The change could not be written to disk: {error}"
            ) from None

    def _existing(self, name: str) -> Topic:
        topic = self._topics.get(name)
        if topic is None:
            raise TopicError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic."
            )
        return topic

    def _check_name(self, name: str, internal: bool) -> None:
        if name in self._topics:
            raise TopicError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise TopicError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic name is invalid: {name!r} must be 1 to 249 of letters, digits, '.', '_' "
                "and '-', and neither '.' nor '..'.",
            )
        if name in INTERNAL and not internal:
            raise TopicError(
                ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is made by the broker alone."
            )
        # Kafka's metric names cannot tell '.' from '_', so it refuses such pairs, and so do we:
        # a topic made here must be one that can be made there.
        folded = name.replace(".", "_")
        clash = next((n for n in self._topics if n.replace(".", "_") == folded), None)
        if clash is not None:
            raise TopicError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic '{name}' collides with existing topic: {clash}",
            )

    def _make_partitions(
        self, name: str, indexes: Iterable[int], config: TopicConfig
    ) -> list[Partition]:
        opened = []
        leftovers = []
        for index in indexes:
            directory = self._data_dir / f"{name}-{index}"
            if directory.exists():  # from a creation that a crash interrupted: never acknowledged
                leftovers.append(_rename_aside(directory, uuid.uuid4()))
            try:
                directory.mkdir()
                opened.append(self._open_partition(name, index, config))
            except (OSError, StorageFailed) as error:
                raise TopicError(
                    ErrorCode.KAFKA_STORAGE_ERROR, f"{directory.name} cannot be made: {error}"
                ) from None
        sync_directory(self._data_dir)
        _remove_in_background(leftovers)
        return opened

    def _set_aside(self, record: TopicRecord) -> list[Path]:
        """Rename a deleted topic's directories, so that their names are free again at once."""
        aside = []
        for index in range(record.partitions):
            directory = self._data_dir / f"{record.name}-{index}"
            if directory.exists():
                aside.append(_rename_aside(directory, record.id))
        sync_directory(self._data_dir)
        return aside


def _rename_aside(directory: Path, owner: uuid.UUID) -> Path:
    index = directory.name.rpartition("-")[2]
    aside = directory.with_name(f"{owner}-{index}{_DELETED}")
    directory.rename(aside)
    return aside


def _remove_in_background(directories: list[Path]) -> None:
    if not directories:
        return

    def remove() -> None:
        for directory in directories:
            shutil.rmtree(directory, ignore_errors=True)

    threading.Thread(target=remove, name="remove-deleted", daemon=True).start()


def _check_partitions(count: int) -> None:
    if not 1 <= count <= MAX_PARTITIONS:
        raise TopicError(
            ErrorCode.INVALID_PARTITIONS,
            f"Number of partitions must be 1 to {MAX_PARTITIONS}, not {count}.",
        )


def _config(overrides: Mapping[str, str]) -> TopicConfig:
    try:
        return TopicConfig.of(overrides)
    except InvalidTopicConfig as error:
        raise TopicError(ErrorCode.INVALID_CONFIG, str(error)) from None
