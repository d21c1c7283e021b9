"""Consumer groups and their lag."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from holdfast.client.groups import Groups
from holdfast.dashboard.page_request import ViewerRequest
from holdfast.dashboard.pages.groups import group_lines
from holdfast.dashboard.routes.page_route import page_router

router = page_router()


@router.get("/groups")
def page(request: ViewerRequest, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
    flows = [view.name for view in request.flows()]
    return request.page(
        "groups.html",
        here="/groups",
        flow=flow,
        flows=flows,
        charted=[flow] if flow in flows else flows,
        lines=group_lines(request, flow),
        stream=request.live(),
    )


@router.get("/groups/fragments/list")
def listing(request: ViewerRequest, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
    return request.fragment("groups_list.html", flow=flow, lines=group_lines(request, flow))


@router.get("/groups/{group}")
def one(request: ViewerRequest, group: str) -> Response:
    description = Groups(request.services.connection).describe(group)
    return request.page("group.html", here="/groups", group=description)


@router.get("/groups/{group}/fragments/group")
def part(request: ViewerRequest, group: str) -> Response:
    description = Groups(request.services.connection).describe(group)
    return request.fragment("group_body.html", group=description)


@router.get("/flows/{flow}/fragments/series.json")
def series(request: ViewerRequest, flow: str) -> dict[str, list[float]]:
    samples = request.flow(flow).series.samples()
    return {
        "at": [sample.at / 1000 for sample in samples],
        "in": [sample.incoming for sample in samples],
        "out": [sample.outgoing for sample in samples],
        "held": [sample.held_events for sample in samples],
        "lag": [sample.lag for sample in samples],
    }
