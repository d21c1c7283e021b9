"""Pause and resume a whole flow; hold and release all keys with a prefix."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BeforeValidator, Field

from holdfast.api.models import (
    Body,
    GivenKey,
    HoldOut,
    Model,
    Moment,
    example,
    given_key,
    milliseconds,
)
from holdfast.api.parameters import IdempotencyKey, Operator, ServicesOf, View, Viewer
from holdfast.api.routes.verbs import (
    ANSWERS,
    All,
    DryRun,
    ExpiresAt,
    ExpiresIn,
    HoldName,
    HoldNames,
    Pace,
    Reason,
    ReceiptOut,
    Wait,
    receipt_out,
)
from holdfast.control.problems import problems
from holdfast.control.scopes import ScopeRequest, command_scope
from holdfast.views.flow_view import PrefixView

router = APIRouter(tags=["verbs"])


class PauseBody(Body):
    model_config = example(reason="consumers are down")

    reason: Reason = ""
    name: HoldName = None


class ResumeBody(Body):
    model_config = example(reason="consumers are back")

    reason: Reason = ""
    holds: HoldNames = None
    all: All = False


class HoldPrefixBody(PauseBody):
    model_config = example(prefix="tenant-7/", reason="their endpoint is down")

    prefix: GivenKey
    expires_in: ExpiresIn = None
    expires_at: ExpiresAt = None


class ReleasePrefixBody(ResumeBody):
    model_config = example(prefix="tenant-7/", pace=50)

    prefix: GivenKey
    pace: Pace = None


def _prefix_fields(prefix: Any) -> Any:
    return prefix.decode(errors="replace") if isinstance(prefix, bytes) else prefix


class PrefixOut(Model):
    """A held prefix, and what it holds."""

    prefix: Annotated[str, BeforeValidator(_prefix_fields)] = Field(examples=["tenant-7/"])
    prefix_base64: str | None = Field(default=None, description="If its bytes are not text.")
    holds: list[HoldOut]
    since: Moment
    keys: int = Field(description="Keys that have held events, or holds of their own.")
    events: int
    bytes: int

    @classmethod
    def of(cls, view: PrefixView) -> "PrefixOut":
        out = cls.model_validate(view)
        try:
            view.prefix.decode()
        except UnicodeDecodeError:
            out.prefix_base64 = base64.b64encode(view.prefix).decode()
        return out


class PrefixesOut(Model):
    prefixes: list[PrefixOut]


@router.post(
    "/flows/{flow}/pause", status_code=202, summary="Pause a whole flow", responses=ANSWERS
)
async def pause(
    actor: Operator,
    view: View,
    body: PauseBody,
    services: ServicesOf,
    response: Response,
    wait: Wait,
    idempotency_key: IdempotencyKey = None,
    dry_run: DryRun = False,
) -> ReceiptOut:
    """The flow takes no events, and nothing leaves `held` for `processed`. A flow may have several
    pauses, each with a name."""
    request = ScopeRequest(reason=body.reason, name=body.name)
    result = await command_scope(
        services,
        view,
        request,
        actor,
        idempotency_key=idempotency_key,
        wait=wait,
        dry_run=dry_run,
    )
    return receipt_out(result, response)


@router.post(
    "/flows/{flow}/resume", status_code=202, summary="Resume a paused flow", responses=ANSWERS
)
async def resume(
    actor: Operator,
    view: View,
    body: ResumeBody,
    services: ServicesOf,
    response: Response,
    wait: Wait,
    idempotency_key: IdempotencyKey = None,
    dry_run: DryRun = False,
) -> ReceiptOut:
    """Ends the caller's pause, or the only one, or those that are named. After the last one, events
    are taken again."""
    request = ScopeRequest(ends=True, reason=body.reason, holds=_names(body.holds), every=body.all)
    result = await command_scope(
        services,
        view,
        request,
        actor,
        idempotency_key=idempotency_key,
        wait=wait,
        dry_run=dry_run,
    )
    return receipt_out(result, response)


@router.get("/flows/{flow}/prefixes", summary="List the held prefixes", responses=problems(404))
def prefixes(actor: Viewer, view: View) -> PrefixesOut:
    """The held prefixes, each with the number of keys and events that it holds."""
    return PrefixesOut(prefixes=[PrefixOut.of(each) for each in view.prefixes()])


@router.post(
    "/flows/{flow}/prefixes/hold", status_code=202, summary="Hold a prefix", responses=ANSWERS
)
async def hold_prefix(
    actor: Operator,
    view: View,
    body: HoldPrefixBody,
    services: ServicesOf,
    response: Response,
    wait: Wait,
    idempotency_key: IdempotencyKey = None,
    dry_run: DryRun = False,
) -> ReceiptOut:
    """Holds every key that begins so, seen or not."""
    request = ScopeRequest(
        prefix=given_key(body.prefix),
        reason=body.reason,
        name=body.name,
        expires_in=body.expires_in,
        expires_at=milliseconds(body.expires_at),
    )
    result = await command_scope(
        services,
        view,
        request,
        actor,
        idempotency_key=idempotency_key,
        wait=wait,
        dry_run=dry_run,
    )
    return receipt_out(result, response)


@router.post(
    "/flows/{flow}/prefixes/release",
    status_code=202,
    summary="Release a held prefix",
    responses=ANSWERS,
)
async def release_prefix(
    actor: Operator,
    view: View,
    body: ReleasePrefixBody,
    services: ServicesOf,
    response: Response,
    wait: Wait,
    idempotency_key: IdempotencyKey = None,
    dry_run: DryRun = False,
) -> ReceiptOut:
    """Ends the hold of a prefix, for all its keys. Those without another hold drain, each at the
    pace."""
    request = ScopeRequest(
        prefix=given_key(body.prefix),
        ends=True,
        reason=body.reason,
        pace=body.pace,
        holds=_names(body.holds),
        every=body.all,
    )
    result = await command_scope(
        services,
        view,
        request,
        actor,
        idempotency_key=idempotency_key,
        wait=wait,
        dry_run=dry_run,
    )
    return receipt_out(result, response)


def _names(holds: list[str] | None) -> tuple[str, ...] | None:
    return None if holds is None else tuple(holds)
