"""`/flows/{flow}/dead-letters`: what could not go on, and why."""

import asyncio
from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from holdfast.api.browsing import MAX_PAGE, Browse, Seen, browse
from holdfast.api.models import GivenTime, Model, Moment, RecordOut, milliseconds, moment
from holdfast.api.parameters import Cursor, ServicesOf, View, Viewer
from holdfast.api.problems import problems
from holdfast.api.routes.records import (
    FilterOf,
    PageOut,
    PartitionOf,
    TopicRole,
    browse_page,
    chosen_partitions,
    show_record,
)
from holdfast.client.dead_letters import ERROR, MESSAGE

router = APIRouter(tags=["dead letters"])

_Reason = Annotated[
    str, Query(max_length=500, description="The kind of error.", examples=["invalid"])
]


class ReasonOut(Model):
    """Dead letters of one kind."""

    reason: str = Field(examples=["invalid"])
    message: str = Field(description="Of the newest.", examples=["The field 'id' is missing."])
    count: int = Field(examples=[3])
    newest: Moment | None
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
    reason: _Reason = "",
    partition: PartitionOf = None,
    since: Annotated[GivenTime | None, Query(description="Not older than this.")] = None,
    until: Annotated[GivenTime | None, Query(description="Older than this.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    cursor: Cursor = None,
) -> PageOut:
    """Newest first; each says what kind of error it is, why, and which event it was made of."""
    query = Browse(
        topic=view.names.dlq,
        partitions=await chosen_partitions(services, view.names.dlq, partition),
        since=milliseconds(since),
        until=milliseconds(until),
        filter=wanted,
        wanted=(lambda seen: _reason(seen) == reason) if reason else None,
        limit=limit,
        cursor=cursor,
    )
    return await browse_page(services, view, query, actor)


@router.get(
    "/flows/{flow}/dead-letters/reasons", summary="Why there are dead letters",
    responses=problems(404),
)  # fmt: skip
async def dead_letter_reasons(view: View, services: ServicesOf, actor: Viewer) -> ReasonsOut:
    """Grouped by the kind of error, of the newest 50,000 or so."""
    counts: Counter[str] = Counter()
    newest: dict[str, Seen] = {}

    def count(seen: Seen) -> bool:
        reason = _reason(seen)
        counts[reason] += 1
        if reason not in newest or seen.time >= newest[reason].time:
            newest[reason] = seen
        return False  # counted, and not kept

    query = Browse(
        topic=view.names.dlq,
        partitions=await chosen_partitions(services, view.names.dlq, None),
        wanted=count,
    )
    page = await asyncio.to_thread(browse, services.connection, query, view.definition.masks, actor)
    return ReasonsOut(
        reasons=[
            ReasonOut(
                reason=reason,
                message=_header(newest[reason], MESSAGE),
                count=number,
                newest=moment(newest[reason].time),
                partition=newest[reason].record.partition,
                offset=newest[reason].record.offset,
            )
            for reason, number in counts.most_common()
        ],
        looked_at=page.looked_at,
        stopped_early=page.stopped_early,
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
    return await show_record(view, TopicRole.DLQ, partition, offset, services, actor)


def _reason(seen: Seen) -> str:
    return _header(seen, ERROR)


def _header(seen: Seen, name: str) -> str:
    return (seen.record.header(name) or b"").decode(errors="replace")
