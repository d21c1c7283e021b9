"""Rules of the APIs about topics. Nobody learns of a topic that they may not describe."""

from typing import Any

from holdfast.broker.security.acls import CLUSTER_NAME, Operation, ResourceType
from holdfast.broker.security.guard import Check, Denied, Finish
from holdfast.broker.security.rules.items import (
    TOPIC_FAILED,
    each,
    may_cluster,
    may_topic,
    split,
)
from holdfast.wire.protocol.generated.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from holdfast.wire.protocol.generated.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from holdfast.wire.protocol.generated.delete_topics_request import DeleteTopicState
from holdfast.wire.protocol.generated.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)
from holdfast.wire.protocol.generated.describe_topic_partitions_request import TopicRequest
from holdfast.wire.protocol.generated.describe_topic_partitions_response import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
)
from holdfast.wire.protocol.generated.metadata_request import (
    MetadataRequest,
    MetadataRequestTopic,
)
from holdfast.wire.protocol.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseTopic,
)

_DELETED_BY_ID_SINCE = 6
_NO_CREATION_FLAG_BELOW = 4


def metadata(check: Check) -> Finish:
    request: MetadataRequest = check.request
    asks_for_all = request.topics is None or (check.version == 0 and not request.topics)
    refusals: list[MetadataResponseTopic] = []
    requested: set[object] = set()
    if not asks_for_all:
        assert request.topics is not None
        permitted, refused = split(request.topics, lambda topic: _may_know(check, topic))
        refusals = [
            MetadataResponseTopic(TOPIC_FAILED, name=topic.name, topic_id=topic.topic_id)
            for topic in refused
        ]
        request.topics = permitted
        requested = {topic.name or topic.topic_id for topic in permitted}
        if refused:
            check.broker.metrics.denied_requests += 1

    def is_visible(topic: MetadataResponseTopic) -> bool:
        if asks_for_all:
            return may_topic(check, Operation.DESCRIBE, topic.name or "")
        # To version 0 an empty list means all topics.
        return topic.name in requested or topic.topic_id in requested

    def finish(response: MetadataResponse) -> None:
        response.topics = [topic for topic in response.topics if is_visible(topic)]
        if request.include_topic_authorized_operations:
            for topic in response.topics:
                topic.topic_authorized_operations = check.access.operations(
                    ResourceType.TOPIC, topic.name or ""
                )
        response.topics += refusals
        if request.include_cluster_authorized_operations:
            response.cluster_authorized_operations = cluster_operations(check)

    return finish


def cluster_operations(check: Check) -> int:
    """The operations on the cluster that the client may do, as Kafka's bits."""
    if not may_cluster(check, Operation.DESCRIBE):
        return 0
    return check.access.operations(ResourceType.CLUSTER, CLUSTER_NAME)


def _may_know(check: Check, topic: MetadataRequestTopic) -> bool:
    """Returns True if the topic may be described, or created if it is missing and that is asked
    for."""
    if topic.name is None:
        known = check.broker.topics.by_id(topic.topic_id)
        return known is None or may_topic(check, Operation.DESCRIBE, known.name)
    if not may_topic(check, Operation.DESCRIBE, topic.name):
        return False
    creates = check.broker.settings.auto_create_topics and (
        check.version < _NO_CREATION_FLAG_BELOW or check.request.allow_auto_topic_creation
    )
    if not creates or check.broker.topics.get(topic.name) is not None:
        return True
    return _may_create(check, topic.name)


def _may_create(check: Check, name: str) -> bool:
    return may_cluster(check, Operation.CREATE) or may_topic(check, Operation.CREATE, name)


def create_topics(check: Check) -> Finish | None:
    add_refusals = each(
        check,
        "topics",
        lambda topic: _may_create(check, topic.name),
        CreateTopicsResponse,
        "topics",
        lambda topic: CreatableTopicResult(
            topic.name,
            error_code=TOPIC_FAILED,
            error_message="You may not create this topic.",
            configs=None,
        ),
    )

    def finish(response: CreateTopicsResponse) -> None:
        for topic in response.topics:
            if not topic.error_code and not may_topic(
                check, Operation.DESCRIBE_CONFIGS, topic.name
            ):
                topic.topic_config_error_code = TOPIC_FAILED
                topic.num_partitions = topic.replication_factor = -1
                topic.configs = None if check.version >= 5 else []
        if add_refusals is not None:
            add_refusals(response)

    return finish


def delete_topics(check: Check) -> Finish | None:
    if check.version < _DELETED_BY_ID_SINCE:
        return each(
            check,
            "topic_names",
            lambda name: may_topic(check, Operation.DELETE, name),
            DeleteTopicsResponse,
            "responses",
            lambda name: DeletableTopicResult(name, error_code=TOPIC_FAILED),
        )

    def name_of(topic: DeleteTopicState) -> str | None:
        known = check.broker.topics.by_id(topic.topic_id)
        return known.name if topic.name is None and known is not None else topic.name

    def may_delete(topic: DeleteTopicState) -> bool:
        name = name_of(topic)
        return name is None or may_topic(check, Operation.DELETE, name)

    def refuse(topic: DeleteTopicState) -> DeletableTopicResult:
        name = name_of(topic)
        if topic.name is None and name and not may_topic(check, Operation.DESCRIBE, name):
            name = None
        return DeletableTopicResult(name, topic.topic_id, TOPIC_FAILED)

    return each(check, "topics", may_delete, DeleteTopicsResponse, "responses", refuse)


def create_partitions(check: Check) -> Finish | None:
    return each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.ALTER, topic.name),
        CreatePartitionsResponse,
        "results",
        lambda topic: CreatePartitionsTopicResult(topic.name, TOPIC_FAILED, None),
    )


def describe_topic_partitions(check: Check) -> Finish:
    request: Any = check.request
    if not request.topics:  # all of them: the answer's cursor must not name others
        request.topics = [
            TopicRequest(name)
            for name in check.broker.topics.names()
            if may_topic(check, Operation.DESCRIBE, name)
        ]
        if not request.topics:
            raise Denied(DescribeTopicPartitionsResponse())
    add_refusals = each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.DESCRIBE, topic.name),
        DescribeTopicPartitionsResponse,
        "topics",
        lambda topic: DescribeTopicPartitionsResponseTopic(TOPIC_FAILED, topic.name),
    )

    def finish(response: DescribeTopicPartitionsResponse) -> None:
        for topic in response.topics:
            topic.topic_authorized_operations = check.access.operations(
                ResourceType.TOPIC, topic.name or ""
            )
        if add_refusals is not None:
            add_refusals(response)

    return finish
