"""Topics, groups and the cluster, over both brokers."""

from datetime import UTC, datetime, timedelta

import pytest

import holdfast
from holdfast.errors import AlreadyExistsError, ConflictError, InvalidArgumentError, NotFoundError


def test_a_topic_is_created_described_configured_grown_and_deleted(
    client: holdfast.Client, topic: str
) -> None:
    client.topics.create(topic, partitions=2, config={"retention.ms": "60000"})
    assert client.topics.describe(topic).partitions == 2
    assert topic in [t.name for t in client.topics.list()]
    settings = client.topics.config(topic)
    assert (settings["retention.ms"].value, settings["retention.ms"].changed) == ("60000", True)
    assert not settings["segment.bytes"].changed
    client.topics.set_config(topic, {"segment.bytes": "1048576", "retention.ms": None})
    settings = client.topics.config(topic)
    assert settings["segment.bytes"].value == "1048576"
    assert not settings["retention.ms"].changed
    client.topics.add_partitions(topic, 5)
    assert client.topics.describe(topic).partitions == 5
    client.send(topic, "x", partition=4).result()
    assert [r.records for r in client.topics.ranges(topic)] == [0, 0, 0, 0, 1]
    client.topics.delete(topic)
    with pytest.raises(NotFoundError):
        client.topics.describe(topic)


def test_invalid_topic_operation_is_refused_with_a_reason(
    client: holdfast.Client, topic: str
) -> None:
    client.topics.create(topic)
    with pytest.raises(AlreadyExistsError):
        client.topics.create(topic)
    with pytest.raises(InvalidArgumentError, match="at least one"):
        client.topics.create(f"{topic}-none", partitions=0)
    with pytest.raises(InvalidArgumentError):
        client.topics.create("not/a/name")
    with pytest.raises(InvalidArgumentError):
        client.topics.set_config(topic, {"retention.ms": "soon"})
    with pytest.raises(InvalidArgumentError):
        client.topics.add_partitions(topic, 1)
    with pytest.raises(NotFoundError):
        client.topics.delete(f"{topic}-none")
    with pytest.raises(NotFoundError):
        client.groups.describe(f"{topic}-none")
    with pytest.raises(NotFoundError):
        client.groups.reset(f"{topic}-none", "start")


def test_internal_topics_are_listed_only_on_request(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.send(topic, "x").result()
    with client.consumer(topic, group=group) as consumer:
        list(consumer.records(until="end"))
    assert not [t.name for t in client.topics.list() if t.name.startswith("__")]
    assert "__consumer_offsets" in [t.name for t in client.topics.list(internal=True)]


def test_lag_is_given_in_records_and_in_seconds(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic, partitions=3)
    old = datetime.now(UTC) - timedelta(minutes=10)
    for i in range(10):
        client.send(topic, str(i), partition=0, timestamp=old + timedelta(minutes=i))
    client.send(topic, "only", partition=1)
    client.close()
    with client.consumer(topic, group=group) as consumer:
        consumer.seek("start")
        for record in consumer.records(until={0: 4, 1: 1, 2: 0}):
            assert record.offset < 4
        during = client.groups.describe(group)
        assert during.state == "stable"
        assert len(during.members) == 1
        assert len(during.members[0].partitions) == 3
    described = client.groups.describe(group)
    assert described.state == "empty"
    lag = {part.partition: part for part in described.lag}
    assert (lag[0].committed, lag[0].end, lag[0].records) == (4, 10, 6)
    assert lag[0].seconds == pytest.approx(360, abs=30)
    assert (lag[1].records, lag[1].seconds) == (0, 0.0)
    assert described.total_lag == 6


def test_a_group_is_reset_by_offset_time_and_duration(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic, partitions=2)
    begun = datetime.now(UTC) - timedelta(hours=10)
    for i in range(10):
        client.send(topic, str(i), partition=0, timestamp=begun + timedelta(hours=i))
    client.close()
    with client.consumer(topic, group=group) as consumer:
        list(consumer.records(until="end"))
        consumer.commit()
        with pytest.raises(ConflictError, match="1 members"):
            client.groups.reset(group, "start")
    (change,) = client.groups.reset(group, 3, dry_run=True)
    assert (change.before, change.after) == (10, 3)
    assert client.groups.describe(group).lag[0].committed == 10
    assert client.groups.reset(group, 3)[0].after == 3
    assert client.groups.describe(group).lag[0].committed == 3
    assert client.groups.reset(group, begun + timedelta(hours=5))[0].after == 5
    assert client.groups.reset(group, timedelta(hours=2, minutes=30))[0].after == 8
    assert client.groups.reset(group, 999)[0].after == 10
    both = client.groups.reset(group, "start", topics=[topic])
    assert [(c.partition, c.after) for c in both] == [(0, 0), (1, 0)]
    with client.consumer(topic, group=group) as consumer:
        assert len(list(consumer.records(until="end"))) == 10


def test_a_group_is_listed_and_deleted(client: holdfast.Client, topic: str, group: str) -> None:
    client.send(topic, "x").result()
    with client.consumer(topic, group=group) as consumer:
        list(consumer.records(until="end"))
    assert (group, "empty") in [(g.name, g.state) for g in client.groups.list()]
    client.groups.delete(group)
    assert group not in [g.name for g in client.groups.list()]
    with pytest.raises(NotFoundError):
        client.groups.delete(group)


def test_cluster_lists_its_brokers(client: holdfast.Client) -> None:
    cluster = client.cluster()
    assert cluster.id
    assert len(cluster.brokers) == 1
