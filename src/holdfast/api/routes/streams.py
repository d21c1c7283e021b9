"""`/changes`: live changes, as server-sent events."""

from contextlib import nullcontext
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query

from holdfast.api.parameters import ServicesOf, View, Viewer, ready
from holdfast.api.problems import problems
from holdfast.api.streaming import EventStream
from holdfast.views.changes import ChangeKind

router = APIRouter(tags=["live"])

_EXAMPLE = (
    'event: key\nid: 3f9c0a1b2c4d-17\ndata: {"flow":"orders","key":"customer-7","state":"HELD"}\n\n'
)
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events. `ready` comes first; `reset` says that changes were "
        "missed, and that what is shown has to be read anew. Sent again as `Last-Event-ID`, the "
        "id of the last event resumes after it.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE}},
    },
    **problems(404),
}

LastEventId = Annotated[
    str | None,
    Header(max_length=100, description="The id of the last event that was seen, to resume."),
]

_OF_FLOW = (
    ChangeKind.KEY,
    ChangeKind.REQUESTED,
    ChangeKind.EFFECTIVE,
    ChangeKind.RATES,
    ChangeKind.HEALTH,
    ChangeKind.FLOW,
)
_OF_ALL = (ChangeKind.RATES, ChangeKind.HEALTH, ChangeKind.FLOW)


@router.get(
    "/changes",
    summary="Live: all flows",
    responses=STREAM,
    status_code=200,
    response_class=EventStream,
)
async def all_changes(
    services: ServicesOf,
    _: Viewer,
    last_event_id: LastEventId = None,
) -> EventStream:
    """Rates each second (`rates`), health (`health`), and flows that come, change and go
    (`flow`)."""
    ready(services)
    changes = services.views.changes
    return EventStream(nullcontext(changes), _OF_ALL, last_event_id)


@router.get(
    "/flows/{flow}/changes",
    summary="Live: one flow",
    responses=STREAM,
    status_code=200,
    response_class=EventStream,
)
async def flow_changes(
    view: View,
    _: Viewer,
    last_event_id: LastEventId = None,
    kind: Annotated[
        list[ChangeKind] | None, Query(description="Only these kinds; may be repeated.")
    ] = None,
) -> EventStream:
    """Keys (`key`), commands (`requested`), outcomes (`effective`), `rates`, `health`, `flow`."""
    kinds = kind or _OF_FLOW
    return EventStream(nullcontext(view.changes), kinds, last_event_id)
