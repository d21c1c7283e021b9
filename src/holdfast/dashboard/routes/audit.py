"""Audit: all commands and their outcomes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Query
from starlette.responses import Response

from holdfast.control.exports import MOST_ROWS, ExportForm, audit_fields
from holdfast.control.key_paths import key_to_path
from holdfast.dashboard.downloads import download
from holdfast.dashboard.page_request import ViewerRequest
from holdfast.dashboard.pages.audit import AuditFilter, audit_lines, audit_rows
from holdfast.dashboard.routes.page_route import page_router
from holdfast.flows.journal import Outcome
from holdfast.views.audit import COMMANDS, MAX_PAGE

router = page_router()


def _filter(
    flow: Annotated[str, Query(max_length=100)] = "",
    text: Annotated[str, Query(max_length=500)] = "",
    key: Annotated[str, Query(max_length=100_000)] = "",
    named: Annotated[str, Query(max_length=65_536)] = "",
    actor: Annotated[str, Query(max_length=200)] = "",
    command: Annotated[str, Query(max_length=20)] = "",
    outcome: Annotated[str, Query(max_length=20)] = "",
    since: Annotated[str, Query(max_length=40)] = "",
    until: Annotated[str, Query(max_length=40)] = "",
    zone: Annotated[str, Query(max_length=10)] = "",
) -> AuditFilter:
    """The filter, from the page's address. `named` is a key as somebody types it."""
    return AuditFilter(
        flow=flow,
        text=text,
        key=key_to_path(named.encode()) if named else key,
        actor=actor,
        command=command,
        outcome=outcome,
        since=since,
        until=until,
        zone=zone,
    )


_Chosen = Annotated[AuditFilter, Depends(_filter)]


@router.get("/audit")
async def page(
    request: ViewerRequest, chosen: _Chosen, cursor: Annotated[str, Query(max_length=400)] = ""
) -> Response:
    audit = await audit_lines(request, chosen, cursor)
    return request.page(
        "audit.html",
        here="/audit",
        status=422 if audit.errors else 200,
        flows=[view.name for view in request.flows()],
        given=chosen,
        commands=COMMANDS,
        outcomes=list(Outcome),
        audit=audit,
        cursor=cursor,
        stream=request.live(),
    )


@router.get("/audit/export")
async def export(request: ViewerRequest, chosen: _Chosen, form: ExportForm) -> Response:
    query = chosen.query(limit=MAX_PAGE)
    rows: list[Mapping[str, Any]] = []
    while len(rows) <= MOST_ROWS:
        page = await audit_rows(request, chosen, query)
        rows += [audit_fields(found.flow, found.row) for found in page.rows]
        if page.cursor is None:
            break
        query = replace(query, cursor=page.cursor)
    return download(f"audit-{chosen.flow or 'all-flows'}", iter(rows), form)
