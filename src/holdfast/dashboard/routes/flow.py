"""Flow: the page, its parts, and its stream."""

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Form, Query
from starlette.responses import Response

from holdfast.control.event_stream import stream
from holdfast.control.exports import ExportForm, key_row_fields
from holdfast.dashboard.downloads import all_rows, download
from holdfast.dashboard.forms import EXPIRIES, keys_of_lines, trimmed_lines
from holdfast.dashboard.lanes import LANE_ROWS
from holdfast.dashboard.live import flow_with_lanes, live_address
from holdfast.dashboard.page_request import OperatorRequest, ViewerRequest
from holdfast.dashboard.pages.flow import (
    KeyFilter,
    flow_glance,
    flow_page,
    key_lines,
    key_table,
    prefix_lines,
)
from holdfast.dashboard.routes.page_route import page_router
from holdfast.flows.keys import drawn
from holdfast.views.keys import MAX_PAGE, KeySort

_LOOKED_UP = 5


def key_filter(
    text: Annotated[str, Query(max_length=500)] = "",
    show: Annotated[str, Query(max_length=20)] = "all",
    sort: KeySort = KeySort.SINCE,
    order: Annotated[str, Query(max_length=4)] = "desc",
    cursor: Annotated[str | None, Query(max_length=10_000)] = None,
) -> KeyFilter:
    """The filter of the table, from the page's address."""
    return KeyFilter(
        show=show, search=text, sort=sort, descending=order != "asc", cursor=cursor or None
    )


Chosen = Annotated[KeyFilter, Depends(key_filter)]


router = page_router()


@router.get("/flows/{flow}")
def page(request: ViewerRequest, flow: str, chosen: Chosen) -> Response:
    view = request.flow(flow)
    stream = live_address(f"/flows/{flow}/live", view.changes)
    return request.page(
        "flow.html",
        here=f"/flows/{flow}",
        flow=flow,
        page=flow_page(view, request.now),
        table=key_table(view, chosen),
        prefixes=prefix_lines(view),
        lane_rows=LANE_ROWS,
        expiries=EXPIRIES,
        stream=stream,
    )


@router.get("/flows/{flow}/live")
async def live(
    request: ViewerRequest, flow: str, after: Annotated[str, Query(max_length=40)] = ""
) -> Response:
    return stream(flow_with_lanes(request.services, request.flow(flow), request.actor, after))


@router.get("/flows/{flow}/fragments/keys")
def keys(request: ViewerRequest, flow: str, chosen: Chosen) -> Response:
    table = key_table(request.flow(flow), chosen)
    answer = request.fragment("flow_keys.html", flow=flow, table=table)
    address = chosen.address()
    answer.headers["HX-Replace-Url"] = f"/flows/{flow}" + (f"?{address}" if address else "")
    return answer


@router.get("/flows/{flow}/export")
def export(request: ViewerRequest, flow: str, chosen: Chosen, form: ExportForm) -> Response:
    view = request.flow(flow)
    query = chosen.at(None).query(limit=MAX_PAGE)
    rows = all_rows(
        lambda cursor: view.keys(replace(query, cursor=cursor)),
        lambda page: [key_row_fields(row) for row in page.rows],
    )
    return download(f"{flow}-held", rows, form)


@router.get("/flows/{flow}/fragments/state")
def state(request: ViewerRequest, flow: str) -> Response:
    return request.fragment("flow_state.html", page=flow_glance(request.flow(flow)))


@router.get("/flows/{flow}/fragments/stats")
def stats(request: ViewerRequest, flow: str) -> Response:
    return request.fragment("flow_stats.html", page=flow_glance(request.flow(flow)))


@router.get("/flows/{flow}/fragments/activity")
def activity(request: ViewerRequest, flow: str) -> Response:
    return request.fragment("flow_activity.html", page=flow_page(request.flow(flow), request.now))


@router.post("/flows/{flow}/fragments/lookup")
def lookup(
    request: OperatorRequest,
    flow: str,
    keys: Annotated[str, Form()] = "",
    keep_space: Annotated[bool, Form()] = False,
) -> Response:
    view = request.flow(flow)
    named = keys_of_lines(keys, keep_space=keep_space)
    spaced = [drawn(line) for line in trimmed_lines(keys)]
    rows = [view.key(key).row for key in named[:_LOOKED_UP]]
    more = len(named) - len(rows)
    return request.fragment(
        "lookup.html",
        flow=flow,
        lines=key_lines(view, rows),
        more=more,
        spaced=spaced,
        keep_space=keep_space,
    )
