"""Overview, and what every page shows around its own."""

from typing import Annotated

from fastapi import Form, Query
from starlette.responses import Response

from holdfast.control.event_stream import stream
from holdfast.dashboard.forms import options_of_form
from holdfast.dashboard.live import changes_of
from holdfast.dashboard.page_request import AdminRequest, FormFields, ViewerRequest
from holdfast.dashboard.pages.overview import overview
from holdfast.dashboard.routes.page_route import page_router
from holdfast.flows.registry import FlowDefinition

router = page_router()


@router.get("/")
def page(request: ViewerRequest) -> Response:
    stream = request.live()
    shown = overview(request.flows(), request.now)
    return request.page("overview.html", here="/", page=shown, stream=stream)


@router.get("/fragments/overview")
def body(request: ViewerRequest) -> Response:
    shown = overview(request.flows(), request.now)
    return request.fragment("overview_body.html", page=shown)


@router.get("/fragments/side")
def side(request: ViewerRequest, here: Annotated[str, Query(max_length=200)] = "/") -> Response:
    return request.side(here)


@router.get("/live")
async def live(
    request: ViewerRequest, after: Annotated[str, Query(max_length=40)] = ""
) -> Response:
    views = request.services.views
    return stream(changes_of(views, views.changes, after, views.flows()))


@router.post("/flows")
def create(
    request: AdminRequest, name: Annotated[str, Form(max_length=100)], form: FormFields
) -> Response:
    request.services.client.flow(name).create(**options_of_form(FlowDefinition, form))
    return Response(headers={"HX-Redirect": "/"})
