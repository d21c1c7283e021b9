"""`/flows/{flow}/keys`: held keys, with reason, time, actor and size."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.access.masks import visible_error, visible_value
from holdfast.api.models import Audit, HeaderOut, HoldOut, KeyName, Model, Moment, Value, moment
from holdfast.api.parameters import Cursor, KeyOfPath, ServicesOf, View, Viewer
from holdfast.client.held import HeldPosition, read_held
from holdfast.clock import now_ms
from holdfast.control.problems import problems
from holdfast.control.sightings import sightings
from holdfast.flows.status import Entry, KeyState
from holdfast.views.keys import MAX_PAGE, KeyQuery, KeySort

router = APIRouter(tags=["keys"])


class KeyOut(KeyName):
    """A key over all its partitions."""

    state: KeyState = Field(examples=[KeyState.HELD])
    reason: str = Field(examples=["payment disputed"])
    actor: str = Field(examples=["ana"])
    since: Moment
    expires_at: Moment = Field(description="Of its last hold; null if one never expires.")
    holds: list[HoldOut] = Field(description="The holds that stand, newest first.")
    pace: float | None = Field(description="Events a second, while it drains.")
    events: int = Field(description="How many are held.", examples=[12])
    bytes: int = Field(examples=[2_400])
    oldest: Moment = Field(description="The time of the first event that is still held.")
    overflow: bool = Field(description="It is at its limit.")
    foreign: bool = Field(
        description="Some events came by another partitioner than murmur2, and are held there."
    )
    partitions: list[int]
    attempts: int = Field(description="Of a guard: how often its first event has failed.")
    next_try: Moment = Field(description="Of a guard: when its first event is tried again.")
    error: str = Field(
        description="Of a guard: the last failure of its first event; of a single key with the end "
        "of its traceback. Masked as a whole where values are."
    )
    pending: list[str] = Field(
        description="Commands that were requested and are not effective yet.", examples=[[]]
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
    since: Moment
    cut: int = Field(description="The source offset from which it is in this state.")
    held_from: int = Field(description="Where its rows begin in held.")
    drained_through: int = Field(description="Source offset of the last that has left held.")
    dead_through: int
    events: int
    bytes: int

    @classmethod
    def of(cls, partition: int, entry: Entry) -> "EntryOut":
        fields = {name: getattr(entry, name) for name in cls.model_fields if name != "partition"}
        return cls(partition=partition, **fields)


class HistoryOut(Model):
    """A command with its outcomes; or an outcome without a command."""

    requested: Audit | None
    effective: list[Audit] = Field(description="In each partition; empty as long as it is pending.")


class KeyDetail(KeyOut):
    """One key in full."""

    entries: list[EntryOut]
    history: list[HistoryOut] = Field(description="Newest first.")
    history_since: Moment = Field(
        description="What is older is in the audit, not here; null if nothing is."
    )


class HeldOut(Model):
    """A held event."""

    partition: int
    offset: int = Field(description="Of the event in `<flow>.events`.")
    timestamp: Moment
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
    actor: Viewer,
    state: Annotated[
        list[KeyState] | None, Query(description="Only in these states; may be repeated.")
    ] = None,
    text: Annotated[
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
    """Keys that are held or draining, or have pending commands. All other keys are ACTIVE and not
    listed."""
    page = view.keys(
        KeyQuery(
            states=frozenset(state or ()),
            pending=pending,
            search=text,
            sort=sort,
            descending=descending,
            limit=limit,
            cursor=cursor,
        )
    )
    masks = view.definition.masks
    return KeysOut(
        keys=[
            KeyOut.model_validate(row).model_copy(
                update={"error": visible_error(row.error, masks, actor).partition("\n")[0]}
            )
            for row in page.rows
        ],
        total=page.total,
        cursor=page.cursor,
        previous=page.previous,
    )


@router.get("/flows/{flow}/keys/{key}", summary="Show a key", responses=problems(404))
def show_key(view: View, key: KeyOfPath, actor: Viewer) -> KeyDetail:
    """Its state, and its history of commands: requested, effective, and the cut. A key without any
    command is ACTIVE."""
    detail = view.key(key)
    return KeyDetail(
        **dict(KeyOut.model_validate(detail.row))
        | {"error": visible_error(detail.row.error, view.definition.masks, actor)},
        entries=[EntryOut.of(partition, entry) for partition, entry in detail.entries],
        history=[HistoryOut.model_validate(item) for item in detail.history],
        history_since=moment(detail.history_since or None),
    )


class SeenOut(Model):
    """When events of a key were seen last, from a bounded look back in its partition."""

    last: Moment = Field(description="The time of its newest event; null if none was found.")
    last_hour: int = Field(description="How many in the last hour.", examples=[163])
    sentence: str = Field(examples=["last event 12 s ago, 163 in the last hour"])


@router.get("/flows/{flow}/keys/{key}/seen", summary="Last events", responses=problems(404))
async def last_seen(view: View, key: KeyOfPath, services: ServicesOf, _: Viewer) -> SeenOut:
    """When events of the key were seen last, whatever its state."""
    now = now_ms()
    seen = await asyncio.to_thread(sightings, services.connection, view.definition, key, now)
    return SeenOut(last=moment(seen.last), last_hour=seen.last_hour, sentence=seen.sentence(now))


@router.get("/flows/{flow}/keys/{key}/held", summary="Held events", responses=problems(404))
async def held_events(
    view: View,
    key: KeyOfPath,
    services: ServicesOf,
    actor: Viewer,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: Cursor = None,
) -> HeldPageOut:
    """The held events of a key, in release order."""
    page = await asyncio.to_thread(
        read_held,
        services.connection,
        view.names,
        view.key(key).entries,
        start=None if cursor is None else HeldPosition.parse(cursor),
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
