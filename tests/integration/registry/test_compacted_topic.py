"""A compacted topic is read once or followed, and one bad record hides no other."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until

import holdfast
from holdfast.client.compacted_topic import CompactedTopic, FollowedTopic, read_topic
from holdfast.client.connection import Connection
from holdfast.client.planned_topics import make_table
from holdfast.client.settings import ClientSettings
from holdfast.errors import InvalidRecordError, NotFoundError, UnavailableError

TOPIC = "table"


class Table(dict[bytes | None, bytes]):
    """The last value of each key; `bad` cannot be read."""

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        if value == b"bad":
            raise InvalidRecordError("bad")
        if value is None:
            self.pop(key, None)
        else:
            self[key] = value


@pytest.fixture
def client(tmp_path: Path) -> Iterator[holdfast.Client]:
    with EmbeddedBroker(tmp_path) as broker, holdfast.connect(broker.bootstrap) as client:
        yield client


def send(client: holdfast.Client, *records: tuple[str, str | None]) -> None:
    for key, value in records:
        client.send(TOPIC, value, key).result()


def test_topic_is_read_to_its_end_without_unreadable_and_deleted_records(
    client: holdfast.Client,
) -> None:
    make_table(client.connection, TOPIC)
    send(client, ("a", "1"), ("b", "1"), ("a", "bad"), ("b", None), ("c", "1"))
    table = Table()
    CompactedTopic(client.connection, TOPIC, table.apply).read_to_end()
    assert table == {b"a": b"1", b"c": b"1"}


def test_missing_topic_is_empty_only_if_allowed_and_reading_does_not_create_it(
    client: holdfast.Client,
) -> None:
    assert list(read_topic(client.connection, TOPIC, missing_ok=True)) == []
    with pytest.raises(NotFoundError):
        list(read_topic(client.connection, TOPIC))
    assert client.topics.list() == []


def test_followed_topic_is_known_once_it_was_read_and_wakes_waiters(
    client: holdfast.Client,
) -> None:
    table = Table()
    topic = FollowedTopic(client.connection, TOPIC, table.apply)
    with pytest.raises(UnavailableError, match="The rows are being read"):
        topic.check("The rows")
    topic.start()
    try:
        assert topic.wait_until(lambda: topic.known, DEADLINE_S)  # there is no topic yet
        make_table(client.connection, TOPIC)
        send(client, ("a", "1"))
        assert topic.wait_until(lambda: b"a" in table, DEADLINE_S)
        topic.check("The rows")
    finally:
        topic.stop()


def test_stop_ends_waiting_without_success(client: holdfast.Client) -> None:
    topic = FollowedTopic(client.connection, TOPIC, Table().apply)
    topic.start()
    results: list[bool] = []
    waiter = Thread(target=lambda: results.append(topic.wait_until(lambda: False, 600.0)))
    waiter.start()
    topic.stop()
    waiter.join(DEADLINE_S)
    assert results == [False]


def test_followed_topic_shows_a_failure_and_applies_all_records_again(
    tmp_path: Path,
) -> None:
    failing = True

    def apply(key: bytes | None, value: bytes | None) -> None:
        if failing:
            raise RuntimeError("planted")
        table.apply(key, value)

    table = Table()
    with EmbeddedBroker(tmp_path) as broker, holdfast.connect(broker.bootstrap) as client:
        make_table(client.connection, TOPIC)
        send(client, ("a", "1"), ("b", "1"))
        topic = FollowedTopic(Connection(ClientSettings(bootstrap=broker.bootstrap)), TOPIC, apply)
        topic.start()
        try:
            wait_until(lambda: "planted" in topic.failure, "the failure")
            with pytest.raises(UnavailableError, match="planted"):
                topic.check("The rows")
            failing = False
            assert topic.wait_until(lambda: len(table) == 2 and not topic.failure, DEADLINE_S)
        finally:
            topic.stop()
