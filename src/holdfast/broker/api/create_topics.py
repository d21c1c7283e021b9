"""CreateTopics: each topic is made or refused on its own."""

from collections import Counter
from typing import TYPE_CHECKING

from holdfast.broker.configs import topic_entries
from holdfast.broker.context import RequestContext
from holdfast.broker.replicas import check_assignment
from holdfast.broker.topics import Topic, TopicError
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
) -> CreateTopicsResponse:
    times = Counter(topic.name for topic in request.topics)
    asked = {topic.name: topic for topic in request.topics}
    return CreateTopicsResponse(
        topics=[
            _create(broker, topic, times[name] == 1, request.validate_only)
            for name, topic in asked.items()
        ]
    )


def _create(
    broker: "Broker", asked: CreatableTopic, once: bool, validate_only: bool
) -> CreatableTopicResult:
    try:
        if not once:
            raise TopicError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        partitions = _partitions(broker, asked)
        made = broker.topics.create(
            asked.name, partitions, _overrides(asked), validate_only=validate_only
        )
    except TopicError as error:
        return CreatableTopicResult(
            asked.name, error_code=error.error_code, error_message=error.message, configs=None
        )
    return _made(made, partitions)


def _partitions(broker: "Broker", asked: CreatableTopic) -> int:
    """How many there are to be; refuses replicas on brokers that there are not."""
    if asked.assignments:
        if (asked.num_partitions, asked.replication_factor) != (DEFAULT, DEFAULT):
            raise TopicError(
                ErrorCode.INVALID_REQUEST,
                "With an assignment of replicas, the numbers of partitions and of replicas must "
                "be left at -1.",
            )
        by_index = {a.partition_index: a.broker_ids for a in asked.assignments}
        if sorted(by_index) != list(range(len(asked.assignments))):
            raise TopicError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "Partitions must be numbered from 0 on, each once.",
            )
        for broker_ids in by_index.values():
            check_assignment(broker_ids, broker.node_id)
        return len(by_index)
    if asked.replication_factor not in (DEFAULT, 1):
        raise TopicError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor must be 1, or -1 for the default: there is one broker, and "
            f"{asked.replication_factor} was asked for.",
        )
    if asked.num_partitions == DEFAULT:
        return broker.settings.default_partitions
    return asked.num_partitions


def _overrides(asked: CreatableTopic) -> dict[str, str]:
    overrides = {}
    for config in asked.configs:
        if config.value is None:
            raise TopicError(ErrorCode.INVALID_CONFIG, f"{config.name} has no value.")
        overrides[config.name] = config.value
    return overrides


def _made(topic: Topic, partitions: int) -> CreatableTopicResult:
    return CreatableTopicResult(
        topic.name,
        topic.id,
        ErrorCode.NONE,
        None,
        num_partitions=partitions,
        replication_factor=1,
        configs=[
            CreatableTopicConfigs(entry.name, entry.value, entry.read_only, entry.source)
            for entry in topic_entries(topic.config, topic.overrides)
        ],
    )
