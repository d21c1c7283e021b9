"""OffsetFetch: how far groups have read. One group up to version 7, several from 8 on."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol, TypeVar

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.records import TopicPartition
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.offset_fetch_request import OffsetFetchRequest
from holdfast.wire.protocol.generated.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

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
) -> OffsetFetchResponse:
    stable = request.require_stable
    if context.version < 8:
        found = _fetch(
            broker, request.group_id, request.topics, stable, OffsetFetchResponsePartition
        )
        return OffsetFetchResponse(topics=[OffsetFetchResponseTopic(*topic) for topic in found])
    return OffsetFetchResponse(
        groups=[
            OffsetFetchResponseGroup(
                group_id=group.group_id,
                topics=[
                    OffsetFetchResponseTopics(*topic)
                    for topic in _fetch(
                        broker, group.group_id, group.topics, stable, OffsetFetchResponsePartitions
                    )
                ],
            )
            for group in request.groups
        ]
    )


def _fetch(
    broker: "Broker",
    group_id: str,
    topics: Sequence[_AskedTopic] | None,
    require_stable: bool,
    answer: type[P],
) -> Iterable[tuple[str, list[P]]]:
    """The answers of one group, topic by topic."""
    asked = None if topics is None else _partitions_of(topics)
    found = broker.groups.fetch(group_id, asked, require_stable=require_stable)
    by_topic = sorted(found) if topics is None else list(found)
    for name, partitions in groupby(by_topic, key=lambda at: at.topic):
        answers = []
        for at in partitions:
            offset = found[at]
            if offset is None or isinstance(offset, ErrorCode):
                error = offset or ErrorCode.NONE
                answers.append(answer(at.partition, NO_OFFSET, NO_EPOCH, "", error))
            else:
                answers.append(
                    answer(at.partition, offset.offset, offset.leader_epoch, offset.metadata)
                )
        yield name, answers


def _partitions_of(topics: Sequence[_AskedTopic]) -> list[TopicPartition]:
    return [TopicPartition(topic.name, p) for topic in topics for p in topic.partition_indexes]
