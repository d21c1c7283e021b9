"""Topics are durable when the call returns, and crashes in between leave nothing half done."""

import asyncio
import errno
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.broker.log.world import flip

from holdfast.broker import broker as broker_module
from holdfast.broker import topic_rules, work
from holdfast.broker.broker import Broker
from holdfast.broker.context import PendingReply
from holdfast.broker.groups.records import CommittedOffset, TopicPartition
from holdfast.broker.groups.requests import MemberClaim
from holdfast.broker.log import files
from holdfast.broker.metadata import Metadata
from holdfast.broker.partition import Partition
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topic_config import LARGEST_BATCH
from holdfast.broker.topic_rules import NewTopic, TopicError
from holdfast.broker.topics import OFFSETS_TOPIC, Topic
from holdfast.broker.work import Work, finish
from holdfast.errors import DataDirectoryError
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import build_batch

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def open_broker(data_dir: Path) -> Broker:
    data_dir.mkdir(exist_ok=True)
    return Broker(BrokerSettings(data_dir=data_dir, flush="os"))


async def test_topic_survives_a_crash_with_id_partitions_and_settings(tmp_path: Path) -> None:
    topic = open_broker(tmp_path).topics.create("orders", 3, {"retention.ms": "1000"})
    again = open_broker(tmp_path).topics.get("orders")  # the first one never closed: a crash
    assert again is not None
    assert (again.id, len(again.partitions)) == (topic.id, 3)
    assert again.config.retention_ms == 1000
    assert again.overrides == {"retention.ms": "1000"}


async def test_deleted_topic_stays_deleted_and_its_name_is_free(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    first = broker.topics.create("orders", 2, {})
    broker.topics.delete("orders")
    assert broker.topics.get("orders") is None
    assert broker.topics.by_id(first.id) is None
    second = broker.topics.create("orders", 1, {})
    assert second.id != first.id
    assert second.partitions[0].log.end_offset == 0
    again = open_broker(tmp_path).topics.get("orders")
    assert again is not None
    assert again.id == second.id


async def test_deletion_that_a_crash_interrupted_is_finished_at_start(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    topic = broker.topics.create("orders", 2, {})
    metadata = Metadata.load(tmp_path)
    metadata.deleting["orders"] = metadata.topics.pop("orders")
    metadata.save()  # the crash comes before the directories are renamed
    again = open_broker(tmp_path)
    assert again.topics.get("orders") is None
    assert not (tmp_path / "orders-0").exists()
    assert again.topics.create("orders", 1, {}).id != topic.id


async def test_leftover_directory_of_an_unfinished_creation_is_not_taken_for_data(
    tmp_path: Path,
) -> None:
    broker = open_broker(tmp_path)
    (tmp_path / "orders-0").mkdir()
    (tmp_path / "orders-0" / "00000000000000000000.log").write_bytes(b"not ours")
    topic = broker.topics.create("orders", 1, {})
    assert topic.partitions[0].log.end_offset == 0


async def test_partition_count_only_grows(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    topic = broker.topics.create("orders", 2, {})
    assert finish(broker.topics.grow_all({"orders": 5})) == {"orders": None}
    assert len(topic.partitions) == 5
    refused = finish(broker.topics.grow_all({"orders": 5}))["orders"]
    assert refused is not None
    assert refused.error_code == ErrorCode.INVALID_PARTITIONS
    again = open_broker(tmp_path).topics.get("orders")
    assert again is not None
    assert len(again.partitions) == 5


async def test_altered_settings_are_in_force_and_durable(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    topic = broker.topics.create("orders", 1, {"retention.ms": "1000"})
    finish(broker.topics.alter_all({"orders": {"max.message.bytes": "2000"}}))
    assert topic.config.max_message_bytes == 2000
    assert topic.config.retention_ms == 604_800_000
    again = open_broker(tmp_path).topics.get("orders")
    assert again is not None
    assert again.overrides == {"max.message.bytes": "2000"}


@pytest.mark.parametrize("stored", ["67108864", " +67_108_864 "])
async def test_stored_batch_limit_above_the_bound_is_lowered_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, stored: str
) -> None:
    open_broker(tmp_path).topics.create("orders", 1, {"max.message.bytes": "12345"})
    metadata = tmp_path / "metadata.json"
    metadata.write_text(metadata.read_text().replace("12345", stored))
    topics = open_broker(tmp_path).topics
    topic = topics.get("orders")
    assert topic is not None
    assert topic.config.max_message_bytes == LARGEST_BATCH
    assert "orders: max.message.bytes" in caplog.text
    changed = {**topic.overrides, "retention.ms": "1000"}
    assert finish(topics.alter_all({"orders": changed})) == {"orders": None}


@pytest.mark.parametrize(
    ("name", "partitions", "overrides", "error_code"),
    [
        ("", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        (".", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("..", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a/b", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a" * 250, 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("no\nname", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        (OFFSETS_TOPIC, 1, {}, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("taken", 1, {}, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("with_dot", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("fine", 0, {}, ErrorCode.INVALID_PARTITIONS),
        ("fine", 1_000_000, {}, ErrorCode.INVALID_PARTITIONS),
        ("fine", 1, {"retention.ms": "x"}, ErrorCode.INVALID_CONFIG),
        ("fine", 1, {"nonsense": "1"}, ErrorCode.INVALID_CONFIG),
    ],
)
async def test_creation_is_refused_with_kafkas_code(
    tmp_path: Path, name: str, partitions: int, overrides: dict[str, str], error_code: ErrorCode
) -> None:
    broker = open_broker(tmp_path)
    broker.topics.create("taken", 1, {})
    broker.topics.create("with.dot", 1, {})
    before = sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(TopicError) as caught:
        broker.topics.create(name, partitions, overrides)
    assert caught.value.error_code == error_code
    assert sorted(p.name for p in tmp_path.iterdir()) == before


async def test_validate_only_makes_nothing(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    finish(broker.topics.create_all([NewTopic("orders", 3, {})], validate_only=True))
    assert broker.topics.get("orders") is None
    assert not (tmp_path / "orders-0").exists()


async def test_many_topics_are_made_changed_and_deleted_with_one_write_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = open_broker(tmp_path)
    writes: list[None] = []
    save = Metadata.save

    def counted(metadata: Metadata) -> None:
        writes.append(None)
        save(metadata)

    monkeypatch.setattr(Metadata, "save", counted)
    names = [f"t{n}" for n in range(50)]
    finish(broker.topics.create_all([NewTopic(name, 1, {}) for name in names]))
    assert len(writes) == 1
    finish(broker.topics.alter_all({name: {"retention.ms": "1000"} for name in names}))
    assert len(writes) == 2
    finish(broker.topics.grow_all(dict.fromkeys(names, 2)))
    assert len(writes) == 3
    again = open_broker(tmp_path)
    for name in names:
        topic = again.topics.get(name)
        assert topic is not None
        assert len(topic.partitions) == 2
        assert topic.overrides == {"retention.ms": "1000"}
    assert finish(broker.topics.delete_all(names)) == dict.fromkeys(names)
    assert len(writes) == 4
    assert not set(names) & set(open_broker(tmp_path).topics.names())


async def test_topic_that_two_requests_make_at_once_is_made_by_one(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    slow = broker.topics.create_all([NewTopic("orders", 3, {}), NewTopic("more", 1, {})])
    next(slow)  # it has begun, and gave way to others
    quick = finish(broker.topics.create_all([NewTopic("orders", 1, {}), NewTopic("x", 1, {})]))
    assert isinstance(quick["orders"], TopicError)
    assert quick["orders"].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert isinstance(quick["x"], Topic)
    made = finish(slow)["orders"]
    assert isinstance(made, Topic)
    assert len(made.partitions) == 3
    assert {"orders", "more", "x"} <= set(open_broker(tmp_path).topics.names())


async def test_creation_whose_client_is_gone_leaves_the_name_free(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    work = broker.topics.create_all([NewTopic("orders", 3, {})])
    next(work)
    work.close()
    assert broker.topics.get("orders") is None
    assert len(broker.topics.create("orders", 2, {}).partitions) == 2


async def result_of(reply: PendingReply) -> Any:
    done = asyncio.get_running_loop().create_future()
    reply.then(done.set_result)
    return await asyncio.wait_for(done, 30)


async def test_deletion_whose_client_is_gone_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = open_broker(tmp_path)
    for name in ("a", "b", "c"):
        broker.topics.create(name, 2, {})
    monkeypatch.setattr(work, "SLICE_SECONDS", 0.0)
    reply = broker.workshop.answer(broker.topics.delete_all(["a", "b", "c"]))
    assert isinstance(reply, PendingReply)
    reply.abandon()
    assert await result_of(reply) == dict.fromkeys("abc")
    assert not list(tmp_path.glob("[abc]-*"))
    assert broker.topics.create("b", 1, {}).partitions[0].log.end_offset == 0


class SlowDisk(files.Disk):
    """Waits with a sync until it is told to go on. Notes the threads that sync."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.threads: set[int] = set()

    def fsync(self, fd: int) -> None:  # type: ignore[override]
        self.threads.add(threading.get_ident())
        self.go_on.wait(30)
        os.fsync(fd)


async def test_changes_at_the_same_time_are_all_written_and_none_on_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = open_broker(tmp_path)
    topics = broker.topics
    for name in ("grows", "goes"):
        topics.create(name, 1, {})
    disk = SlowDisk()
    with monkeypatch.context() as patch:
        patch.setattr(files, "disk", disk)
        replies = [
            broker.workshop.answer(change)
            for change in (
                topics.create_all([NewTopic("comes", 2, {})]),
                topics.grow_all({"grows": 3}),
                topics.alter_all({"grows": {"retention.ms": "1000"}}),
                topics.delete_all(["goes"]),
            )
        ]
        reserving = asyncio.create_task(broker.metadata.reserve_producer_ids(1))
        await asyncio.sleep(0)
        assert not any(reply.answered for reply in replies)
        assert topics.get("comes") is None  # it is visible when it is durable
        replies[0].abandon()  # also for a client that is gone
        disk.go_on.set()
        for reply in replies:
            await result_of(reply)
        await reserving
    assert threading.get_ident() not in disk.threads
    first = broker.metadata.take_producer_id()
    again = open_broker(tmp_path)
    for served in (topics, again.topics):
        grows, comes = served.get("grows"), served.get("comes")
        assert grows is not None
        assert comes is not None
        assert (len(grows.partitions), len(comes.partitions)) == (3, 2)
        assert grows.config.retention_ms == 1000
        assert served.get("goes") is None
    assert again.metadata.take_producer_id() > first


async def test_change_that_a_disk_refuses_leaves_the_next_one_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = open_broker(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(files, "disk", FullDisk())
        refused = broker.workshop.answer(broker.topics.create_all([NewTopic("no", 1, {})]))
        waiting = broker.workshop.answer(broker.topics.create_all([NewTopic("yes", 1, {})]))
        error = (await result_of(refused))["no"]
        assert isinstance(error, TopicError)
    await result_of(waiting)
    broker.topics.create("later", 1, {})
    assert not {"no"} & set(open_broker(tmp_path).topics.names())


def raised(work: Work[dict[str, TopicError | None]]) -> None:
    for error in finish(work).values():
        if error is not None:
            raise error


class FullDisk(files.Disk):
    """Opens nothing for writing."""

    @staticmethod
    def pwrite(fd: int, data: "ReadableBuffer", position: int, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


async def test_full_disk_refuses_a_change_and_keeps_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = open_broker(tmp_path)
    broker.topics.create("orders", 1, {})
    with monkeypatch.context() as patch:
        patch.setattr(files, "disk", FullDisk())
        for change in (
            lambda: broker.topics.create("more", 1, {}),
            lambda: broker.topics.delete("orders"),
            lambda: raised(broker.topics.alter_all({"orders": {"retention.ms": "1"}})),
            lambda: raised(broker.topics.grow_all({"orders": 2})),
        ):
            with pytest.raises(TopicError) as caught:
                change()
            assert caught.value.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    topic = broker.topics.get("orders")
    assert topic is not None
    assert len(topic.partitions) == 1
    assert topic.config.retention_ms == 604_800_000
    broker.topics.create("more", 1, {})
    assert open_broker(tmp_path).topics.names()[-2:] == ["more", "orders"]


async def test_producer_ids_are_never_given_twice_through_crashes(tmp_path: Path) -> None:
    tmp_path.mkdir(exist_ok=True)
    taken: list[int] = []
    for _ in range(5):
        metadata = Metadata.load(tmp_path)  # each time as after a crash
        taken += [metadata.take_producer_id() for _ in range(1_500)]
    assert len(set(taken)) == len(taken)


async def test_producer_ids_that_could_not_be_reserved_are_not_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = Metadata.load(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(files, "disk", FullDisk())
        for _ in range(2):
            with pytest.raises(OSError, match="No space"):
                metadata.take_producer_id()
    first = metadata.take_producer_id()
    assert Metadata.load(tmp_path).take_producer_id() > first


async def test_unreadable_metadata_is_an_error_not_an_empty_broker(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text("{")
    with pytest.raises(DataDirectoryError, match="cannot be read"):
        Metadata.load(tmp_path)


async def test_metadata_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(DataDirectoryError, match="format 99"):
        Metadata.load(tmp_path)


async def test_damaged_state_stops_the_start_and_names_its_offset(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    broker.topics.create("t", 1, {})
    for number in range(20):
        offsets = {TopicPartition("t", 0): CommittedOffset(number, -1, "", 0, -1)}
        assert await broker.groups.commit("g", MemberClaim("", -1, None), offsets) == 0
    await broker.close()
    flip(tmp_path / f"{OFFSETS_TOPIC}-0" / f"{0:020d}.log", 1_000)
    with pytest.raises(DataDirectoryError, match=f"{OFFSETS_TOPIC}-0 is damaged at offset"):
        open_broker(tmp_path)


async def test_partitions_of_all_topics_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = open_broker(tmp_path)
    monkeypatch.setattr(topic_rules, "MOST_PARTITIONS", 2 + 5)  # two are the broker's own
    broker.topics.create("a", 3, {})
    with pytest.raises(TopicError) as refusal:
        broker.topics.create("b", 3, {})
    assert refusal.value.error_code is ErrorCode.POLICY_VIOLATION
    refused = finish(broker.topics.grow_all({"a": 6}))["a"]
    assert refused is not None
    assert refused.error_code is ErrorCode.POLICY_VIOLATION
    assert finish(broker.topics.grow_all({"a": 5})) == {"a": None}
    broker.topics.delete("a")
    broker.topics.create("b", 5, {})


async def test_producers_of_all_partitions_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_module, "MOST_PRODUCERS", 40)
    broker = open_broker(tmp_path)
    crowded, calm = broker.topics.create("a", 2, {}).partitions

    def write(partition: Partition, producer_id: int) -> None:
        batch = build_batch([(b"k", b"v")], timestamp=1, producer_id=producer_id, base_sequence=0)
        partition.append(memoryview(batch))

    for producer_id in range(5):
        write(calm, producer_id)
    for producer_id in range(500):
        write(crowded, producer_id)
        assert crowded.log.producer_count + calm.log.producer_count <= 40 + 4
    assert calm.log.producer_count == 5  # only where the crowd is
