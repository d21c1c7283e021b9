"""A start on a full disk, and on files that are not what a broker wrote."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.brokers import BrokerFailedError, EmbeddedBroker
from tests.clients import create_topic, producer, read, send, values
from tests.small_disk import leave_no_room, mounted, resize

ODD = {
    "empty": b"",
    "not JSON": b"{",
    "not text": b"\xff\xfe",
    "null": b"null",
    "a list": b"[1]",
    "a number": b"1",
    "nested": b"[" * 100_000,
    "of the future": b'{"format": 99}',
    "without fields": b'{"format": 1}',
    "fields of wrong types": json.dumps(
        {"format": 1, "cluster_id": 1, "next_producer_id": "x", "topics": {}, "deleting": None}
    ).encode(),
    "infinite": b'{"a-0": {"start": Infinity, "end": 1, "producers": 1, "cleaned": 0}}',
}


def write_odd(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    if kind == "a directory":
        path.mkdir()
        (path / "inside").write_bytes(b"x")
    else:
        path.write_bytes(ODD[kind])


def fails_to_start(broker: EmbeddedBroker) -> str:
    """The error message of a broker that does not start; never a traceback."""
    mark = len(broker.log_text())
    with pytest.raises(BrokerFailedError):
        broker.start()
    said = broker.log_text()[mark:]
    assert "Traceback" not in said, said
    return said


def test_odd_clean_shutdown_file_is_reported_and_recovered_from(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, "a")
        path = broker.data_dir / "clean-shutdown.json"
        for number, kind in enumerate([*ODD, "a directory"]):
            send(producer(broker), "a", [b"%d" % number])
            assert broker.stop() == 0
            write_odd(path, kind)
            mark = len(broker.log_text())
            broker.start()
            said = broker.log_text()[mark:]
            assert "recovering as after a crash" in said, kind
            assert "Traceback" not in said, (kind, said)
            assert not path.exists()
        assert values(read(broker, "a")) == [b"%d" % n for n in range(len(ODD) + 1)]


def wrong_states() -> dict[str, Callable[[dict[str, Any]], object]]:
    return {
        "end in the past": lambda s: s.update(end=0),
        "end in the future": lambda s: s.update(end=10**30),
        "start after the end": lambda s: s.update(start=7),
        "negative size": lambda s: s["segments"][0].__setitem__(1, -1),
        "a fact too few": lambda s: s["segments"][0].pop(),
        "no segments": lambda s: s.update(segments=[]),
        "text": lambda s: s.update(segments="abc"),
    }


def test_impossible_clean_state_is_recovered_from(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, "a")
        path = broker.data_dir / "clean-shutdown.json"
        for number, change in enumerate(wrong_states().values()):
            send(producer(broker), "a", [b"%d" % number])
            assert broker.stop() == 0
            states = json.loads(path.read_bytes())
            change(states["partitions"]["a-0"])
            path.write_text(json.dumps(states))
            broker.start()
        assert values(read(broker, "a")) == [b"%d" % n for n in range(len(wrong_states()))]
        assert "Traceback" not in broker.log_text()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedBroker:
    broker = EmbeddedBroker(tmp_path_factory.mktemp("stopped"))
    with broker:
        create_topic(broker, "a")
        send(producer(broker), "a", [b"kept"])
        assert broker.stop() == 0
    return broker


def wrong_topics() -> dict[str, Callable[[dict[str, Any]], object]]:
    return {
        "a name that leads out": lambda m: m["topics"][-1].update(name="../../a"),
        "no partitions": lambda m: m["topics"][-1].update(partitions=0),
        "partitions as text": lambda m: m["topics"][-1].update(partitions="many"),
        "a setting of the future": lambda m: m["topics"][-1]["overrides"].update({"odd.ms": "1"}),
        "a setting that is no text": lambda m: m["topics"][-1].update(overrides={"a": 1}),
        "no id": lambda m: m["topics"][-1].update(id="x"),
        "topics that are none": lambda m: m.update(topics=[1, None]),
    }


@pytest.mark.parametrize("kind", [*ODD, "a directory", "missing", *wrong_topics()])
def test_odd_metadata_file_gets_a_clear_error(stopped: EmbeddedBroker, kind: str) -> None:
    path = stopped.data_dir / "metadata.json"
    aside = path.rename(path.with_name("metadata.kept"))
    try:
        if kind in wrong_topics():
            document = json.loads(aside.read_bytes())
            wrong_topics()[kind](document)
            path.write_text(json.dumps(document))
        elif kind != "missing":
            write_odd(path, kind)
        said = fails_to_start(stopped)
        assert "metadata.json" in said
        assert any(hint in said for hint in ("from a backup", "run that version"))
    finally:
        if path.is_dir():
            (path / "inside").unlink()
            path.rmdir()
        aside.rename(path)


def test_broker_starts_after_its_metadata_is_back(stopped: EmbeddedBroker) -> None:
    with stopped:
        assert values(read(stopped, "a")) == [b"kept"]


def test_full_disk_at_the_first_start_gets_a_clear_error(tmp_path: Path) -> None:
    with mounted(tmp_path / "data", "8m") as data:
        failures = 0
        for pages in range(4):  # for the lock, the metadata, partitions
            (data / "ballast").write_bytes(bytes(4096 * pages))
            leave_no_room(data)
            (data / "ballast").unlink()
            broker = EmbeddedBroker(tmp_path)
            try:
                broker.start()
            except BrokerFailedError:
                failures += 1
            broker.kill()
            resize(data, "8m")
        assert failures > 0
        assert broker.log_text().count("The data directory") == failures
        assert "Traceback" not in broker.log_text()
        with EmbeddedBroker(tmp_path) as broker:
            create_topic(broker, "a")
            assert send(producer(broker), "a", [b"v"]) == [0]


def test_full_disk_at_the_stop_is_reported_and_recovered_from(tmp_path: Path) -> None:
    with mounted(tmp_path / "data", "8m") as data, EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, "a", partitions=20)
        client = producer(broker)
        for partition in range(20):
            send(client, "a", [b"v"], partition)
        leave_no_room(data)
        broker.stop()
        assert "Traceback" not in broker.log_text()
        resize(data, "8m")
        broker.start()
        assert [values(read(broker, "a", p)) for p in range(20)] == [[b"v"]] * 20
