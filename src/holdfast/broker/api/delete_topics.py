"""DeleteTopics: by name or by id, each on its own."""

import uuid
from collections import Counter
from typing import TYPE_CHECKING

from holdfast.broker.configs import refuse_internal
from holdfast.broker.context import RequestContext
from holdfast.broker.topics import Topic, TopicError
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.delete_topics_request import (
    DeleteTopicsRequest,
    DeleteTopicState,
)
from holdfast.wire.protocol.generated.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

NO_ID = uuid.UUID(int=0)
IDS_SINCE = 6


def handle(
    broker: "Broker", request: DeleteTopicsRequest, context: RequestContext
) -> DeleteTopicsResponse:
    asked = (
        request.topics
        if context.version >= IDS_SINCE
        else [DeleteTopicState(name) for name in request.topic_names]
    )
    times = Counter((one.name, one.topic_id) for one in asked)
    return DeleteTopicsResponse(
        responses=[_delete(broker, *which, once=count == 1) for which, count in times.items()]
    )


def _delete(
    broker: "Broker", name: str | None, topic_id: uuid.UUID, *, once: bool
) -> DeletableTopicResult:
    try:
        if not once:
            raise TopicError(ErrorCode.INVALID_REQUEST, "Duplicate topic.")
        topic = _find(broker, name, topic_id)
        refuse_internal(topic)
        broker.topics.delete(topic.name)
    except TopicError as error:
        return DeletableTopicResult(name, topic_id, error.error_code, error.message)
    return DeletableTopicResult(topic.name, topic.id)


def _find(broker: "Broker", name: str | None, topic_id: uuid.UUID) -> Topic:
    if (name is None) == (topic_id == NO_ID):
        raise TopicError(
            ErrorCode.INVALID_REQUEST, "A topic must be named or given by its id, one of the two."
        )
    if name is None:
        topic, unknown = broker.topics.by_id(topic_id), ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic, unknown = broker.topics.get(name), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic is None:
        raise TopicError(unknown, "This server does not host this topic.")
    return topic
