"""Topics, and the messages in those of a flow."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from holdfast.access.tokens import TOKENS_TOPIC
from holdfast.api.browsing import Order, TopicRole, topic_of
from holdfast.api.key_paths import key_from_path, key_to_path
from holdfast.client.positions import Offsets, Partition
from holdfast.client.topics import Topic, Topics
from holdfast.dashboard.pages.messages import MessageFilter, message_page
from holdfast.dashboard.visit import Viewing, Visit
from holdfast.errors import NotFoundError
from holdfast.flows.names import REGISTRY_TOPIC
from holdfast.flows.quality import QUALITY_TOPIC
from holdfast.flows.redriven import REDRIVEN_TOPIC
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.reports import REPORTS_TOPIC
from holdfast.flows.runs import RUNS_TOPIC

_ROLES: tuple[TopicRole, ...] = get_args(TopicRole)
_MEANINGS = {
    "events": "what comes in",
    "held": "events that wait",
    "processed": "what comes out",
    "dlq": "dead letters",
    "control": "what was asked",
    "journal": "what came of it",
    "status": "states of keys",
}
_OF_ALL_FLOWS = {
    REGISTRY_TOPIC: "which flows there are",
    REPORTS_TOPIC: "how each part of the pipeline is",
    RUNS_TOPIC: "runs, and how far they are",
    REDRIVEN_TOPIC: "dead letters that were redriven",
    QUALITY_TOPIC: "reports of quality",
    TOKENS_TOPIC: "tokens, hashed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLine:
    """One topic of the list."""

    name: str
    flow: str
    meaning: str
    partitions: int
    replication: int
    records: int
    end: int


def message_filter(
    partition: Annotated[str, Query(max_length=6, pattern=r"^\d*$")] = "",
    offset: Annotated[str, Query(max_length=18, pattern=r"^\d*$")] = "",
    since: Annotated[str, Query(max_length=40)] = "",
    key: Annotated[str, Query(max_length=100_000)] = "",
    named: Annotated[str, Query(max_length=65_536)] = "",
    q: Annotated[str, Query(max_length=500)] = "",
    path: Annotated[str, Query(max_length=500)] = "",
    header: Annotated[str, Query(max_length=500)] = "",
    order: Order = "newest",
    cursor: Annotated[str, Query(max_length=10_000)] = "",
    event: Annotated[str, Query(max_length=40)] = "",
    follow: bool = False,
) -> MessageFilter:
    """Which records, from the page's address. `named` is a key as somebody types it."""
    return MessageFilter(
        partition=int(partition) if partition else None,
        offset=int(offset) if offset else None,
        since=since,
        key=key_to_path(named.encode()) if named else key and key_to_path(key_from_path(key)),
        text=q,
        path=path,
        header=header,
        order=order,
        cursor=cursor,
        event=event,
        follow=follow,
    )


Chosen = Annotated[MessageFilter, Depends(message_filter)]


def add(router: APIRouter) -> None:
    @router.get("/topics")
    def page(visit: Viewing, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
        lines = _lines(visit)
        chosen = [line for line in lines if not flow or line.flow == flow]
        flows = sorted({line.flow for line in lines if line.flow})
        return visit.page("topics.html", here="/topics", lines=chosen, flow=flow, flows=flows)

    @router.get("/topics/{topic}")
    def messages(visit: Viewing, topic: str, chosen: Chosen) -> Response:
        return _messages(visit, topic, chosen, whole=True)

    @router.get("/topics/{topic}/fragments/messages")
    def fragment(visit: Viewing, topic: str, chosen: Chosen) -> Response:
        return _messages(visit, topic, chosen, whole=False)


def _messages(visit: Visit, topic: str, chosen: MessageFilter, *, whole: bool) -> Response:
    definition, role = _owner(visit, topic)
    partitions = 1 if role == "control" else definition.partitions
    connection = visit.services.connection
    shown = message_page(connection, topic, partitions, definition, chosen, visit.actor)
    values: dict[str, Any] = {
        "topic": topic,
        "flow": definition.name,
        "meaning": _MEANINGS[role],
        "partitions": partitions,
        "messages": shown,
        "where": f"/topics/{topic}",
    }
    if whole:
        return visit.page("messages.html", here="/topics", **values)
    return visit.fragment("messages_body.html", **values)


def _owner(visit: Visit, topic: str) -> tuple[FlowDefinition, TopicRole]:
    """The flow that the topic belongs to, and what it is there. Others are not looked into: what
    may be seen of values is said by flows."""
    for view in visit.flows():
        for role in _ROLES:
            if topic_of(view.names, role) == topic:
                return view.definition, role
    raise NotFoundError(f"No flow has the topic {topic!r}, so it cannot be looked into here.")


def _lines(visit: Visit) -> list[TopicLine]:
    owners = {
        topic_of(view.names, role): (view.name, _MEANINGS[role])
        for view in visit.flows()
        for role in _ROLES
    }
    topics = Topics(visit.services.connection).list()
    counts = _counts(visit, topics)
    lines = [
        _line(
            topic,
            *owners.get(topic.name, ("", _OF_ALL_FLOWS.get(topic.name, ""))),
            *counts[topic.name],
        )
        for topic in topics
    ]
    return sorted(lines, key=lambda line: (not line.flow, line.flow, line.name))


def _line(topic: Topic, flow: str, meaning: str, records: int, end: int) -> TopicLine:
    return TopicLine(
        name=topic.name,
        flow=flow,
        meaning=meaning,
        partitions=topic.partitions,
        replication=topic.replication,
        records=records,
        end=end,
    )


def _counts(visit: Visit, topics: Iterable[Topic]) -> dict[str, tuple[int, int]]:
    """Records (as offsets between start and end), and the sum of ends, of each topic."""
    places = [
        Partition(topic.name, number) for topic in topics for number in range(topic.partitions)
    ]
    offsets = Offsets(visit.services.connection)
    starts, ends = offsets.starts(places), offsets.ends(places)
    counts = {topic.name: (0, 0) for topic in topics}
    for place in places:
        records, end = counts[place.topic]
        counts[place.topic] = (records + ends[place] - starts[place], end + ends[place])
    return counts
