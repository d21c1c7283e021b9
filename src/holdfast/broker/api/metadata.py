"""Metadata: the broker, its topics, and topics made because someone asked for them."""

import uuid
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.operations import ON_CLUSTER, ON_TOPIC
from holdfast.broker.topics import Topic, TopicError
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


def handle(broker: "Broker", request: MetadataRequest, context: RequestContext) -> MetadataResponse:
    host, port = context.listener
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=broker.node_id, host=host, port=port)],
        cluster_id=broker.metadata.cluster_id,
        controller_id=broker.node_id,
        topics=_topics(broker, request, context.version),
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = ON_CLUSTER
    if request.include_topic_authorized_operations:
        for topic in response.topics:
            topic.topic_authorized_operations = ON_TOPIC
    return response


def _topics(
    broker: "Broker", request: MetadataRequest, version: int
) -> list[MetadataResponseTopic]:
    # Version 0 had no null: there an empty list asks for all.
    if request.topics is None or (version == 0 and not request.topics):
        return [_describe(broker, topic) for topic in broker.topics.all()]
    may_create = broker.settings.auto_create_topics and (
        version < 4 or request.allow_auto_topic_creation
    )
    return [_find(broker, asked, may_create) for asked in request.topics]


def _find(broker: "Broker", asked: MetadataRequestTopic, may_create: bool) -> MetadataResponseTopic:
    if asked.name is None:
        topic = broker.topics.by_id(asked.topic_id)
        if topic is None:
            return MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=asked.topic_id
            )
        return _describe(broker, topic)
    topic = broker.topics.get(asked.name)
    if topic is None and may_create:
        try:
            topic = broker.topics.create(asked.name, broker.settings.default_partitions, {})
        except TopicError as error:
            return _failed(asked.name, error.error_code)
    if topic is None:
        return _failed(asked.name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
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
