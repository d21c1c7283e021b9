"""Pause and resume a flow, hold and release prefixes: from forms."""

import uuid
from typing import Annotated

from fastapi import Form
from starlette.responses import Response

from holdfast.control.key_paths import key_from_path
from holdfast.control.scopes import ScopeRequest, command_scope
from holdfast.dashboard.forms import seconds_of_expiry
from holdfast.dashboard.page_request import OperatorRequest, PageRequest, ViewerRequest
from holdfast.dashboard.pages.flow import prefix_lines
from holdfast.dashboard.receipts import receipt_view
from holdfast.dashboard.routes.page_route import page_router
from holdfast.errors import InvalidArgumentError
from holdfast.flows.keys import trimmed

Reason = Annotated[str, Form(max_length=1000)]
Names = Annotated[list[str] | None, Form()]
Pace = Annotated[float | None, Form(gt=0)]

router = page_router()


@router.post("/flows/{flow}/pause")
async def pause(request: OperatorRequest, flow: str, reason: Reason = "") -> Response:
    return await _send(request, flow, ScopeRequest(reason=reason))


@router.post("/flows/{flow}/resume")
async def resume(
    request: OperatorRequest, flow: str, reason: Reason = "", holds: Names = None
) -> Response:
    return await _send(request, flow, ScopeRequest(ends=True, reason=reason, holds=_ticked(holds)))


@router.post("/flows/{flow}/hold-prefix")
async def hold_prefix(
    request: OperatorRequest,
    flow: str,
    prefix: Annotated[str, Form(max_length=1024)] = "",
    reason: Reason = "",
    expires: Annotated[str, Form(max_length=10)] = "never",
) -> Response:
    command = ScopeRequest(
        prefix=trimmed(prefix).encode(), reason=reason, expires_in=seconds_of_expiry(expires)
    )
    return await _send(request, flow, command)


@router.post("/flows/{flow}/release-prefix")
async def release_prefix(
    request: OperatorRequest,
    flow: str,
    prefix: Annotated[str, Form(max_length=5_000)],
    reason: Reason = "",
    holds: Names = None,
) -> Response:
    """`prefix`: as keys are in addresses."""
    command = ScopeRequest(
        prefix=key_from_path(prefix), ends=True, reason=reason, holds=_ticked(holds)
    )
    return await _send(request, flow, command)


@router.get("/flows/{flow}/fragments/prefixes")
def prefixes(request: ViewerRequest, flow: str) -> Response:
    lines = prefix_lines(request.flow(flow))
    return request.fragment("flow_prefixes.html", flow=flow, prefixes=lines)


def _ticked(holds: list[str] | None) -> tuple[str, ...]:
    if not holds:
        raise InvalidArgumentError("No hold is ticked: tick those to end.")
    return tuple(holds)


async def _send(request: PageRequest, flow: str, command: ScopeRequest) -> Response:
    view = request.flow(flow)
    once = uuid.uuid4().hex
    result = await command_scope(
        request.services, view, command, request.actor, idempotency_key=once
    )
    verb = result.command
    answer = request.fragment(
        "receipt.html", receipt=receipt_view(view, verb, [result], request.now)
    )
    answer.headers["HX-Trigger-After-Swap"] = "asked"
    return answer
