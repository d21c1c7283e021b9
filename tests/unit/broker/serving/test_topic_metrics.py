"""Figures of topics and groups: what they count, and that clients cannot make them endless."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector

from holdfast.broker import topic_metrics
from holdfast.broker.broker import Broker
from holdfast.broker.groups.records import CommittedOffset, TopicPartition
from holdfast.broker.groups.requests import MemberClaim
from holdfast.broker.http import BrokerCollector
from holdfast.broker.settings import BrokerSettings
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import build_batch

NOBODY = MemberClaim("", -1, None)
LAG = "holdfast_broker_group_lag"


async def broker_with_topics(data_dir: Path, names: list[str]) -> Broker:
    """Two partitions of each topic, with three records in the first and one in the second."""
    broker = Broker(BrokerSettings(data_dir=data_dir, flush="os"))
    for name in names:
        for partition, count in zip(
            broker.topics.create(name, 2, {}).partitions, (3, 1), strict=True
        ):
            for _ in range(count):
                partition.append(memoryview(build_batch([(b"k", b"v")], timestamp=1)))
    return broker


async def commit(broker: Broker, group: str, topic: str, partition: int, offset: int) -> None:
    offsets = {TopicPartition(topic, partition): CommittedOffset(offset, -1, "", 1)}
    assert await broker.groups.commit(group, NOBODY, offsets) is ErrorCode.NONE


def figures(broker: Broker) -> CollectorRegistry:
    registry = CollectorRegistry()
    collector: Collector = BrokerCollector(broker)
    registry.register(collector)
    return registry


async def test_offsets_and_bytes_of_topics_and_the_lag_of_groups_are_shown(tmp_path: Path) -> None:
    broker = await broker_with_topics(tmp_path, ["orders", "payments"])
    await commit(broker, "readers", "orders", 0, 1)
    await commit(broker, "readers", "orders", 1, 1)
    await commit(broker, "ahead", "payments", 0, 99)
    shown = figures(broker)
    topic = {"topic": "orders"}
    assert shown.get_sample_value("holdfast_broker_topic_offsets_total", topic) == 4
    assert (shown.get_sample_value("holdfast_broker_topic_bytes", topic) or 0) > 4 * 61
    assert shown.get_sample_value(LAG, {"group": "readers", **topic}) == 2
    assert shown.get_sample_value(LAG, {"group": "ahead", "topic": "payments"}) == 0
    internal = {"topic": "__consumer_offsets"}
    assert shown.get_sample_value("holdfast_broker_topic_offsets_total", internal) is None


async def test_number_of_topics_and_groups_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_metrics, "MOST_TOPICS", 2)
    monkeypatch.setattr(topic_metrics, "MOST_LAGS", 2)
    broker = await broker_with_topics(tmp_path, ["c", "a", "b"])
    for group in ("3", "1", "2", "0" * (topic_metrics.LONGEST_GROUP_ID + 1)):
        await commit(broker, group, "a", 0, 0)
    samples = [sample for family in figures(broker).collect() for sample in family.samples]
    assert [s.labels["topic"] for s in samples if s.name == "holdfast_broker_topic_bytes"] == [
        "a",
        "b",
    ]
    assert [s.labels["group"] for s in samples if s.name == LAG] == ["1", "2"]
