"""The verbs, from forms: hold, release, extend, dead-letter, send."""

import re
import uuid
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends, Form, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.control.commands import (
    MAX_KEYS,
    CommandRequest,
    command_keys,
    skip_events,
    stem_of_ids,
    void_offset,
)
from holdfast.control.key_paths import key_from_path
from holdfast.control.undo import undo_releases
from holdfast.dashboard.forms import headers_of_lines, keys_of_lines, seconds_of_expiry
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.page_request import (
    AdminRequest,
    OperatorRequest,
    PageRequest,
    ViewerRequest,
)
from holdfast.dashboard.pages.flow import KeyFilter
from holdfast.dashboard.receipts import FOLLOWED, ReceiptView, follow, receipt_view
from holdfast.dashboard.routes.flow import key_filter
from holdfast.dashboard.routes.page_route import page_router
from holdfast.errors import InvalidArgumentError
from holdfast.flows.holds import GUARD
from holdfast.views.flow_view import FlowView
from holdfast.views.keys import MAX_PAGE, KeySort

_MANY_WAIT_SECONDS = 20.0
_SENT_SECONDS = 20.0
_STEM = re.compile(r"idem-[0-9a-f]{32}")

Keys = Annotated[list[str] | None, Form()]
Lines = Annotated[str, Form()]
Matching = Annotated[str | None, Form(max_length=20_000)]
"""The address of a table of which all keys are meant."""
Reason = Annotated[str, Form(max_length=1000)]
Expires = Annotated[str, Form(max_length=10)]
Name = Annotated[str, Form(max_length=200)]
"""The name of holds; empty for the person's own."""


router = page_router()


def _chosen_keys(
    request: OperatorRequest, flow: str, key: Keys = None, matching: Matching = None
) -> list[bytes]:
    """The keys that were ticked, or all that the table's filter shows."""
    if matching is None:
        return _named(key, "")
    return _all_matching(request.flow(flow), _filter_of(matching))


ChosenKeys = Annotated[list[bytes], Depends(_chosen_keys)]


@router.post("/flows/{flow}/hold")
async def hold(
    request: OperatorRequest,
    flow: str,
    key: Keys = None,
    keys: Lines = "",
    reason: Reason = "",
    expires: Expires = "never",
    name: Name = "",
    keep_space: Annotated[bool, Form()] = False,
) -> Response:
    command = CommandRequest(
        verb="hold", reason=reason, expires_in=seconds_of_expiry(expires), name=name or None
    )
    return await _send(request, flow, command, _named(key, keys, keep_space=keep_space))


@router.post("/flows/{flow}/again")
async def hold_again(
    request: OperatorRequest,
    flow: str,
    keys: ChosenKeys,
    reason: Reason = "",
) -> Response:
    """Holds keys of the table, so that their drains stop."""
    command = CommandRequest(verb="hold", reason=reason)
    return await _send(request, flow, command, keys)


@router.post("/flows/{flow}/extend")
async def extend(
    request: OperatorRequest,
    flow: str,
    keys: ChosenKeys,
    reason: Reason = "",
    expires: Expires = "never",
    name: Annotated[str | None, Form(max_length=200)] = None,
) -> Response:
    command = CommandRequest(
        verb="extend", reason=reason, expires_in=seconds_of_expiry(expires), name=name
    )
    return await _send(request, flow, command, keys)


@router.post("/flows/{flow}/release")
async def release(
    request: OperatorRequest,
    flow: str,
    keys: ChosenKeys,
    pace: Annotated[str, Form(max_length=20)] = "",
    pace_in_all: Annotated[bool, Form()] = False,
    reason: Reason = "",
    holds: Annotated[list[str] | None, Form()] = None,
    holds_shown: Annotated[bool, Form()] = False,
    which: Annotated[str, Form(pattern="^(own|named|all)$")] = "own",
    named: Name = "",
) -> Response:
    """`holds` are ticked on the page of a key; `which` is chosen for many keys."""
    each = _pace(pace)
    if holds_shown and not holds:
        raise InvalidArgumentError("No hold is ticked: tick those to end.")
    if which == "named" and not named:
        raise InvalidArgumentError("Which holds? Give their name.")
    command = CommandRequest(
        verb="release",
        pace=each / len(keys) if each and pace_in_all and keys else each,
        reason=reason,
        holds=(named,) if which == "named" else None if holds is None else tuple(holds),
        every=which == "all",
    )
    return await _send(request, flow, command, keys)


@router.post("/flows/{flow}/try-now")
async def try_now(
    request: OperatorRequest, flow: str, keys: ChosenKeys, reason: Reason = ""
) -> Response:
    """Ends the guard's hold of these keys: their first events are tried now, with all attempts."""
    command = CommandRequest(verb="release", holds=(GUARD,), reason=reason)
    return await _send(request, flow, command, keys)


@router.post("/flows/{flow}/undo")
async def undo(
    request: OperatorRequest, flow: str, released: Annotated[str, Form(alias="request")]
) -> Response:
    """Holds again what a release has ended."""
    if not _STEM.fullmatch(released):
        raise InvalidArgumentError(
            "This release cannot be undone: it is not one of this dashboard."
        )
    view = request.flow(flow)
    results = await undo_releases(
        request.services, view, released, request.actor, wait=_MANY_WAIT_SECONDS
    )
    return _receipt(request, receipt_view(view, "hold", results, request.now))


@router.post("/flows/{flow}/dead-letter")
async def dead_letter(
    request: OperatorRequest,
    flow: str,
    keys: ChosenKeys,
    reason: Reason = "",
    first: Annotated[bool, Form()] = False,
) -> Response:
    command = CommandRequest(verb="dead-letter", reason=reason, first=first)
    return await _send(request, flow, command, keys)


@router.post("/flows/{flow}/void")
async def void(
    request: AdminRequest, flow: str, offset: Annotated[int, Form(ge=0)], reason: Reason = ""
) -> Response:
    view = request.flow(flow)
    result = await void_offset(request.services, view, offset, reason, request.actor)
    return _receipt(request, receipt_view(view, "void", [result], request.now))


@router.post("/flows/{flow}/skip")
async def skip(
    request: AdminRequest,
    flow: str,
    partition: Annotated[int, Form(ge=0)],
    first: Annotated[int, Form(ge=0)],
    last: Annotated[int, Form(ge=0)],
    reason: Reason = "",
) -> Response:
    view = request.flow(flow)
    result = await skip_events(
        request.services, view, partition, first, last, reason, request.actor
    )
    return _receipt(request, receipt_view(view, "skip", [result], request.now))


@router.get("/flows/{flow}/fragments/receipt")
def receipt(
    request: ViewerRequest,
    flow: str,
    command: Annotated[list[str], Query(max_length=FOLLOWED)],
    extends: bool = False,
    undo: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    shown = follow(request.flow(flow), command, request.now, extends=extends, undo=undo)
    return request.fragment("receipt.html", receipt=shown)


@router.post("/flows/{flow}/send")
async def send(
    request: OperatorRequest,
    flow: str,
    key: Annotated[str, Form(max_length=65_536)] = "",
    value: Annotated[str, Form()] = "",
    headers: Annotated[str, Form(max_length=65_536)] = "",
    sure: Annotated[bool, Form()] = False,
) -> Response:
    """Checks the event and asks once; sends it when the answer comes."""
    fields = headers_of_lines(headers)
    view = request.flow(flow)
    view.definition.check_event(value.encode())
    if not sure:
        return request.fragment("send_sure.html", flow=flow, key=KeyName(key.encode()), value=value)
    delivery = request.services.client.send(view.names.events, value, key or None, fields)
    sent = await run_in_threadpool(delivery.result, _SENT_SECONDS)
    return request.fragment("sent.html", flow=flow, sent=sent)


async def _send(
    request: PageRequest, flow: str, command: CommandRequest, keys: list[bytes]
) -> Response:
    """Sends the commands and returns their receipt."""
    if not keys:
        raise InvalidArgumentError("No key is given: name at least one key.")
    view = request.flow(flow)
    wait = _MANY_WAIT_SECONDS if len(keys) > FOLLOWED else 0.0
    once = uuid.uuid4().hex
    results = await command_keys(
        request.services, view, command, keys, request.actor, idempotency_key=once, wait=wait
    )
    undo = stem_of_ids(request.actor, once) or "" if command.verb == "release" else ""
    return _receipt(request, receipt_view(view, command.verb, results, request.now, undo=undo))


def _receipt(request: PageRequest, shown: ReceiptView) -> Response:
    answer = request.fragment("receipt.html", receipt=shown)
    answer.headers["HX-Trigger-After-Swap"] = "asked"
    return answer


def _named(segments: list[str] | None, lines: str, *, keep_space: bool = False) -> list[bytes]:
    ticked = [key_from_path(segment) for segment in segments or ()]
    return ticked + keys_of_lines(lines, keep_space=keep_space)


def _filter_of(address: str) -> KeyFilter:
    given = {name: values[-1] for name, values in parse_qs(address).items()}
    return key_filter(
        text=given.get("text", ""), show=given.get("show", "all"), sort=KeySort.KEY, order="asc"
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
        f"More than {MAX_KEYS:,} keys match. Narrow the search to {MAX_KEYS:,} keys or fewer."
    )


def _pace(text: str) -> float | None:
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise InvalidArgumentError(f"{text!r} is not a number of events per second.") from None
