"""The verbs, from forms: hold, release, extend, dead-letter, send."""

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Form, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.api.commanding import MAX_KEYS, Order, command_keys, void_offset
from holdfast.api.key_paths import key_from_path
from holdfast.dashboard.forms import headers_of_lines, keys_of_lines, seconds_of_expiry
from holdfast.dashboard.pages.flow import KeyFilter
from holdfast.dashboard.receipts import FOLLOWED, ReceiptView, follow, receipt_view
from holdfast.dashboard.routes.flow import key_filter
from holdfast.dashboard.visit import Administering, Operating, Viewing, Visit
from holdfast.errors import InvalidArgumentError
from holdfast.views.flow_view import FlowView
from holdfast.views.keys import MAX_PAGE, KeySort

_MANY_WAIT_S = 20.0
_SENT_S = 20.0

Keys = Annotated[list[str] | None, Form()]
Lines = Annotated[str, Form()]
Matching = Annotated[str | None, Form(max_length=20_000)]
"""The address of a table of which all keys are meant."""
Reason = Annotated[str, Form(max_length=1000)]
Expires = Annotated[str, Form(max_length=10)]


def add(router: APIRouter) -> None:
    @router.post("/flows/{flow}/hold")
    async def hold(
        visit: Operating,
        flow: str,
        key: Keys = None,
        keys: Lines = "",
        reason: Reason = "",
        expires: Expires = "never",
    ) -> Response:
        order = Order(verb="hold", reason=reason, expires_in=seconds_of_expiry(expires))
        return await _ask(visit, flow, order, _named(key, keys))

    @router.post("/flows/{flow}/extend")
    async def extend(
        visit: Operating,
        flow: str,
        key: Keys = None,
        matching: Matching = None,
        reason: Reason = "",
        expires: Expires = "never",
    ) -> Response:
        order = Order(verb="extend", reason=reason, expires_in=seconds_of_expiry(expires))
        return await _ask(visit, flow, order, _chosen(visit.flow(flow), key, matching))

    @router.post("/flows/{flow}/release")
    async def release(
        visit: Operating,
        flow: str,
        key: Keys = None,
        matching: Matching = None,
        pace: Annotated[str, Form(max_length=20)] = "",
    ) -> Response:
        order = Order(verb="release", pace=_pace(pace))
        return await _ask(visit, flow, order, _chosen(visit.flow(flow), key, matching))

    @router.post("/flows/{flow}/dead-letter")
    async def dead_letter(
        visit: Operating,
        flow: str,
        key: Keys = None,
        matching: Matching = None,
        reason: Reason = "",
    ) -> Response:
        order = Order(verb="dead-letter", reason=reason)
        return await _ask(visit, flow, order, _chosen(visit.flow(flow), key, matching))

    @router.post("/flows/{flow}/void")
    async def void(
        visit: Administering, flow: str, offset: Annotated[int, Form(ge=0)], reason: Reason = ""
    ) -> Response:
        view = visit.flow(flow)
        asked = await void_offset(visit.services, view, offset, reason, visit.actor)
        return _receipt(visit, receipt_view(view, "void", [asked], visit.now))

    @router.get("/flows/{flow}/fragments/receipt")
    def receipt(
        visit: Viewing,
        flow: str,
        command: Annotated[list[str], Query(max_length=FOLLOWED)],
        extends: bool = False,
    ) -> Response:
        shown = follow(visit.flow(flow), command, visit.now, extends=extends)
        return visit.fragment("receipt.html", receipt=shown)

    @router.post("/flows/{flow}/send")
    async def send(
        visit: Operating,
        flow: str,
        key: Annotated[str, Form(max_length=65_536)] = "",
        value: Annotated[str, Form()] = "",
        headers: Annotated[str, Form(max_length=65_536)] = "",
    ) -> Response:
        view = visit.flow(flow)
        delivery = visit.services.client.send(
            view.names.events, value, key or None, headers_of_lines(headers)
        )
        sent = await run_in_threadpool(delivery.result, _SENT_S)
        return visit.fragment("sent.html", flow=flow, sent=sent)


async def _ask(visit: Visit, flow: str, order: Order, keys: list[bytes]) -> Response:
    """Append the commands. -> a receipt, and word to the page that it may go on"""
    if not keys:
        raise InvalidArgumentError("Name at least one key.")
    view = visit.flow(flow)
    wait = _MANY_WAIT_S if len(keys) > FOLLOWED else 0.0
    receipts = await command_keys(visit.services, view, order, keys, visit.actor, wait=wait)
    return _receipt(visit, receipt_view(view, order.verb, receipts, visit.now))


def _receipt(visit: Visit, shown: ReceiptView) -> Response:
    answer = visit.fragment("receipt.html", receipt=shown)
    answer.headers["HX-Trigger-After-Swap"] = "asked"
    return answer


def _named(segments: list[str] | None, lines: str) -> list[bytes]:
    return [key_from_path(segment) for segment in segments or ()] + keys_of_lines(lines)


def _chosen(view: FlowView, segments: list[str] | None, matching: str | None) -> list[bytes]:
    """The keys that were ticked, or all that the table's filter shows."""
    if matching is None:
        return _named(segments, "")
    return _all_matching(view, _filter_of(matching))


def _filter_of(address: str) -> KeyFilter:
    given = {name: values[-1] for name, values in parse_qs(address).items()}
    return key_filter(
        q=given.get("q", ""), show=given.get("show", "all"), sort=KeySort.KEY, order="asc"
    )


def _all_matching(view: FlowView, chosen: KeyFilter) -> list[bytes]:
    found: list[bytes] = []
    cursor: str | None = None
    while len(found) <= MAX_KEYS:
        page = view.keys(chosen.at(cursor).query(limit=MAX_PAGE))
        found += [row.key for row in page.rows]
        cursor = page.cursor
        if cursor is None:
            return found
    raise InvalidArgumentError(
        f"More than {MAX_KEYS:,} keys match, and {MAX_KEYS:,} go at a time: narrow the search."
    )


def _pace(text: str) -> float | None:
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise InvalidArgumentError(f"{text!r} is no number of events a second.") from None
