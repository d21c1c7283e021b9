"""Overview, and what every page shows around its own."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.responses import Response

from holdfast.dashboard.live import changes_of, stream
from holdfast.dashboard.pages.overview import overview
from holdfast.dashboard.visit import Administering, Viewing
from holdfast.flows.registry import Overflow


def add(router: APIRouter) -> None:
    @router.get("/")
    def page(visit: Viewing) -> Response:
        stream = visit.live()
        shown = overview(visit.flows(), visit.now)
        return visit.page("overview.html", here="/", page=shown, stream=stream)

    @router.get("/fragments/overview")
    def body(visit: Viewing) -> Response:
        shown = overview(visit.flows(), visit.now)
        return visit.fragment("overview_body.html", page=shown)

    @router.get("/fragments/side")
    def side(visit: Viewing, here: Annotated[str, Query(max_length=200)] = "/") -> Response:
        return visit.side(here)

    @router.get("/live")
    async def live(visit: Viewing, after: Annotated[str, Query(max_length=40)] = "") -> Response:
        return stream(changes_of(visit.services.views.changes, after))

    @router.post("/flows")
    def create(
        visit: Administering,
        name: Annotated[str, Form(max_length=100)],
        partitions: Annotated[int, Form()],
        overflow: Annotated[Overflow, Form()] = "block",
    ) -> Response:
        visit.services.client.flow(name).create(partitions=partitions, overflow=overflow)
        return Response(headers={"HX-Redirect": "/"})
