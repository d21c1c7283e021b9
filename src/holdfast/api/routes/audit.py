"""`/audit`, `/flows/{flow}/audit`: the control logs and the journals, with filters."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from holdfast.api.models import Audit, Model
from holdfast.api.parameters import Cursor, KeyFilter, ServicesOf, SpanOf, View, Viewer
from holdfast.control.audit import FlowRow, audit_of_flows, audit_page
from holdfast.control.problems import problems
from holdfast.flows.journal import Outcome
from holdfast.views.audit import MAX_PAGE, AuditQuery

router = APIRouter(tags=["audit"])

CommandName = Literal[
    "", "hold", "release", "dead-letter", "void", "skip", "hold-prefix", "release-prefix", "pause",
    "resume",
]  # fmt: skip


class AuditOut(Model):
    rows: list[Audit] = Field(description="Newest first.")
    cursor: str | None = Field(description="For the next page; null if there is nothing more.")
    stopped_early: bool = Field(
        description="The search was long enough: the cursor goes on from where it stopped."
    )


class FlowAudit(Audit):
    """A record of the control log or of the journal of a flow."""

    flow: str = Field(examples=["orders"])

    @classmethod
    def of(cls, found: FlowRow) -> "FlowAudit":
        return cls(**dict(Audit.model_validate(found.row)), flow=found.flow)


class FlowsAuditOut(Model):
    rows: list[FlowAudit] = Field(description="Newest first.")
    cursor: str | None = Field(description="For the next page; null if there is nothing more.")
    stopped_early: bool = Field(
        description="The search was long enough: the cursor goes on from where it stopped."
    )


def _query(
    key: KeyFilter,
    span: SpanOf,
    actor: Annotated[str, Query(max_length=200, description="Who asked.")] = "",
    command: Annotated[CommandName, Query(description="What was asked.")] = "",
    command_id: Annotated[str, Query(max_length=64)] = "",
    outcome: Annotated[Outcome | None, Query(description="What came of it.")] = None,
    log: Annotated[
        Literal["control", "journal"] | None,
        Query(description="`control`: what was asked. `journal`: what came of it."),
    ] = None,
    text: Annotated[
        str, Query(max_length=1_000, description="Part of key, actor, reason or note.")
    ] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    cursor: Cursor = None,
) -> AuditQuery:
    return AuditQuery(
        key=key,
        actor=actor,
        command=command,
        command_id=command_id,
        outcome=outcome,
        log=log,
        search=text,
        since=span.since,
        until=span.until,
        limit=limit,
        cursor=cursor,
    )


_Query = Annotated[AuditQuery, Depends(_query)]


@router.get("/flows/{flow}/audit", summary="Audit", responses=problems(404))
async def audit(view: View, services: ServicesOf, viewer: Viewer, query: _Query) -> AuditOut:
    """Commands with their actor and time, their outcomes, and the events from which they apply."""
    page = await audit_page(services, view, query, viewer)
    return AuditOut(
        rows=[Audit.model_validate(row) for row in page.rows],
        cursor=page.cursor,
        stopped_early=page.stopped_early,
    )


@router.get("/audit", summary="Audit of all flows")
async def audit_of_all(services: ServicesOf, viewer: Viewer, query: _Query) -> FlowsAuditOut:
    """The audits of all flows in one list, newest first."""
    views = services.ready_views().flows()
    page = await audit_of_flows(services, views, query, viewer)
    return FlowsAuditOut(
        rows=[FlowAudit.of(row) for row in page.rows],
        cursor=page.cursor,
        stopped_early=page.stopped_early,
    )
