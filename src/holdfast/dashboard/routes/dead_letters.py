"""Dead letters: of each flow, by reason, one in full."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from holdfast.api.browsing import MAX_PAGE, Browse, browse
from holdfast.client.dead_letters import ERROR, MESSAGE
from holdfast.client.positions import Offsets, Partition
from holdfast.dashboard.pages.messages import MessageFilter, message_page
from holdfast.dashboard.routes.topics import Chosen
from holdfast.dashboard.visit import Viewing, Visit
from holdfast.views.flow_view import FlowView


@dataclass(frozen=True, slots=True)
class Reason:
    """Why letters are dead: a kind of error, and an example of what it said."""

    name: str
    example: str
    count: int
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Reasons:
    """The reasons of the newest letters."""

    found: tuple[Reason, ...]
    looked_at: int
    more: bool
    """There are older ones, which were not looked at."""


def add(router: APIRouter) -> None:
    @router.get("/dead-letters")
    def page(
        visit: Viewing, chosen: Chosen, flow: Annotated[str, Query(max_length=100)] = ""
    ) -> Response:
        views = visit.flows()
        counts = _counts(visit, views)
        name = flow or max(counts, key=lambda one: counts[one], default="")
        if not name:
            return visit.page("dead_letters.html", here="/dead-letters", flow="", counts={})
        return _letters(visit, visit.flow(name), chosen, counts)

    @router.get("/dead-letters/fragments/messages")
    def fragment(
        visit: Viewing, chosen: Chosen, flow: Annotated[str, Query(max_length=100)]
    ) -> Response:
        return _letters(visit, visit.flow(flow), chosen, None)


def _letters(
    visit: Visit, view: FlowView, chosen: MessageFilter, counts: dict[str, int] | None
) -> Response:
    connection, definition = visit.services.connection, view.definition
    topic = view.names.dlq
    shown = message_page(connection, topic, definition.partitions, definition, chosen, visit.actor)
    values: dict[str, Any] = {
        "topic": topic,
        "flow": view.name,
        "meaning": "dead letters",
        "partitions": definition.partitions,
        "messages": shown,
        "where": "/dead-letters",
    }
    if counts is None:
        return visit.fragment("messages_body.html", **values)
    reasons = _reasons(visit, view, chosen)
    return visit.page(
        "dead_letters.html", here="/dead-letters", counts=counts, reasons=reasons, **values
    )


def _reasons(visit: Visit, view: FlowView, chosen: MessageFilter) -> Reasons:
    partitions = tuple(range(view.definition.partitions))
    query = Browse(topic=view.names.dlq, partitions=partitions, limit=MAX_PAGE)
    page = browse(visit.services.connection, query, view.definition.masks, visit.actor)
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for seen in page.records:
        kind = _text(seen.record.header(ERROR)) or "unknown"
        kinds[kind] += 1
        examples.setdefault(kind, _text(seen.record.header(MESSAGE)))
    reasons = []
    for kind, count in kinds.most_common():
        wanted = f"{ERROR}={kind}"
        is_chosen = chosen.header == wanted
        address = chosen.address(header="" if is_chosen else wanted, cursor="", event="")
        reasons.append(Reason(kind, examples[kind], count, address, is_chosen))
    return Reasons(tuple(reasons), len(page.records), page.cursor is not None)


def _counts(visit: Visit, views: list[FlowView]) -> dict[str, int]:
    """How much each flow's log of dead letters has: offsets, which markers take, too. So only none
    is known to be none."""
    places = [
        Partition(view.names.dlq, number)
        for view in views
        for number in range(view.definition.partitions)
    ]
    if not places:
        return {}
    offsets = Offsets(visit.services.connection)
    starts, ends = offsets.starts(places), offsets.ends(places)
    return {
        view.name: sum(ends[p] - starts[p] for p in places if p.topic == view.names.dlq)
        for view in views
    }


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")
