"""OffsetFetch: the committed offsets of one group (up to version 7) or several groups."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from holdfast.broker.api.once import Once
from holdfast.broker.api.topic_ids import IDS_SINCE, name_topics
from holdfast.broker.context import RequestContext
from holdfast.broker.groups.records import TopicPartition
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestTopics,
)
from holdfast.wire.protocol.generated.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from holdfast.wire.protocol.primitives import ZERO_UUID

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

NO_OFFSET = -1
NO_EPOCH = -1

P = TypeVar("P", OffsetFetchResponsePartition, OffsetFetchResponsePartitions)


class _AskedTopic(Protocol):
    name: str
    partition_indexes: list[int]


def handle(
    broker: "Broker", request: OffsetFetchRequest, context: RequestContext
) -> Work[OffsetFetchResponse]:
    stable = request.require_stable
    if context.version < 8:
        found = yield from _fetch(
            broker, request.group_id, request.topics, stable, OffsetFetchResponsePartition
        )
        return OffsetFetchResponse(
            topics=[OffsetFetchResponseTopic(*topic) for topic in found.items()]
        )
    response = OffsetFetchResponse()
    once = Once()
    for group in request.groups:
        if not once(group.group_id):
            continue
        error = broker.groups.check_fetch(group.group_id, group.member_id, group.member_epoch)
        if error is not ErrorCode.NONE:
            response.groups.append(OffsetFetchResponseGroup(group.group_id, error_code=error))
            continue
        unknown = []
        if context.version >= IDS_SINCE and group.topics is not None:
            name_topics(broker, group.topics)
            unknown = [_unknown(topic) for topic in group.topics if not topic.name]
            group.topics = [topic for topic in group.topics if topic.name]
        of_group = yield from _fetch(
            broker, group.group_id, group.topics, stable, OffsetFetchResponsePartitions
        )
        topics = [
            OffsetFetchResponseTopics(name=name, partitions=offsets)
            for name, offsets in of_group.items()
        ]
        if context.version >= IDS_SINCE:
            topics = _with_ids(broker, topics)
        response.groups.append(OffsetFetchResponseGroup(group.group_id, topics + unknown))
    return response


def _with_ids(
    broker: "Broker", topics: list[OffsetFetchResponseTopics]
) -> list[OffsetFetchResponseTopics]:
    """The topics with their ids. A topic that was deleted has none, and is left out."""
    for topic in topics:
        known = broker.topics.get(topic.name)
        topic.topic_id = ZERO_UUID if known is None else known.id
    return [topic for topic in topics if topic.topic_id != ZERO_UUID]


def _unknown(topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    error = ErrorCode.UNKNOWN_TOPIC_ID
    return OffsetFetchResponseTopics(
        topic_id=topic.topic_id,
        partitions=[
            OffsetFetchResponsePartitions(index, NO_OFFSET, NO_EPOCH, "", error)
            for index in topic.partition_indexes
        ],
    )


def _fetch(
    broker: "Broker",
    group_id: str,
    topics: Sequence[_AskedTopic] | None,
    require_stable: bool,
    answer: type[P],
) -> Work[dict[str, list[P]]]:
    """The offsets of one group, by topic."""
    asked = None if topics is None else _partitions_of(topics)
    found = yield from broker.groups.fetch(group_id, asked, require_stable=require_stable)
    answers: dict[str, list[P]] = {}
    for at, offset in found.items():
        of_topic = answers.setdefault(at.topic, [])
        if offset is None or isinstance(offset, ErrorCode):
            error = offset or ErrorCode.NONE
            of_topic.append(answer(at.partition, NO_OFFSET, NO_EPOCH, "", error))
        else:
            of_topic.append(
                answer(at.partition, offset.offset, offset.leader_epoch, offset.metadata)
            )
        yield None
    return answers if topics is not None else (yield from _sorted(answers))


def _sorted(answers: dict[str, list[P]]) -> Work[dict[str, list[P]]]:
    """Sorts topics, and the partitions of each."""
    for of_topic in answers.values():
        of_topic.sort(key=lambda partition: partition.partition_index)
        yield None
    return dict(sorted(answers.items()))


def _partitions_of(topics: Sequence[_AskedTopic]) -> Iterator[TopicPartition]:
    return (TopicPartition(topic.name, p) for topic in topics for p in topic.partition_indexes)
