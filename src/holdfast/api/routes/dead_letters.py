"""`/flows/{flow}/dead-letters`: events that were not processed, and why."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from holdfast.api.models import Model, Moment, RecordOut
from holdfast.api.parameters import Cursor, ServicesOf, SpanOf, View, Viewer
from holdfast.api.routes.records import (
    FilterOf,
    PageOut,
    PartitionOf,
    show_record,
)
from holdfast.control.dead_letters import letter_groups, letters
from holdfast.control.problems import problems
from holdfast.control.records import MAX_PAGE

router = APIRouter(tags=["dead letters"])

_Reason = Annotated[
    str, Query(max_length=500, description="The kind of error.", examples=["invalid"])
]


class ReasonOut(Model):
    """Dead letters of one kind of error, with messages that differ only in numbers and quotes."""

    reason: str = Field(examples=["invalid"])
    pattern: str = Field(
        description="The message, with … for each number and each quoted text.",
        examples=["The field … is missing."],
    )
    message: str = Field(description="Of the newest.", examples=["The field 'id' is missing."])
    count: int = Field(examples=[3])
    newest: Moment
    partition: int = Field(description="Where the newest stands.")
    offset: int


class ReasonsOut(Model):
    reasons: list[ReasonOut] = Field(description="Most frequent first.")
    looked_at: int
    stopped_early: str = Field(
        description="Why only the newest were counted; empty if all were.", examples=[""]
    )


@router.get("/flows/{flow}/dead-letters", summary="Browse dead letters", responses=problems(404))
async def browse_dead_letters(
    view: View,
    services: ServicesOf,
    actor: Viewer,
    wanted: FilterOf,
    span: SpanOf,
    reason: _Reason = "",
    message: Annotated[
        str, Query(max_length=3_000, description="The `pattern` of a group of reasons.")
    ] = "",
    partition: PartitionOf = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    cursor: Cursor = None,
) -> PageOut:
    """Newest first; each has its kind of error, the message, and the event it was made of."""
    page = await asyncio.to_thread(
        letters,
        services.connection,
        view.definition,
        actor,
        reason=reason,
        message=message,
        partition=partition,
        span=span,
        wanted=wanted,
        limit=limit,
        cursor=cursor,
    )
    return PageOut.of(page)


@router.get(
    "/flows/{flow}/dead-letters/reasons", summary="Why there are dead letters",
    responses=problems(404),
)  # fmt: skip
async def dead_letter_reasons(view: View, services: ServicesOf, actor: Viewer) -> ReasonsOut:
    """Grouped by the kind of error and the message, of the newest 50,000 or so."""
    found = await asyncio.to_thread(letter_groups, services.connection, view.definition, actor)
    return ReasonsOut(
        reasons=[ReasonOut.model_validate(group) for group in found.groups],
        looked_at=found.looked_at,
        stopped_early=found.stopped_early,
    )


@router.get(
    "/flows/{flow}/dead-letters/{partition}/{offset}",
    summary="One dead letter in full",
    responses=problems(404),
)
async def show_dead_letter(
    view: View,
    partition: Annotated[int, Path(ge=0, le=2**31 - 1)],
    offset: Annotated[int, Path(ge=0, le=2**63 - 1)],
    services: ServicesOf,
    actor: Viewer,
) -> RecordOut:
    """With its whole value, and every header."""
    return await show_record(view, "dlq", partition, offset, services, actor)
