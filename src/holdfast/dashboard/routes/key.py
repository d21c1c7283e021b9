"""Key: the page, its parts, and its stream."""

from typing import Annotated, Any

from fastapi import Depends, Path, Query
from starlette.responses import Response

from holdfast.control.event_stream import stream
from holdfast.control.key_paths import key_from_path
from holdfast.control.sightings import sightings
from holdfast.dashboard.forms import EXPIRIES
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.live import changes_of, live_address
from holdfast.dashboard.page_request import PageRequest, ViewerRequest
from holdfast.dashboard.pages.key import (
    SPAN_TITLES,
    buffered_events,
    key_page,
    timeline_with_events,
)
from holdfast.dashboard.routes.page_route import page_router
from holdfast.dashboard.timeline import fitting_span, held_since
from holdfast.views.changes import Change, ChangeKind

_OF_A_KEY = (ChangeKind.KEY, ChangeKind.REQUESTED, ChangeKind.EFFECTIVE)


def _key(key: Annotated[str, Path(max_length=100_000)]) -> bytes:
    return key_from_path(key)


Key = Annotated[bytes, Depends(_key)]
Span = Annotated[str, Query(pattern="^(5m|15m|1h|6h|24h|all)$")]
Start = Annotated[str, Query(max_length=40)]
Event = Annotated[str, Query(max_length=40)]


router = page_router()


@router.get("/flows/{flow}/keys/{key}")
def page(
    request: ViewerRequest,
    flow: str,
    key: Key,
    span: Span | None = None,
    start: Start = "",
    event: Event = "",
) -> Response:
    view = request.flow(flow)
    stream = live_address(f"{KeyName(key).path(flow)}/live", view.changes)
    shown = key_page(view, key, request.now, request.actor)
    since = held_since(view.key(key).history) or shown.row.oldest or shown.row.since
    span = span or fitting_span(since, request.now)
    return request.page(
        "key.html",
        here=f"/flows/{flow}",
        flow=flow,
        page=shown,
        line=None,  # it is looked for in the topic, so the page does not wait for it
        buffered=buffered_events(request, view, key, start, event, span),
        span=span,
        spans=SPAN_TITLES,
        expiries=EXPIRIES,
        stream=stream,
    )


@router.get("/flows/{flow}/keys/{key}/live")
async def live(
    request: ViewerRequest, flow: str, key: Key, after: Annotated[str, Query(max_length=40)] = ""
) -> Response:
    def wanted(change: Change) -> bool:
        return change.kind not in _OF_A_KEY or change.item.key == key

    view = request.flow(flow)
    views = request.services.views
    return stream(changes_of(views, view.changes, after, [view], wanted))


@router.get("/flows/{flow}/keys/{key}/fragments/head")
def head(request: ViewerRequest, flow: str, key: Key) -> Response:
    return _part(request, "key_head.html", flow, key)


@router.get("/flows/{flow}/keys/{key}/fragments/holds")
def holds(
    request: ViewerRequest,
    flow: str,
    key: Key,
    verb: Annotated[str, Query(pattern="^(release|extend)$")],
) -> Response:
    return _part(request, "holds_choice.html", flow, key, verb=verb)


@router.get("/flows/{flow}/keys/{key}/fragments/seen")
def seen(request: ViewerRequest, flow: str, key: Key) -> Response:
    found = sightings(request.services.connection, request.flow(flow).definition, key, request.now)
    return request.fragment("seen.html", found=found)


@router.get("/flows/{flow}/keys/{key}/fragments/history")
def history(request: ViewerRequest, flow: str, key: Key) -> Response:
    return _part(request, "key_history.html", flow, key)


@router.get("/flows/{flow}/keys/{key}/fragments/timeline")
def picture(request: ViewerRequest, flow: str, key: Key, span: Span = "1h") -> Response:
    line = timeline_with_events(request, request.flow(flow), key, span)
    return _part(request, "key_timeline.html", flow, key, line=line, span=span, spans=SPAN_TITLES)


@router.get("/flows/{flow}/keys/{key}/fragments/events")
def events(
    request: ViewerRequest,
    flow: str,
    key: Key,
    span: Span = "1h",
    start: Start = "",
    event: Event = "",
) -> Response:
    buffered = buffered_events(request, request.flow(flow), key, start, event, span)
    return _part(request, "key_events.html", flow, key, buffered=buffered, span=span)


def _part(request: PageRequest, template: str, flow: str, key: bytes, **values: Any) -> Response:
    page = key_page(request.flow(flow), key, request.now, request.actor)
    return request.fragment(template, flow=flow, page=page, **values)
