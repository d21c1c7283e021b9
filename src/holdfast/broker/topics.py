"""Creates, changes and deletes topics durably, with Kafka's rules and errors."""

import logging
import shutil
import threading
import uuid
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from holdfast.broker.log import StorageFailed
from holdfast.broker.log.files import sync_directory
from holdfast.broker.metadata import Metadata, TopicRecord
from holdfast.broker.partition import Partition
from holdfast.broker.topic_config import LARGEST_BATCH, TopicConfig, within_limits
from holdfast.broker.topic_defaults import TopicDefaults
from holdfast.broker.topic_rules import (
    NewTopic,
    TopicError,
    being_changed,
    check_growth,
    check_name,
    check_partitions,
    check_room,
    config_of,
    folded,
    unknown,
)
from holdfast.broker.work import STAY, OnThread, Work, finish
from holdfast.errors import DataDirectoryError
from holdfast.wire.protocol.errors import ErrorCode

log = logging.getLogger(__name__)

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
INTERNAL = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})

_DELETED = ".deleted"


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
    """All topics. A change is durable before it is visible, and visible when the call returns."""

    def __init__(
        self,
        data_dir: Path,
        metadata: Metadata,
        open_partition: OpenPartition,
        defaults: TopicDefaults,
    ) -> None:
        self.defaults = defaults
        self._data_dir = data_dir
        self._metadata = metadata
        self._open_partition = open_partition
        self._topics: dict[str, Topic] = {}
        self._by_id: dict[uuid.UUID, Topic] = {}
        self._partition_count = 0
        """Partitions of all topics, also of topics that are being created."""
        self._changing: set[str] = set()
        """Topics that a running request creates, grows or deletes."""
        self._deleting: dict[str, TopicRecord] = {}
        """Deleted topics whose files still have their names."""
        self.version = 0
        """Grows when topics are created, deleted or get partitions."""
        self.on_delete: Callable[[str], None] = lambda name: None

    def load(self) -> None:
        """Opens all topics of the metadata, and finishes deletions that a crash interrupted."""
        for record in self._metadata.deleting.values():
            self._set_aside(record)
        sync_directory(self._data_dir)
        _remove_in_background(list(self._data_dir.glob(f"*{_DELETED}")))
        for record in [self._lowered(each) for each in self._metadata.topics.values()]:
            config = self._checked_config(record)
            partitions = [
                self._open_partition(record.name, index, config)
                for index in range(record.partitions)
            ]
            self._serve(Topic(record, config, partitions))
            self._partition_count += len(partitions)

    def _lowered(self, record: TopicRecord) -> TopicRecord:
        """Lowers a stored batch limit that earlier versions accepted."""
        overrides = within_limits(record.overrides)
        if overrides == record.overrides:
            return record
        log.warning(
            "%s: max.message.bytes was %s and is now %d, the largest limit of this broker. It "
            "refuses larger batches from now on; stored ones stay readable.",
            record.name, record.overrides["max.message.bytes"], LARGEST_BATCH,
        )  # fmt: skip
        lowered = replace(record, overrides=overrides)
        self._metadata.topics[record.name] = lowered
        return lowered

    def _checked_config(self, record: TopicRecord) -> TopicConfig:
        """The settings of a stored topic; raises DataDirectoryError if it could not be created."""
        try:
            check_name(record.name, {})
            check_partitions(record.partitions)
            return self._config(record.name, record.overrides)
        except TopicError as error:
            raise DataDirectoryError(
                f"{self._metadata.path} has a topic that this version cannot serve: "
                f"{error.message} It was written by a later version of Holdfast, or changed by "
                "hand: run that version, or restore the file from a backup."
            ) from None

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
        self, name: str, partitions: int, overrides: Mapping[str, str], *, internal: bool = False
    ) -> Topic:
        """Creates one topic at once; raises TopicError."""
        new = NewTopic(name, partitions, overrides, internal)
        created = finish(self.create_all([new]))[name]
        if isinstance(created, TopicError):
            raise created
        return created

    def create_all(
        self, new_topics: Sequence[NewTopic], *, validate_only: bool = False
    ) -> Work[dict[str, Topic | TopicError]]:
        """Creates topics of different names, with one write of the metadata."""
        results: dict[str, Topic | TopicError] = {}
        drafts: dict[str, Topic] = {}
        self._changing |= (claimed := {new.name for new in new_topics} - self._changing)
        is_saved = False
        try:
            taken = {folded(name): name for name in (*self._topics, *self._changing - claimed)}
            for new in new_topics:
                try:
                    topic = self._draft(new, taken)
                    taken[folded(new.name)] = new.name
                    results[new.name] = drafts[new.name] = topic
                    if not validate_only:
                        indexes = range(new.partitions)
                        yield from self._create_partitions(topic, indexes, topic.partitions)
                except TopicError as error:
                    results[new.name] = error
                    if new.name in drafts:
                        self._abandon(drafts.pop(new.name).partitions)
                yield None
            if not drafts or validate_only:
                return results
            yield from self._metadata.wait_for_turn()
            try:
                failure = yield from self._save({n: topic.record for n, topic in drafts.items()})
                if failure is not None:
                    return results | dict.fromkeys(drafts, failure)
                is_saved = True
                for topic in drafts.values():
                    self._configure(topic)
                    self._serve(topic)
            finally:
                self._metadata.end_turn()
            return results
        finally:
            self._changing -= claimed
            if not is_saved:
                for topic in drafts.values():
                    self._abandon(topic.partitions)

    def delete(self, name: str) -> None:
        """Deletes one topic at once; raises TopicError."""
        error = finish(self.delete_all([name]))[name]
        if error is not None:
            raise error

    def delete_all(self, names: Iterable[str]) -> Work[dict[str, TopicError | None]]:
        """Deletes topics, with one write of the metadata."""
        results: dict[str, TopicError | None] = {}
        deleted: dict[str, Topic] = {}
        for name in names:
            topic = self._topics.get(name)
            if topic is not None and name not in self._changing:
                deleted[name] = topic
            results[name] = (
                None if name in deleted else unknown() if topic is None else being_changed(name)
            )
        if not deleted:
            return results
        self._changing |= deleted.keys()
        yield from self._metadata.wait_for_turn()
        try:
            self._deleting |= {name: topic.record for name, topic in deleted.items()}
            failure = yield from self._save({}, without=deleted)
            if failure is not None:
                for name in deleted:
                    del self._deleting[name]
                self._changing -= deleted.keys()
                return results | dict.fromkeys(deleted, failure)
            for topic in deleted.values():
                del self._topics[topic.name]
                del self._by_id[topic.id]
            self.version += 1
        finally:
            self._metadata.end_turn()
        for topic in deleted.values():
            yield from self._bury(topic)
        yield OnThread(partial(sync_directory, self._data_dir))
        return results

    def _bury(self, topic: Topic) -> Work[None]:
        """Frees the name of a deleted topic, partition by partition."""
        aside = []
        for partition in topic.partitions:
            yield from partition.log.end_writing()
            self._abandon([partition])
            directory = self._data_dir / str(partition)
            if directory.exists():
                aside.append(_rename_aside(directory, topic.id))
            yield STAY
        del self._deleting[topic.name]
        self._changing.discard(topic.name)
        _remove_in_background(aside)
        self.on_delete(topic.name)

    def grow_all(
        self, totals: Mapping[str, int], *, validate_only: bool = False
    ) -> Work[dict[str, TopicError | None]]:
        """Adds partitions to topics, with one write of the metadata."""
        results: dict[str, TopicError | None] = dict.fromkeys(totals)
        added: dict[str, list[Partition]] = {}
        grown: list[str] = []
        self._changing |= (claimed := set(totals) - self._changing)
        try:
            for name, total in totals.items():
                try:
                    topic = self._topics.get(name)
                    if topic is None:
                        raise unknown()
                    if name not in claimed:
                        raise being_changed(name)
                    check_growth(name, len(topic.partitions), total)
                    check_room(self._partition_count, total - len(topic.partitions))
                    if not validate_only:
                        indexes = range(len(topic.partitions), total)
                        added[name] = []
                        yield from self._create_partitions(topic, indexes, added[name])
                        grown.append(name)
                except TopicError as error:
                    results[name] = error
                yield None
            if not grown:
                return results
            yield from self._metadata.wait_for_turn()
            try:
                changed = {
                    name: replace(self._topics[name].record, partitions=totals[name])
                    for name in grown
                }
                failure = yield from self._save(changed)
                if failure is not None:
                    return results | dict.fromkeys(changed, failure)
                for name, record in changed.items():
                    self._topics[name].record = record
                    self._topics[name].partitions.extend(added.pop(name))
                    self._configure(self._topics[name])
                self.version += 1
            finally:
                self._metadata.end_turn()
            return results
        finally:
            self._changing -= claimed
            for partitions in added.values():  # created, but not in service
                self._abandon(partitions)

    def alter_all(
        self, changes: Mapping[str, Mapping[str, str]], *, validate_only: bool = False
    ) -> Work[dict[str, TopicError | None]]:
        """Replaces the settings of topics, with one write of the metadata."""
        results: dict[str, TopicError | None] = dict.fromkeys(changes)
        altered: list[str] = []
        for name, overrides in changes.items():
            try:
                self._config(name, overrides)
                altered.append(name)
            except TopicError as error:
                results[name] = error
            yield None
        if validate_only:
            return results
        yield from self._metadata.wait_for_turn()
        try:
            altered = [name for name in altered if name in self._topics]
            if not altered:
                return results
            failure = yield from self._save(
                {
                    name: replace(self._topics[name].record, overrides=dict(changes[name]))
                    for name in altered
                }
            )
            if failure is not None:
                return results | dict.fromkeys(altered, failure)
            for name in altered:
                topic = self._topics[name]
                topic.record = self._metadata.topics[name]
                self._configure(topic)
        finally:
            self._metadata.end_turn()
        return results

    def apply_defaults(self) -> Work[None]:
        """Gives all topics the changed defaults of the broker."""
        for topic in self.all():
            if self._topics.get(topic.name) is topic:  # not deleted meanwhile
                self._configure(topic)
            yield STAY

    # internals

    def _configure(self, topic: Topic) -> None:
        """Gives a topic its settings. The defaults may have changed since its request began."""
        topic.config = self._config(topic.name, topic.overrides)
        for partition in topic.partitions:
            partition.log.apply_config(topic.config)

    def _config(self, name: str, overrides: Mapping[str, str]) -> TopicConfig:
        """Internal topics have no defaults of the broker: it must always be able to write them."""
        return config_of(overrides if name in INTERNAL else self.defaults.under(overrides))

    def _serve(self, topic: Topic) -> None:
        self._topics[topic.name] = topic
        self._by_id[topic.id] = topic
        self.version += 1

    def _abandon(self, partitions: Iterable[Partition]) -> None:
        """Closes the files of partitions that are deleted or could not be created."""
        for partition in partitions:
            partition.abandon()
            self._partition_count -= 1

    def _save(
        self, changed: Mapping[str, TopicRecord], without: Container[str] = ()
    ) -> Work[TopicError | None]:
        """Saves a change. Returns the error if that fails, and leaves everything unchanged."""
        before = self._metadata.topics, self._metadata.deleting
        kept = {n: r for n, r in self._metadata.topics.items() if n not in without}
        self._metadata.topics = {**kept, **changed}
        self._metadata.deleting = dict(self._deleting)
        is_saved = False
        try:
            yield OnThread(self._write_down)
            is_saved = True
        except OSError as error:
            return TopicError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"The change could not be written to disk: {error}"
            )
        finally:
            if not is_saved:
                self._metadata.topics, self._metadata.deleting = before
        return None

    def _write_down(self) -> None:
        sync_directory(self._data_dir)  # first the directories that the file names
        self._metadata.save()

    def _draft(self, new: NewTopic, taken: Mapping[str, str]) -> Topic:
        """The new topic without partitions; raises TopicError if it cannot be created."""
        name = new.name
        if name in self._topics:
            raise TopicError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        if name in INTERNAL and not new.internal:
            raise TopicError(
                ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is created by the broker only."
            )
        check_name(name, taken)
        check_partitions(new.partitions)
        check_room(self._partition_count, new.partitions)
        config = self._config(name, new.overrides)
        record = TopicRecord(name, uuid.uuid4(), new.partitions, dict(new.overrides))
        return Topic(record, config, [])

    def _create_partitions(
        self, topic: Topic, indexes: Iterable[int], opened: list[Partition]
    ) -> Work[None]:
        """Creates the files of partitions. They are durable when the directory is synced."""
        leftovers = []
        for index in indexes:
            directory = self._data_dir / f"{topic.name}-{index}"
            if directory.exists():  # from an interrupted creation, never acknowledged
                leftovers.append(_rename_aside(directory, uuid.uuid4()))
            try:
                directory.mkdir()
                opened.append(self._open_partition(topic.name, index, topic.config))
                self._partition_count += 1
            except (OSError, StorageFailed) as error:
                raise TopicError(
                    ErrorCode.KAFKA_STORAGE_ERROR, f"{directory.name} cannot be created: {error}"
                ) from None
            yield STAY
        _remove_in_background(leftovers)

    def _set_aside(self, record: TopicRecord) -> None:
        """Renames the directories of a topic whose deletion a crash interrupted."""
        for index in range(record.partitions):
            directory = self._data_dir / f"{record.name}-{index}"
            if directory.exists():
                _rename_aside(directory, record.id)


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
