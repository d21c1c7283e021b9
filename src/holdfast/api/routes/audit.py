"""`/flows/{flow}/audit`: the control log and the journal, readable and filterable."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.api.auditing import audit_page
from holdfast.api.models import Audit, GivenTime, Model, milliseconds
from holdfast.api.parameters import Cursor, KeyFilter, ServicesOf, View, Viewer
from holdfast.api.problems import problems
from holdfast.flows.journal import Outcome
from holdfast.views.audit import MAX_PAGE, AuditQuery

router = APIRouter(tags=["audit"])


class AuditOut(Model):
    rows: list[Audit] = Field(description="Newest first.")
    cursor: str | None = Field(description="For the next page; null if there is nothing more.")
    stopped_early: bool = Field(
        description="The search was long enough: the cursor goes on from where it stopped."
    )


@router.get("/flows/{flow}/audit", summary="Audit", responses=problems(404))
async def audit(
    view: View,
    services: ServicesOf,
    viewer: Viewer,
    key: KeyFilter,
    actor: Annotated[str, Query(max_length=200, description="Who asked.")] = "",
    command: Annotated[
        Literal["", "hold", "release", "dead-letter", "void"], Query(description="What was asked.")
    ] = "",
    command_id: Annotated[str, Query(max_length=64)] = "",
    outcome: Annotated[Outcome | None, Query(description="What came of it.")] = None,
    log: Annotated[
        Literal["control", "journal"] | None,
        Query(description="`control`: what was asked. `journal`: what came of it."),
    ] = None,
    search: Annotated[
        str, Query(max_length=1_000, description="Part of key, actor, reason or note.")
    ] = "",
    since: Annotated[GivenTime | None, Query(description="Not older than this.")] = None,
    until: Annotated[GivenTime | None, Query(description="Older than this.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    cursor: Cursor = None,
) -> AuditOut:
    """Who asked for what and when, what came of it, and from which event on."""
    query = AuditQuery(
        key=key,
        actor=actor,
        command=command,
        command_id=command_id,
        outcome=outcome,
        log=log,
        search=search,
        since=milliseconds(since),
        until=milliseconds(until),
        limit=limit,
        cursor=cursor,
    )
    page = await audit_page(services, view, query, viewer)
    return AuditOut(
        rows=[Audit.of(row) for row in page.rows],
        cursor=page.cursor,
        stopped_early=page.stopped_early,
    )
