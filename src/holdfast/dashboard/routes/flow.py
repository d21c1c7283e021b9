"""Flow: the page, its parts, and its stream."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query
from starlette.responses import Response

from holdfast.dashboard.forms import EXPIRIES, keys_of_lines
from holdfast.dashboard.lanes import LANE_ROWS
from holdfast.dashboard.live import flow_with_lanes, live_address, stream
from holdfast.dashboard.pages.flow import (
    KeyFilter,
    flow_glance,
    flow_page,
    key_lines,
    key_table,
)
from holdfast.dashboard.visit import Operating, Viewing
from holdfast.views.keys import KeySort

_LOOKED_UP = 5


def key_filter(
    q: Annotated[str, Query(max_length=500)] = "",
    show: Annotated[str, Query(max_length=20)] = "all",
    sort: KeySort = KeySort.SINCE,
    order: Annotated[str, Query(max_length=4)] = "desc",
    cursor: Annotated[str | None, Query(max_length=10_000)] = None,
) -> KeyFilter:
    """What the table shows, from the page's address."""
    return KeyFilter(
        show=show, search=q, sort=sort, descending=order != "asc", cursor=cursor or None
    )


Chosen = Annotated[KeyFilter, Depends(key_filter)]


def add(router: APIRouter) -> None:
    @router.get("/flows/{flow}")
    def page(visit: Viewing, flow: str, chosen: Chosen) -> Response:
        view = visit.flow(flow)
        stream = live_address(f"/flows/{flow}/live", view.changes)
        return visit.page(
            "flow.html",
            here=f"/flows/{flow}",
            flow=flow,
            page=flow_page(view, visit.now),
            table=key_table(view, chosen),
            lane_rows=LANE_ROWS,
            expiries=EXPIRIES,
            stream=stream,
        )

    @router.get("/flows/{flow}/live")
    async def live(
        visit: Viewing, flow: str, after: Annotated[str, Query(max_length=40)] = ""
    ) -> Response:
        return stream(flow_with_lanes(visit.services, visit.flow(flow), visit.actor, after))

    @router.get("/flows/{flow}/fragments/keys")
    def keys(visit: Viewing, flow: str, chosen: Chosen) -> Response:
        table = key_table(visit.flow(flow), chosen)
        answer = visit.fragment("flow_keys.html", flow=flow, table=table)
        address = chosen.address()
        answer.headers["HX-Replace-Url"] = f"/flows/{flow}" + (f"?{address}" if address else "")
        return answer

    @router.get("/flows/{flow}/fragments/state")
    def state(visit: Viewing, flow: str) -> Response:
        return visit.fragment("flow_state.html", page=flow_glance(visit.flow(flow)))

    @router.get("/flows/{flow}/fragments/stats")
    def stats(visit: Viewing, flow: str) -> Response:
        return visit.fragment("flow_stats.html", page=flow_glance(visit.flow(flow)))

    @router.get("/flows/{flow}/fragments/activity")
    def activity(visit: Viewing, flow: str) -> Response:
        return visit.fragment("flow_activity.html", page=flow_page(visit.flow(flow), visit.now))

    @router.post("/flows/{flow}/fragments/lookup")
    def lookup(visit: Operating, flow: str, keys: Annotated[str, Form()] = "") -> Response:
        view = visit.flow(flow)
        named = keys_of_lines(keys)
        rows = [view.key(key).row for key in named[:_LOOKED_UP]]
        more = len(named) - len(rows)
        return visit.fragment("lookup.html", flow=flow, lines=key_lines(view, rows), more=more)
