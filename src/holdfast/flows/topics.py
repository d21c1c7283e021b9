"""The topics of a flow, with the settings that the guarantees require."""

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.flows.registry import FlowDefinition

EVENTS_MAX_BYTES = 1_048_588
"""Kafka's own default for a batch."""
OUTPUT_MAX_BYTES = 2 * EVENTS_MAX_BYTES
"""Every event must fit, together with the headers that the gate adds."""

_FOREVER = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
BROKER_TIME = {"message.timestamp.type": "LogAppendTime"}
"""For topics that Holdfast writes for itself: the broker sets the time of each record. So it
refuses none because of a wrong clock, and the audit can compare the clocks of gate and broker."""
# An event that is released after years keeps its timestamp: no limit may refuse it.
_ANY_TIME = {
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.after.max.ms": "9223372036854775807",
}
_OUTPUT = {**_FOREVER, **_ANY_TIME, "max.message.bytes": str(OUTPUT_MAX_BYTES)}


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """One topic to create."""

    name: str
    partitions: int
    replication: int
    config: Mapping[str, str]


def table_topic(name: str, brokers: int) -> TopicPlan:
    """A topic that keeps the last record of each key."""
    return _truth(name, 1, brokers, {"cleanup.policy": "compact", **BROKER_TIME})


def flow_topics(
    flow: FlowDefinition, brokers: int, event_bytes: int = EVENTS_MAX_BYTES
) -> tuple[TopicPlan, ...]:
    """All topics of a flow, for a cluster with this number of brokers. A guard reads a topic that
    exists, and has no output but its handler. `event_bytes`: the largest event of that topic."""
    names, count = flow.names, flow.partitions
    output = {**_OUTPUT, "max.message.bytes": str(2 * event_bytes)}
    events = {"cleanup.policy": "delete", "max.message.bytes": str(EVENTS_MAX_BYTES)}
    own = (
        TopicPlan(names.events, count, min(3, brokers), events),
        TopicPlan(names.processed, count, min(3, brokers), output),
    )
    return (
        *(() if flow.is_guard else own),
        _truth(names.control, 1, brokers, {**_FOREVER, **BROKER_TIME}),
        _truth(names.journal, count, brokers, {**_FOREVER, **BROKER_TIME}),
        _truth(names.status, count, brokers, {"cleanup.policy": "compact", **BROKER_TIME}),
        _truth(names.held, count, brokers, output),
        TopicPlan(names.dlq, count, min(3, brokers), output),
    )


def _truth(name: str, partitions: int, brokers: int, config: Mapping[str, str]) -> TopicPlan:
    """A topic on which the gate depends: in a cluster two replicas confirm each write."""
    replication = min(3, brokers)
    confirmed = {"min.insync.replicas": "2"} if replication == 3 else {}
    return TopicPlan(name, partitions, replication, {**config, **confirmed})
