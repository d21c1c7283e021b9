"""The topics of a flow, with the settings without which a promise would not hold."""

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.flows.registry import FlowDefinition

EVENTS_MAX_BYTES = 1_048_588
"""Kafka's own default for a batch."""
OUTPUT_MAX_BYTES = 2 * EVENTS_MAX_BYTES
"""What came through events must fit, with the headers that are added on the way."""

_FOREVER = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
# An event that is released after years keeps its own time: no bound may refuse it.
_ANY_TIME = {
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.after.max.ms": "9223372036854775807",
}
_OUTPUT = {**_FOREVER, **_ANY_TIME, "max.message.bytes": str(OUTPUT_MAX_BYTES)}


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """One topic to make."""

    name: str
    partitions: int
    replication: int
    config: Mapping[str, str]


def table_topic(name: str, brokers: int) -> TopicPlan:
    """A topic that keeps the last record of each key."""
    return _truth(name, 1, brokers, {"cleanup.policy": "compact"})


def flow_topics(flow: FlowDefinition, brokers: int) -> tuple[TopicPlan, ...]:
    """All topics of a flow on a cluster of so many brokers."""
    names, count = flow.names, flow.partitions
    events = {"cleanup.policy": "delete", "max.message.bytes": str(EVENTS_MAX_BYTES)}
    return (
        TopicPlan(names.events, count, min(3, brokers), events),
        _truth(names.control, 1, brokers, _FOREVER),
        _truth(names.journal, count, brokers, _FOREVER),
        _truth(names.status, count, brokers, {"cleanup.policy": "compact"}),
        _truth(names.held, count, brokers, _OUTPUT),
        TopicPlan(names.processed, count, min(3, brokers), _OUTPUT),
        TopicPlan(names.dlq, count, min(3, brokers), _OUTPUT),
    )


def _truth(name: str, partitions: int, brokers: int, config: Mapping[str, str]) -> TopicPlan:
    """A topic that the gate's decisions rest on: on a cluster two replicas confirm every write."""
    replication = min(3, brokers)
    confirmed = {"min.insync.replicas": "2"} if replication == 3 else {}
    return TopicPlan(name, partitions, replication, {**config, **confirmed})
