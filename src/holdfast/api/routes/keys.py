"""`/flows/{flow}/keys`: what is held, why, since when, by whom, and how much."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.access.masks import visible_value
from holdfast.api.models import Audit, HeaderOut, KeyName, Model, Moment, Value, key_fields, moment
from holdfast.api.parameters import Cursor, KeyOfPath, ServicesOf, View, Viewer
from holdfast.api.problems import problems
from holdfast.client.held import Place, read_held
from holdfast.flows.status import Entry, KeyState
from holdfast.views.audit import HistoryItem
from holdfast.views.keys import MAX_PAGE, KeyQuery, KeyRow, KeySort

router = APIRouter(tags=["keys"])


class KeyOut(KeyName):
    """A key over all its partitions."""

    state: KeyState = Field(examples=[KeyState.HELD])
    reason: str = Field(examples=["payment disputed"])
    actor: str = Field(examples=["ana"])
    since: Moment | None
    expires_at: Moment | None
    pace: float | None = Field(description="Events a second, while it drains.")
    events: int = Field(description="How many are held.", examples=[12])
    bytes: int = Field(examples=[2_400])
    oldest: Moment | None = Field(description="The time of the first event that is still held.")
    overflow: bool = Field(description="It is at its limit.")
    foreign: bool = Field(
        description="Some events came by another partitioner than murmur2, and are held there."
    )
    partitions: list[int]
    pending: list[str] = Field(
        description="Commands that were requested and are not effective yet.", examples=[[]]
    )

    @classmethod
    def of(cls, row: KeyRow) -> "KeyOut":
        return cls(
            **key_fields(row.key),
            state=row.state,
            reason=row.reason,
            actor=row.actor,
            since=moment(row.since),
            expires_at=moment(row.expires_at),
            pace=row.pace,
            events=row.events,
            bytes=row.bytes,
            oldest=moment(row.oldest),
            overflow=row.overflow,
            foreign=row.foreign,
            partitions=list(row.partitions),
            pending=list(row.pending),
        )


class KeysOut(Model):
    keys: list[KeyOut]
    total: int = Field(description="All that match, on this page or not.", examples=[1])
    cursor: str | None = Field(description="For the next page; null if this is the last.")
    previous: str | None = Field(
        description="The `cursor` of the page before; null if this is the first."
    )


class EntryOut(Model):
    """The key in one partition."""

    partition: int
    state: KeyState
    command_id: str
    command_offset: int
    since: Moment | None
    cut: int = Field(description="The source offset from which it is in this state.")
    held_from: int = Field(description="Where its rows begin in held.")
    drained_through: int = Field(description="Source offset of the last that has left held.")
    dead_through: int
    events: int
    bytes: int

    @classmethod
    def of(cls, partition: int, entry: Entry) -> "EntryOut":
        return cls(
            partition=partition,
            state=entry.state,
            command_id=entry.command_id,
            command_offset=entry.command_offset,
            since=moment(entry.since),
            cut=entry.cut,
            held_from=entry.held_from,
            drained_through=entry.drained_through,
            dead_through=entry.dead_through,
            events=entry.events,
            bytes=entry.bytes,
        )


class HistoryOut(Model):
    """A command with what came of it; or an outcome that no command asked for."""

    requested: Audit | None
    effective: list[Audit] = Field(description="In each partition; empty as long as it is pending.")

    @classmethod
    def of(cls, item: HistoryItem) -> "HistoryOut":
        return cls(
            requested=Audit.of(item.requested) if item.requested else None,
            effective=[Audit.of(row) for row in item.effective],
        )


class KeyDetail(KeyOut):
    """One key in full."""

    entries: list[EntryOut]
    history: list[HistoryOut] = Field(description="Newest first.")
    history_since: Moment | None = Field(
        description="What is older is in the audit, not here; null if nothing is."
    )


class HeldOut(Model):
    """An event that waits."""

    partition: int
    offset: int = Field(description="Of the event in `<flow>.events`.")
    timestamp: Moment | None
    value: Value
    headers: list[HeaderOut]


class HeldPageOut(Model):
    events: list[HeldOut] = Field(description="In the order in which they will come out.")
    cursor: str | None = Field(
        description="For the next page, if there may be one: a page may end early, even empty."
    )


@router.get("/flows/{flow}/keys", summary="List keys", responses=problems(404))
def list_keys(
    view: View,
    _: Viewer,
    state: Annotated[
        list[KeyState] | None, Query(description="Only in these states; may be repeated.")
    ] = None,
    search: Annotated[
        str, Query(max_length=1_000, description="Part of the key, the reason or the actor.")
    ] = "",
    pending: Annotated[
        bool | None, Query(description="Only with, or without, commands that are pending.")
    ] = None,
    sort: KeySort = KeySort.SINCE,
    descending: bool = True,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    cursor: Cursor = None,
) -> KeysOut:
    """The keys that are held or draining, or that have commands pending. All others are ACTIVE,
    and there is nothing to list of them."""
    page = view.keys(
        KeyQuery(
            states=frozenset(state or ()),
            pending=pending,
            search=search,
            sort=sort,
            descending=descending,
            limit=limit,
            cursor=cursor,
        )
    )
    return KeysOut(
        keys=[KeyOut.of(row) for row in page.rows],
        total=page.total,
        cursor=page.cursor,
        previous=page.previous,
    )


@router.get("/flows/{flow}/keys/{key}", summary="Show a key", responses=problems(404))
def show_key(view: View, key: KeyOfPath, _: Viewer) -> KeyDetail:
    """Its state, and its history of commands: requested, effective, and from which cut on. A key
    that nobody has ever spoken of is ACTIVE."""
    found = view.key(key)
    return KeyDetail(
        **dict(KeyOut.of(found.row)),
        entries=[EntryOut.of(partition, entry) for partition, entry in found.entries],
        history=[HistoryOut.of(item) for item in found.history],
        history_since=moment(found.history_since) if found.history_since else None,
    )


@router.get("/flows/{flow}/keys/{key}/held", summary="Held events", responses=problems(404))
async def held_events(
    view: View,
    key: KeyOfPath,
    services: ServicesOf,
    actor: Viewer,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: Cursor = None,
) -> HeldPageOut:
    """What is held of a key, in the order in which it will come out."""
    page = await asyncio.to_thread(
        read_held,
        services.connection,
        view.names,
        view.key(key).entries,
        start=None if cursor is None else Place.parse(cursor),
        limit=limit,
    )
    masks = view.definition.masks
    return HeldPageOut(
        events=[
            HeldOut(
                partition=event.partition,
                offset=event.offset,
                timestamp=moment(event.timestamp),
                value=Value.of(visible_value(event.value, masks, actor)),
                headers=[HeaderOut(name=n, value=Value.of(_bytes(v))) for n, v in event.headers],
            )
            for event in page.events
        ],
        cursor=str(page.following) if page.following else None,
    )


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
