"""Names of topics in requests that have their ids instead."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

IDS_SINCE = 10
"""The version of OffsetCommit and OffsetFetch."""


class _Topic(Protocol):
    name: str
    topic_id: UUID


def name_topics(broker: "Broker", topics: Iterable[_Topic]) -> None:
    """Sets the names. The name of an unknown topic is empty."""
    for topic in topics:
        known = broker.topics.by_id(topic.topic_id)
        topic.name = "" if known is None else known.name
