"""`/changes`: live changes, as server-sent events."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Header, Query

from holdfast.api.parameters import ServicesOf, View, Viewer
from holdfast.api.streaming import EventStream
from holdfast.control.event_stream import MEDIA_TYPE
from holdfast.control.problems import problems
from holdfast.views.changes import ChangeKind

router = APIRouter(tags=["live"])

_EXAMPLE = (
    'event: key\nid: 3f9c0a1b2c4d-17\ndata: {"flow":"orders","key":"customer-7","state":"HELD"}\n\n'
)
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events. `ready` comes first; `reset` says that changes were "
        "missed, and everything has to be loaded again. Sent again as `Last-Event-ID`, the "
        "id of the last event resumes after it.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": _EXAMPLE}},
    },
    **problems(404),
}

LastEventId = Annotated[
    str | None,
    Header(max_length=100, description="The id of the last event that was seen, to resume."),
]

_Route = TypeVar("_Route", bound=Callable[..., Any])


def stream_route(router: APIRouter, path: str, summary: str) -> Callable[[_Route], _Route]:
    """A route that answers with server-sent events."""
    return router.get(
        path, summary=summary, responses=_STREAM, status_code=200, response_class=EventStream
    )


_OF_FLOW = (
    ChangeKind.KEY,
    ChangeKind.REQUESTED,
    ChangeKind.EFFECTIVE,
    ChangeKind.RATES,
    ChangeKind.HEALTH,
    ChangeKind.FLOW,
)
_OF_ALL = (ChangeKind.RATES, ChangeKind.HEALTH, ChangeKind.FLOW)


@stream_route(router, "/changes", "Live: all flows")
async def all_changes(
    services: ServicesOf,
    _: Viewer,
    last_event_id: LastEventId = None,
) -> EventStream:
    """Rates each second (`rates`), health (`health`), and flows that come, change and go
    (`flow`)."""
    changes = services.ready_views().changes
    return EventStream(nullcontext(changes), _OF_ALL, last_event_id)


@stream_route(router, "/flows/{flow}/changes", "Live: one flow")
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
