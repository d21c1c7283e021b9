"""Topics, and the messages in those of a flow."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Query
from starlette.responses import Response

from holdfast.control.exports import ExportForm, record_fields
from holdfast.control.key_paths import key_to_path
from holdfast.control.records import MAX_PAGE, Seen, SortOrder, browse
from holdfast.dashboard.downloads import all_rows, download
from holdfast.dashboard.page_request import PageRequest, ViewerRequest
from holdfast.dashboard.pages.messages import MessageFilter, message_page
from holdfast.dashboard.pages.topics import CONTENTS, flow_of_topic, topic_lines
from holdfast.dashboard.routes.page_route import page_router
from holdfast.flows.registry import FlowDefinition


def message_filter(
    partition: Annotated[str, Query(max_length=20)] = "",
    offset: Annotated[str, Query(max_length=40)] = "",
    since: Annotated[str, Query(max_length=40)] = "",
    until: Annotated[str, Query(max_length=40)] = "",
    zone: Annotated[str, Query(max_length=10)] = "",
    key: Annotated[str, Query(max_length=100_000)] = "",
    named: Annotated[str, Query(max_length=65_536)] = "",
    text: Annotated[str, Query(max_length=500)] = "",
    path: Annotated[str, Query(max_length=500)] = "",
    value: Annotated[str, Query(max_length=1_000)] = "",
    header: Annotated[str, Query(max_length=500)] = "",
    reason: Annotated[str, Query(max_length=500)] = "",
    message: Annotated[str, Query(max_length=3_000)] = "",
    redriven: bool = False,
    order: SortOrder = "newest",
    cursor: Annotated[str, Query(max_length=10_000)] = "",
    event: Annotated[str, Query(max_length=40)] = "",
    follow: bool = False,
) -> MessageFilter:
    """Which records, from the page's address. `named` is a key as somebody types it."""
    return MessageFilter(
        partition=partition.strip(),
        offset=offset.strip(),
        since=since,
        until=until,
        zone=zone,
        key=key_to_path(named.encode()) if named else key,
        text=text,
        path=path,
        value=value,
        header=header,
        reason=reason,
        message=message,
        redriven=redriven,
        order=order,
        cursor=cursor,
        event=event,
        follow=follow,
    )


Chosen = Annotated[MessageFilter, Depends(message_filter)]


router = page_router()


@router.get("/topics")
def page(request: ViewerRequest, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
    lines = topic_lines(request)
    chosen = [line for line in lines if not flow or line.flow == flow]
    flows = sorted({line.flow for line in lines if line.flow})
    return request.page("topics.html", here="/topics", lines=chosen, flow=flow, flows=flows)


@router.get("/topics/{topic}")
def messages(request: ViewerRequest, topic: str, chosen: Chosen) -> Response:
    return _messages(request, topic, chosen, whole=True)


@router.get("/topics/{topic}/fragments/messages")
def fragment(request: ViewerRequest, topic: str, chosen: Chosen) -> Response:
    return _messages(request, topic, chosen, whole=False)


@router.get("/topics/{topic}/export")
def export(request: ViewerRequest, topic: str, chosen: Chosen, form: ExportForm) -> Response:
    definition, role = flow_of_topic(request, topic)
    partitions = 1 if role == "control" else definition.partitions
    return download(topic, exported_rows(request, definition, topic, partitions, chosen), form)


def exported_rows(
    request: PageRequest,
    definition: FlowDefinition,
    topic: str,
    partitions: int,
    chosen: MessageFilter,
    fields_of: Callable[[Seen], Mapping[str, Any]] = record_fields,
    wanted: Callable[[Seen], bool] | None = None,
) -> Iterator[Mapping[str, Any]]:
    """All records of the filter, as rows of a file."""
    query = replace(chosen.query(topic, partitions), limit=MAX_PAGE, wanted=wanted)
    connection, masks = request.services.connection, definition.masks
    return all_rows(
        lambda cursor: browse(connection, replace(query, cursor=cursor), masks, request.actor),
        lambda page: [fields_of(seen) for seen in page.records],
    )


def _messages(request: PageRequest, topic: str, chosen: MessageFilter, *, whole: bool) -> Response:
    definition, role = flow_of_topic(request, topic)
    partitions = 1 if role == "control" else definition.partitions
    connection = request.services.connection
    shown = message_page(connection, topic, partitions, definition, chosen, request.actor)
    values: dict[str, Any] = {
        "topic": topic,
        "flow": definition.name,
        "meaning": CONTENTS[role],
        "partitions": partitions,
        "messages": shown,
        "where": f"/topics/{topic}",
    }
    if whole:
        status = 422 if shown.errors else 200
        return request.page("messages.html", here="/topics", status=status, **values)
    return request.fragment("messages_body.html", **values)
