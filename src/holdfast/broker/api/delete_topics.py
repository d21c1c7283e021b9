"""DeleteTopics: deletes each topic on its own, by name or by id."""

import uuid
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.broker.configs import refuse_internal
from holdfast.broker.context import RequestContext
from holdfast.broker.topic_rules import TopicError
from holdfast.broker.topics import Topic
from holdfast.broker.work import Work
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
) -> Work[DeleteTopicsResponse]:
    requested = (
        request.topics
        if context.version >= IDS_SINCE
        else [DeleteTopicState(name) for name in request.topic_names]
    )
    times = Counter((one.name, one.topic_id) for one in requested)
    results: dict[tuple[str | None, uuid.UUID], Topic | TopicError] = {}
    for which, count in times.items():
        try:
            if count > 1:
                raise TopicError(ErrorCode.INVALID_REQUEST, "Duplicate topic.")
            results[which] = topic = _find(broker, *which)
            refuse_internal(topic)
        except TopicError as error:
            results[which] = error
        yield None
    doomed = [topic.name for topic in results.values() if isinstance(topic, Topic)]
    errors = yield from broker.topics.delete_all(doomed)
    return DeleteTopicsResponse(
        responses=[_answer(*which, topic, errors) for which, topic in results.items()]
    )


def _answer(
    name: str | None,
    topic_id: uuid.UUID,
    topic: Topic | TopicError,
    errors: Mapping[str, TopicError | None],
) -> DeletableTopicResult:
    error = topic if isinstance(topic, TopicError) else errors[topic.name]
    if error is not None:
        return DeletableTopicResult(name, topic_id, error.error_code, error.message)
    assert isinstance(topic, Topic)
    return DeletableTopicResult(topic.name, topic.id)


def _find(broker: "Broker", name: str | None, topic_id: uuid.UUID) -> Topic:
    if (name is None) == (topic_id == NO_ID):
        raise TopicError(ErrorCode.INVALID_REQUEST, "A topic must have either a name or an id.")
    if name is None:
        topic, unknown = broker.topics.by_id(topic_id), ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic, unknown = broker.topics.get(name), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic is None:
        raise TopicError(unknown, "This server does not host this topic.")
    return topic
