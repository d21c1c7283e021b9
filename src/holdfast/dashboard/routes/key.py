"""Key: the page, its parts, and its stream."""

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from holdfast.access.masks import visible_value
from holdfast.api.browsing import Browse, browse
from holdfast.api.key_paths import key_from_path
from holdfast.api.matching import Filter
from holdfast.client.held import HeldEvent, Place, read_held
from holdfast.dashboard.forms import EXPIRIES
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.live import changes_of, live_address, stream
from holdfast.dashboard.pages.key import SPAN_TITLES, key_page, key_timeline
from holdfast.dashboard.timeline import SPANS, Arrival, Timeline, fitting_span, held_since
from holdfast.dashboard.values import EventView, event_view
from holdfast.dashboard.visit import Viewing, Visit
from holdfast.flows.keys import partition_of
from holdfast.views.changes import Change, ChangeKind
from holdfast.views.flow_view import FlowView

_PAGE = 12
_ARRIVALS = 400

_OF_A_KEY = (ChangeKind.KEY, ChangeKind.REQUESTED, ChangeKind.EFFECTIVE)


@dataclass(frozen=True, slots=True)
class Buffered:
    """A page of what is held of the key, and the event that is shown in full."""

    events: tuple[EventView, ...]
    shown: EventView | None
    start: str
    following: str
    span: str

    @property
    def address(self) -> str:
        """This page, as it is asked for again."""
        chosen = self.shown.coordinate if self.shown else ""
        return _query(start=self.start, event=chosen, span=self.span)

    @property
    def next(self) -> str:
        return _query(start=self.following, span=self.span) if self.following else ""

    def link(self, event: EventView) -> str:
        """This page with another event in full."""
        return _query(start=self.start, event=event.coordinate, span=self.span)


def _key(key: Annotated[str, Path(max_length=100_000)]) -> bytes:
    return key_from_path(key)


Key = Annotated[bytes, Depends(_key)]
Span = Annotated[str, Query(pattern="^(5m|15m|1h|6h|24h|all)$")]
Start = Annotated[str, Query(max_length=40)]
Event = Annotated[str, Query(max_length=40)]


def add(router: APIRouter) -> None:
    @router.get("/flows/{flow}/keys/{key}")
    def page(
        visit: Viewing,
        flow: str,
        key: Key,
        span: Span | None = None,
        start: Start = "",
        event: Event = "",
    ) -> Response:
        view = visit.flow(flow)
        stream = live_address(f"{KeyName(key).path(flow)}/live", view.changes)
        shown = key_page(view, key, visit.now)
        since = held_since(view.key(key).history) or shown.row.oldest or shown.row.since
        span = span or fitting_span(since, visit.now)
        return visit.page(
            "key.html",
            here=f"/flows/{flow}",
            flow=flow,
            page=shown,
            line=None,  # it is looked for in the topic, so the page does not wait for it
            buffered=_buffered(visit, view, key, start, event, span),
            span=span,
            spans=SPAN_TITLES,
            expiries=EXPIRIES,
            stream=stream,
        )

    @router.get("/flows/{flow}/keys/{key}/live")
    async def live(
        visit: Viewing, flow: str, key: Key, after: Annotated[str, Query(max_length=40)] = ""
    ) -> Response:
        def wanted(change: Change) -> bool:
            return change.kind not in _OF_A_KEY or change.item.key == key

        return stream(changes_of(visit.flow(flow).changes, after, wanted))

    @router.get("/flows/{flow}/keys/{key}/fragments/head")
    def head(visit: Viewing, flow: str, key: Key) -> Response:
        return _part(visit, "key_head.html", flow, key)

    @router.get("/flows/{flow}/keys/{key}/fragments/history")
    def history(visit: Viewing, flow: str, key: Key) -> Response:
        return _part(visit, "key_history.html", flow, key)

    @router.get("/flows/{flow}/keys/{key}/fragments/timeline")
    def picture(visit: Viewing, flow: str, key: Key, span: Span = "1h") -> Response:
        line = _timeline(visit, visit.flow(flow), key, span)
        return _part(visit, "key_timeline.html", flow, key, line=line, span=span, spans=SPAN_TITLES)

    @router.get("/flows/{flow}/keys/{key}/fragments/events")
    def events(
        visit: Viewing, flow: str, key: Key, span: Span = "1h", start: Start = "", event: Event = ""
    ) -> Response:
        buffered = _buffered(visit, visit.flow(flow), key, start, event, span)
        return _part(visit, "key_events.html", flow, key, buffered=buffered, span=span)


def _part(visit: Visit, template: str, flow: str, key: bytes, **values: Any) -> Response:
    page = key_page(visit.flow(flow), key, visit.now)
    return visit.fragment(template, flow=flow, page=page, **values)


def _timeline(visit: Visit, view: FlowView, key: bytes, span: str) -> Timeline:
    """The picture, with the newest events of the key that can be found in a moment."""
    since = visit.now - SPANS[span] if span in SPANS else None
    home = partition_of(key, view.definition.partitions)
    others = (partition for partition, _ in view.key(key).entries)
    query = Browse(
        topic=view.names.events,
        partitions=tuple(sorted({home, *others})),
        since=since,
        filter=Filter(key=key),
        limit=_ARRIVALS,
    )
    found = browse(visit.services.connection, query, (), visit.actor).records
    arrivals = [Arrival(seen.time, seen.record.partition, seen.record.offset) for seen in found]
    return key_timeline(view, key, arrivals[::-1], span, visit.now)


def _buffered(
    visit: Visit, view: FlowView, key: bytes, start: str, event: str, span: str
) -> Buffered:
    entries = view.key(key).entries
    if not entries:
        return Buffered((), None, "", "", span)
    place = Place.parse(start) if start else None
    page = read_held(visit.services.connection, view.names, entries, start=place, limit=_PAGE)
    events = tuple(_event(visit, view, key, held) for held in page.events)
    chosen = next((one for one in events if one.coordinate == event), events[0] if events else None)
    return Buffered(events, chosen, start, str(page.following or ""), span)


def _event(visit: Visit, view: FlowView, key: bytes, held: HeldEvent) -> EventView:
    return event_view(
        partition=held.partition,
        offset=held.offset,
        at=held.timestamp,
        key=key,
        value=visible_value(held.value, view.definition.masks, visit.actor),
        headers=held.headers,
    )


def _query(**values: str) -> str:
    return urlencode({name: value for name, value in values.items() if value})
