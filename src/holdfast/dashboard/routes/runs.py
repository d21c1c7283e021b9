"""Runs: replays, backfills, redrives and audits, their progress, and the forms that request
them."""

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.client.positions import Partition
from holdfast.control.json_values import content_of
from holdfast.control.records import read_one
from holdfast.control.runs import request_run
from holdfast.dashboard.forms import spec_of_form
from holdfast.dashboard.page_request import FormFields, OperatorRequest, ViewerRequest
from holdfast.dashboard.pages.runs import run_line, run_lines
from holdfast.dashboard.routes.page_route import page_router
from holdfast.errors import NotFoundError
from holdfast.flows.run_specs import KINDS, ORDER_CAVEAT, Coordinate

router = page_router()


@router.get("/runs")
def page(request: ViewerRequest, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
    flows = [view.name for view in request.flows()]
    return request.page(
        "runs.html", here="/runs", flow=flow, flows=flows, lines=run_lines(request, flow)
    )


@router.get("/runs/fragments/list")
def listing(request: ViewerRequest, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
    return request.fragment("runs_list.html", flow=flow, lines=run_lines(request, flow))


@router.get("/runs/{run}")
def one(request: ViewerRequest, run: str) -> Response:
    return request.page(
        "run.html", here="/runs", line=run_line(request, request.services.runs.get(run))
    )


@router.get("/runs/{run}/fragments/run")
def part(request: ViewerRequest, run: str) -> Response:
    return request.fragment("run_body.html", line=run_line(request, request.services.runs.get(run)))


@router.post("/runs/{run}/cancel")
async def cancel(request: OperatorRequest, run: str) -> Response:
    runs = request.services.client.runs
    cancelled = await run_in_threadpool(runs.cancel, run, actor=request.actor.name)
    return request.fragment("run_body.html", line=run_line(request, cancelled))


@router.post("/flows/{flow}/runs/{kind}")
async def start(request: OperatorRequest, form: FormFields, flow: str, kind: str) -> Response:
    """Requests the run and redirects to its page."""
    if kind not in KINDS:
        raise NotFoundError(f"There is no kind of run {kind!r}.")
    spec = spec_of_form(KINDS[kind], form, request.now)
    run = await request_run(request.services, request.flow(flow).name, spec, request.actor)
    await run_in_threadpool(request.services.runs.wait_for, run.id)
    return Response(headers={"HX-Redirect": f"/runs/{run.id}"})


@router.get("/flows/{flow}/fragments/redrive")
def redrive_dialog(
    request: OperatorRequest,
    flow: str,
    letter: Annotated[list[str] | None, Query(max_length=500)] = None,
    reason: Annotated[str, Query(max_length=500)] = "",
    message: Annotated[str, Query(max_length=3_000)] = "",
) -> Response:
    view = request.flow(flow)
    coordinates = [Coordinate.parse(text) for text in letter or ()]
    value: str | None = None
    if len(coordinates) == 1:
        [place] = coordinates
        topic = Partition(view.names.dlq, place.partition)
        seen = read_one(
            request.services.connection, topic, place.offset, view.definition.masks, request.actor
        )
        value = content_of(seen.value, None).text
    return request.fragment(
        "redrive.html",
        flow=flow,
        letters=[str(each) for each in coordinates],
        reason=reason,
        message=message,
        value=value,
        caveat=ORDER_CAVEAT,
    )
