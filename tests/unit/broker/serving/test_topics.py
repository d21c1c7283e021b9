"""Topics are durable when the call returns, and crashes in between leave nothing half done."""

import errno
import json
from pathlib import Path

import pytest
from tests.unit.broker.log.world import flip

from holdfast.broker.broker import Broker
from holdfast.broker.groups.records import CommittedOffset, TopicPartition
from holdfast.broker.groups.requests import MemberClaim
from holdfast.broker.log import files
from holdfast.broker.metadata import Metadata
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topics import OFFSETS_TOPIC, TopicError
from holdfast.errors import DataDirectoryError
from holdfast.wire.protocol.errors import ErrorCode


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


async def test_partitions_are_added_and_never_taken_away(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    topic = broker.topics.create("orders", 2, {})
    broker.topics.add_partitions("orders", 5)
    assert len(topic.partitions) == 5
    with pytest.raises(TopicError) as caught:
        broker.topics.add_partitions("orders", 5)
    assert caught.value.error_code == ErrorCode.INVALID_PARTITIONS
    again = open_broker(tmp_path).topics.get("orders")
    assert again is not None
    assert len(again.partitions) == 5


async def test_altered_settings_are_in_force_and_durable(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    topic = broker.topics.create("orders", 1, {"retention.ms": "1000"})
    broker.topics.alter("orders", {"max.message.bytes": "2000"})
    assert topic.config.max_message_bytes == 2000
    assert topic.config.retention_ms == 604_800_000
    again = open_broker(tmp_path).topics.get("orders")
    assert again is not None
    assert again.overrides == {"max.message.bytes": "2000"}


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
    broker.topics.create("orders", 3, {}, validate_only=True)
    assert broker.topics.get("orders") is None
    assert not (tmp_path / "orders-0").exists()


class FullDisk(files.Disk):
    """Opens nothing for writing."""

    @staticmethod
    def pwrite(fd: int, data: bytes, position: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


async def test_full_disk_refuses_the_change_and_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = open_broker(tmp_path)
    broker.topics.create("orders", 1, {})
    with monkeypatch.context() as patch:
        patch.setattr(files, "disk", FullDisk())
        for change in (
            lambda: broker.topics.create("more", 1, {}),
            lambda: broker.topics.delete("orders"),
            lambda: broker.topics.alter("orders", {"retention.ms": "1"}),
            lambda: broker.topics.add_partitions("orders", 2),
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


async def test_damaged_state_is_said_with_its_place_and_nothing_is_made_up(tmp_path: Path) -> None:
    broker = open_broker(tmp_path)
    broker.topics.create("t", 1, {})
    for number in range(20):
        offsets = {TopicPartition("t", 0): CommittedOffset(number, -1, "", 0, -1)}
        assert await broker.groups.commit("g", MemberClaim("", -1, None), offsets) == 0
    await broker.close()
    flip(tmp_path / f"{OFFSETS_TOPIC}-0" / f"{0:020d}.log", 1_000)
    with pytest.raises(DataDirectoryError, match=f"{OFFSETS_TOPIC}-0 is damaged at offset"):
        open_broker(tmp_path)
