"""`/flows/{flow}/topics/{topic}`: browse, tail and send records."""

import asyncio
import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import Field

from holdfast.api.models import (
    Body,
    Coordinate,
    GivenKey,
    Model,
    Moment,
    RecordOut,
    decoded,
    example,
    given_key,
    moment,
)
from holdfast.api.parameters import Cursor, KeyFilter, Operator, ServicesOf, SpanOf, View, Viewer
from holdfast.api.routes.streams import LastEventId, stream_route
from holdfast.api.streaming import EventStream
from holdfast.client.positions import Partition
from holdfast.control.filters import Filter
from holdfast.control.problems import problems
from holdfast.control.records import (
    MAX_PAGE,
    Browse,
    BrowsePage,
    SortOrder,
    TopicRole,
    browse,
    read_one,
    topic_of,
)
from holdfast.control.services import Services
from holdfast.errors import InvalidArgumentError, NotFoundError
from holdfast.flows.keys import partition_of
from holdfast.views.changes import ChangeKind
from holdfast.views.flow_view import FlowView

router = APIRouter(tags=["records"])

_SENT_SECONDS = 20.0
_MAX_INT64 = 2**63 - 1


RoleOfPath = Annotated[TopicRole, Path(alias="topic", description="Which of the flow's topics.")]


class PageOut(Model):
    records: list[RecordOut]
    cursor: str | None = Field(description="For the next page; null if there is nothing more.")
    looked_at: int = Field(description="Records that were looked at to fill this page.")
    stopped_early: str = Field(
        description="Why the page ended before it was full, though there is more; or empty.",
        examples=[""],
    )

    @classmethod
    def of(cls, page: BrowsePage) -> "PageOut":
        return cls(
            records=[RecordOut.of(seen) for seen in page.records],
            cursor=page.cursor,
            looked_at=page.looked_at,
            stopped_early=page.stopped_early,
        )


def _filter(
    key: KeyFilter,
    text: Annotated[
        str, Query(max_length=1_000, description="Contained in value or key, in any case.")
    ] = "",
    path: Annotated[
        str,
        Query(
            max_length=500,
            description="A JSON path that finds something in the value; "
            "`$[?(@.total > 100)]` compares.",
            examples=["$.customer.id"],
        ),
    ] = "",
    value: Annotated[
        str, Query(max_length=1_000, description="What the JSON path finds, as text.")
    ] = "",
    header: Annotated[
        str, Query(max_length=1_000, description="A header, as `name` or `name=value`.")
    ] = "",
) -> Filter:
    return Filter(key=key, text=text, path=path, value=value, header=header)


FilterOf = Annotated[Filter, Depends(_filter)]
PartitionOf = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="All unless given.")]


async def browse_page(services: Services, view: FlowView, query: Browse, actor: Viewer) -> PageOut:
    """A page of records as JSON."""
    page = await asyncio.to_thread(browse, services.connection, query, view.definition.masks, actor)
    return PageOut.of(page)


async def chosen_partitions(
    services: Services, topic: str, partition: int | None
) -> tuple[int, ...]:
    """The partitions of a topic, or only the requested one."""
    count = (await asyncio.to_thread(services.client.topics.describe, topic)).partitions
    if partition is None:
        return tuple(range(count))
    if partition >= count:
        raise NotFoundError(f"{topic} has no partition {partition}: it has {count}.")
    return (partition,)


@router.get(
    "/flows/{flow}/topics/{topic}/records", summary="Browse records", responses=problems(404)
)
async def browse_records(
    view: View,
    role: RoleOfPath,
    services: ServicesOf,
    actor: Viewer,
    wanted: FilterOf,
    span: SpanOf,
    partition: PartitionOf = None,
    offset: Annotated[
        int | None, Query(ge=0, le=_MAX_INT64, description="The first to show.")
    ] = None,
    order: SortOrder = "newest",
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    cursor: Cursor = None,
) -> PageOut:
    """By partition, offset, time, key, text or JSON path; newest first by default.

    A page reads at most 50,000 records, 64 MB, or for 4 s. If it stops early, it says so, and its
    cursor continues from there.
    """
    topic = topic_of(view.names, role)
    query = Browse(
        topic=topic,
        partitions=await chosen_partitions(services, topic, partition),
        order=order,
        offset=offset,
        since=span.since,
        until=span.until,
        filter=wanted,
        limit=limit,
        cursor=cursor,
    )
    return await browse_page(services, view, query, actor)


@router.get(
    "/flows/{flow}/topics/{topic}/records/{partition}/{offset}",
    summary="One record in full",
    responses=problems(404),
)
async def show_record(
    view: View,
    role: RoleOfPath,
    partition: Annotated[int, Path(ge=0, le=2**31 - 1)],
    offset: Annotated[int, Path(ge=0, le=_MAX_INT64)],
    services: ServicesOf,
    actor: Viewer,
) -> RecordOut:
    """With its whole value, headers and coordinates."""
    topic = topic_of(view.names, role)
    await chosen_partitions(services, topic, partition)
    seen = await asyncio.to_thread(
        read_one,
        services.connection,
        Partition(topic, partition),
        offset,
        view.definition.masks,
        actor,
    )
    return RecordOut.of(seen, limit=None)


@stream_route(router, "/flows/{flow}/topics/{topic}/tail", "Live tail")
async def tail_topic(
    view: View,
    role: RoleOfPath,
    services: ServicesOf,
    actor: Viewer,
    wanted: FilterOf,
    last_event_id: LastEventId = None,
    partition: PartitionOf = None,
) -> EventStream:
    """Records as they arrive, as events `record`. Above 50 a second (or 2,000 with a filter) it is
    a sample, and an event `sampled` has the total."""
    topic = topic_of(view.names, role)
    partitions = await chosen_partitions(services, topic, partition)
    tail = services.tails.follow(topic, partitions, view.definition.masks, actor, wanted)
    return EventStream(tail, (ChangeKind.RECORD, ChangeKind.SAMPLED), last_event_id)


class HeaderIn(Body):
    name: str = Field(max_length=1_000, examples=["trace"])
    value: str | None = Field(default=None, max_length=100_000, examples=["4bf92f35"])


class NewEvent(Body):
    """An event to send: its value as JSON, as text, or as base64; none of them is a null."""

    model_config = example(key="customer-7", value={"id": 7, "total": 12.5})

    key: GivenKey | None = None
    value: Any = Field(default=None, examples=[{"id": 7, "total": 12.5}])
    text: str | None = None
    base64: str | None = None
    headers: list[HeaderIn] = Field(default=[], max_length=100)
    partition: int | None = Field(
        default=None, ge=0, le=2**31 - 1, description="murmur2 of the key decides unless given."
    )


class SentOut(Model):
    """The coordinate of the acknowledged event."""

    source: Coordinate
    timestamp: Moment


@router.post(
    "/flows/{flow}/events",
    status_code=201,
    summary="Send an event",
    responses=problems(404, 409, 413),
)
async def send_event(_: Operator, view: View, event: NewEvent, services: ServicesOf) -> SentOut:
    """Into `<flow>.events`, like any producer. A value that the flow's schema refuses is refused
    here; a flow may forbid sending by hand."""
    view.definition.check_event(_value(event))
    key = None if event.key is None else given_key(event.key)
    partition = event.partition
    if partition is None:
        partition = -1 if key is None else partition_of(key, view.definition.partitions)
    elif partition >= view.definition.partitions:
        raise InvalidArgumentError(f"The flow has {view.definition.partitions} partitions.")
    headers = [(header.name, header.value) for header in event.headers]
    delivered = await asyncio.to_thread(
        lambda: services.client.send(
            view.names.events, _value(event), key, headers, partition=partition
        ).result(_SENT_SECONDS)
    )
    source = Coordinate(partition=delivered.partition, offset=delivered.offset)
    return SentOut(source=source, timestamp=moment(delivered.timestamp_ms))


def _value(event: NewEvent) -> bytes | None:
    if sum(given is not None for given in (event.value, event.text, event.base64)) > 1:
        raise InvalidArgumentError("Give one of 'value', 'text' and 'base64'.")
    if event.text is not None:
        return event.text.encode()
    if event.base64 is not None:
        return decoded(event.base64, "base64")
    if event.value is None:
        return None
    return json.dumps(event.value, ensure_ascii=False, separators=(",", ":")).encode()
