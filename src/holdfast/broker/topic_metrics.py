"""Figures of topics and groups for `/metrics`. They are read from the logs at each request, and are
bounded in number: clients choose the names.

Of more topics or groups, the first in the order of their names are shown, so that a series stays.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker
    from holdfast.broker.groups.records import TopicPartition

MOST_TOPICS = 500
MOST_LAGS = 500
"""Pairs of a group and a topic."""
MOST_OFFSETS = 20_000
"""Committed offsets that are read for one reply: about 20 ms."""
LONGEST_GROUP_ID = 200


def topic_metrics(broker: "Broker") -> Iterator[Metric]:
    """Offsets and bytes of each topic."""
    offsets = CounterMetricFamily(
        "holdfast_broker_topic_offsets",
        f"Offsets given to records of the topic, and to markers. Of the first {MOST_TOPICS} topics",
        labels=["topic"],
    )
    size = GaugeMetricFamily(
        "holdfast_broker_topic_bytes",
        f"Bytes of the topic on disk. Of the first {MOST_TOPICS} topics",
        labels=["topic"],
    )
    names = sorted(topic.name for topic in broker.topics.all() if not topic.internal)
    for name in names[:MOST_TOPICS]:
        topic = broker.topics.get(name)
        if topic is not None:
            logs = [partition.log for partition in topic.partitions]
            offsets.add_metric([name], sum(log.high_watermark for log in logs))
            size.add_metric([name], sum(log.size_bytes for log in logs))
    yield offsets
    yield size


def group_metrics(broker: "Broker") -> Iterator[Metric]:
    """Records that each group has not processed yet."""
    lag = GaugeMetricFamily(
        "holdfast_broker_group_lag",
        "Offsets of the topic behind the group's committed ones. "
        f"Of the first {MOST_LAGS} pairs of group and topic",
        labels=["group", "topic"],
    )
    lags: Counter[tuple[str, str]] = Counter()
    for group_id, at, committed in islice(broker.groups.committed(), MOST_OFFSETS):
        pair = group_id, at.topic
        if len(group_id) > LONGEST_GROUP_ID or (pair not in lags and len(lags) >= MOST_LAGS):
            continue
        lags[pair] += _behind(broker, at, committed)
    for pair, behind in lags.items():
        lag.add_metric(pair, behind)
    yield lag


def _behind(broker: "Broker", at: "TopicPartition", committed: int) -> int:
    partition = broker.partition(*at)
    if partition is None:
        return 0
    # Records below the start are gone: nobody will process them.
    return max(0, partition.log.high_watermark - max(committed, partition.log.log_start_offset))
