"""CreateTopics: creates or refuses each topic on its own."""

from functools import partial
from typing import TYPE_CHECKING

from holdfast.broker.configs import topic_entries
from holdfast.broker.context import RequestContext
from holdfast.broker.topic_rules import (
    NewTopic,
    TopicError,
    check_assignment,
    check_each,
    overrides_of,
)
from holdfast.broker.topics import Topic
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.create_topics_request import (
    CreatableTopic,
    CreateTopicsRequest,
)
from holdfast.wire.protocol.generated.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

DEFAULT = -1
"""For a number of partitions or replicas: let the broker choose."""


def handle(
    broker: "Broker", request: CreateTopicsRequest, context: RequestContext
) -> Work[CreateTopicsResponse]:
    new, errors = yield from check_each(request.topics, partial(_new_topic, broker))
    results = yield from broker.topics.create_all(
        list(new.values()), validate_only=request.validate_only
    )
    results |= errors
    response = CreateTopicsResponse()
    for name in dict.fromkeys(topic.name for topic in request.topics):
        response.topics.append(_answer(broker, name, results[name]))
        yield None
    return response


def _new_topic(broker: "Broker", topic: CreatableTopic) -> NewTopic:
    return NewTopic(topic.name, _partitions(broker, topic), overrides_of(topic.configs))


def _partitions(broker: "Broker", topic: CreatableTopic) -> int:
    """The number of partitions; refuses replicas on unknown brokers."""
    if topic.assignments:
        if (topic.num_partitions, topic.replication_factor) != (DEFAULT, DEFAULT):
            raise TopicError(
                ErrorCode.INVALID_REQUEST,
                "With an assignment of replicas, the numbers of partitions and of replicas must "
                "be left at -1.",
            )
        by_index = {a.partition_index: a.broker_ids for a in topic.assignments}
        if sorted(by_index) != list(range(len(topic.assignments))):
            raise TopicError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "Partitions must be numbered from 0 on, each once.",
            )
        for broker_ids in by_index.values():
            check_assignment(broker_ids, broker.node_id)
        return len(by_index)
    if topic.replication_factor not in (DEFAULT, 1):
        raise TopicError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor must be 1, or -1 for the default: there is one broker, so "
            f"{topic.replication_factor} is not possible.",
        )
    if topic.num_partitions == DEFAULT:
        return broker.settings.default_partitions
    return topic.num_partitions


def _answer(broker: "Broker", name: str, topic: Topic | TopicError) -> CreatableTopicResult:
    if isinstance(topic, TopicError):
        return CreatableTopicResult(
            name, error_code=topic.error_code, error_message=topic.message, configs=None
        )
    return CreatableTopicResult(
        topic.name,
        topic.id,
        ErrorCode.NONE,
        None,
        num_partitions=topic.record.partitions,
        replication_factor=1,
        configs=[
            CreatableTopicConfigs(entry.name, entry.value, entry.read_only, entry.source)
            for entry in topic_entries(topic, broker.topics.defaults)
        ],
    )
