"""Metadata: describes the broker and its topics, and creates missing topics."""

import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.topic_rules import NewTopic, TopicError
from holdfast.broker.topics import Topic
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.metadata_request import (
    MetadataRequest,
    MetadataRequestTopic,
)
from holdfast.wire.protocol.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

NO_ID = uuid.UUID(int=0)

# Bits of Kafka's operations that a client may do. There are no users here, so these are all.
_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE = (1 << code for code in range(3, 9))
_CLUSTER_ACTION, _DESCRIBE_CONFIGS, _ALTER_CONFIGS, _IDEMPOTENT_WRITE = (
    1 << code for code in range(9, 13)
)
_ON_ALL = _CREATE | _ALTER | _DESCRIBE | _DESCRIBE_CONFIGS | _ALTER_CONFIGS
ON_CLUSTER = _ON_ALL | _CLUSTER_ACTION | _IDEMPOTENT_WRITE
ON_TOPIC = _ON_ALL | _READ | _WRITE | _DELETE


def handle(
    broker: "Broker", request: MetadataRequest, context: RequestContext
) -> Work[MetadataResponse]:
    host, port = context.listener
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=broker.node_id, host=host, port=port)],
        cluster_id=broker.metadata.cluster_id,
        controller_id=broker.node_id,
        topics=(yield from _topics(broker, request, context.version)),
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = ON_CLUSTER
    if request.include_topic_authorized_operations:
        for topic in response.topics:
            topic.topic_authorized_operations = ON_TOPIC
    return response


def _topics(
    broker: "Broker", request: MetadataRequest, version: int
) -> Work[list[MetadataResponseTopic]]:
    answers = []
    # Version 0 has no null: an empty list means all topics.
    if request.topics is None or (version == 0 and not request.topics):
        for topic in broker.topics.all():
            answers.append(_describe(broker, topic))
            yield None
        return answers
    requested = {(each.name, each.topic_id): each for each in request.topics}.values()
    refused: dict[str, ErrorCode] = {}
    if broker.settings.auto_create_topics and (version < 4 or request.allow_auto_topic_creation):
        refused = yield from _create_missing(broker, requested)
    for each in requested:
        answers.append(_find(broker, each, refused))
        yield None
    return answers


def _create_missing(
    broker: "Broker", requested: Iterable[MetadataRequestTopic]
) -> Work[dict[str, ErrorCode]]:
    """Creates missing topics. Returns the errors of those that cannot be created."""
    missing = dict.fromkeys(
        each.name
        for each in requested
        if each.name is not None and not broker.topics.get(each.name)
    )
    count = broker.settings.default_partitions
    created = yield from broker.topics.create_all([NewTopic(name, count, {}) for name in missing])
    refused = {n: t.error_code for n, t in created.items() if isinstance(t, TopicError)}
    for name, error in refused.items():
        if error is ErrorCode.TOPIC_ALREADY_EXISTS:  # another request is creating it
            refused[name] = ErrorCode.LEADER_NOT_AVAILABLE
    return refused


def _find(
    broker: "Broker", requested: MetadataRequestTopic, refused: Mapping[str, ErrorCode]
) -> MetadataResponseTopic:
    if requested.name is None:
        topic = broker.topics.by_id(requested.topic_id)
        if topic is None:
            return MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=requested.topic_id
            )
        return _describe(broker, topic)
    topic = broker.topics.get(requested.name)
    if topic is None:
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _failed(requested.name, refused.get(requested.name, unknown))
    return _describe(broker, topic)


def _failed(name: str, error_code: ErrorCode) -> MetadataResponseTopic:
    return MetadataResponseTopic(error_code=error_code, name=name, topic_id=NO_ID)


def _describe(broker: "Broker", topic: Topic) -> MetadataResponseTopic:
    node = [broker.node_id]
    return MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.internal,
        partitions=[
            MetadataResponsePartition(
                error_code=ErrorCode.NONE,
                partition_index=index,
                leader_id=broker.node_id,
                leader_epoch=0,
                replica_nodes=node,
                isr_nodes=node,
            )
            for index in range(len(topic.partitions))
        ],
    )
