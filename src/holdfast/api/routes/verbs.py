"""Hold, release, dead-letter, extend: of one key, or of up to ten thousand."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from holdfast.api.commanding import (
    MAX_KEYS,
    MAX_WAIT_S,
    Order,
    Receipt,
    command_keys,
    void_offset,
)
from holdfast.api.models import (
    Audit,
    Body,
    Effect,
    GivenKey,
    GivenTime,
    KeyName,
    Model,
    Moment,
    example,
    given_key,
    key_fields,
    milliseconds,
    moment,
)
from holdfast.api.parameters import (
    Admin,
    IdempotencyKey,
    KeyOfPath,
    Operator,
    ServicesOf,
    View,
    Viewer,
)
from holdfast.api.problems import kind_of, problems
from holdfast.errors import NotFoundError
from holdfast.flows.commands import MAX_PACE, MAX_REASON

router = APIRouter(tags=["verbs"])

_Reason = Annotated[str, Field(max_length=MAX_REASON, examples=["payment disputed"])]
_ExpiresIn = Annotated[
    float | None,
    Field(gt=0, lt=10**9, description="Seconds from now; or give `expires_at`.", examples=[7200]),
]
_ExpiresAt = Annotated[
    GivenTime | None,
    Field(description="A time with its zone; or give `expires_in`.", examples=[None]),
]
_Pace = Annotated[
    float | None,
    Field(gt=0, le=MAX_PACE, description="Events a second; as fast as possible unless given."),
]
_Wait = Annotated[
    Literal["effective"] | None,
    Query(description="`effective`: answer once it is, or after `timeout` seconds."),
]
_Timeout = Annotated[
    float, Query(gt=0, le=MAX_WAIT_S, description="Longest wait, in seconds.", examples=[30])
]


class HoldBody(Body):
    model_config = example(reason="payment disputed", expires_in=7200)

    reason: _Reason = ""
    expires_in: _ExpiresIn = None
    expires_at: _ExpiresAt = None


class ReleaseBody(Body):
    model_config = example(pace=100)

    pace: _Pace = None


class DeadLetterBody(Body):
    model_config = example(reason="cannot be parsed downstream")

    reason: _Reason = ""


class ExtendBody(Body):
    """A new expiry; neither means that the hold does not expire any more."""

    model_config = example(expires_in=3600)

    reason: Annotated[
        str, Field(max_length=MAX_REASON, description="A new one; empty keeps the one it has.")
    ] = ""
    expires_in: _ExpiresIn = None
    expires_at: _ExpiresAt = None


class BulkBody(Body):
    """The same for many keys."""

    model_config = example(
        command="hold", keys=["customer-7", {"key_base64": "/w=="}], reason="downstream is broken"
    )

    command: Literal["hold", "release", "dead-letter", "extend"]
    keys: list[GivenKey] = Field(min_length=1, max_length=MAX_KEYS)
    reason: _Reason = ""
    expires_in: _ExpiresIn = None
    expires_at: _ExpiresAt = None
    pace: _Pace = None


class VoidBody(Body):
    model_config = example(offset=17, reason="written by hand")

    offset: int = Field(ge=0, le=2**63 - 1, description="Of the unreadable record.")
    reason: _Reason = ""


class ReceiptOut(KeyName):
    """A command on the control log: it will be carried out, in this order."""

    command: str = Field(examples=["hold"])
    command_id: str
    offset: int | None = Field(description="On the control log.", examples=[17])
    requested_at: Moment | None
    repeated: bool = Field(
        description="The same request came before, and this is its command: nothing was added."
    )
    effective: Effect | None = Field(description="What came of it; null as long as unknown.")
    held_anew: bool = Field(
        default=False,
        description="Of an extension that is effective: the key had been released, or its hold had "
        "expired, before. Nothing was extended; the key is held anew, from the cut on.",
    )

    @classmethod
    def of(cls, receipt: Receipt) -> "ReceiptOut":
        return cls(
            **key_fields(receipt.key),
            command=receipt.command,
            command_id=receipt.command_id,
            offset=receipt.offset,
            requested_at=moment(receipt.requested_at),
            repeated=receipt.repeated,
            effective=Effect.of(receipt.effective) if receipt.effective else None,
            held_anew=receipt.held_anew,
        )


class RefusedOut(Model):
    """Why nothing was asked for this key."""

    code: str
    detail: str


class BulkReceiptOut(ReceiptOut):
    error: RefusedOut | None = Field(default=None, description="Null if it was requested.")

    @classmethod
    def of(cls, receipt: Receipt) -> "BulkReceiptOut":
        error = receipt.error
        refused = error and RefusedOut(code=kind_of(error).code, detail=str(error))
        return cls(**dict(ReceiptOut.of(receipt)), error=refused or None)


class BulkOut(Model):
    command: str
    requested: int = Field(description="How many were.")
    failed: int = Field(description="How many were not; each says why.")
    results: list[BulkReceiptOut] = Field(description="One for each key, in their order.")


class CommandOut(Model):
    """A command by its id."""

    requested: Audit
    effective: list[Audit] = Field(description="In each partition; empty as long as it is pending.")


_ANSWERS = {
    200: {"description": "It is effective (or was repeated, and is)."},
    202: {"description": "It is requested: acknowledged on the control log."},
    **problems(404, 409),
}


@router.post(
    "/flows/{flow}/keys/{key}/hold", status_code=202, summary="Hold a key", responses=_ANSWERS
)
async def hold(
    actor: Operator,
    view: View,
    key: KeyOfPath,
    services: ServicesOf,
    response: Response,
    body: HoldBody | None = None,
    wait: _Wait = None,
    timeout: _Timeout = 30.0,  # noqa: ASYNC109  # a parameter of the request
    idempotency_key: IdempotencyKey = None,
) -> ReceiptOut:
    """Keeps back every event of the key from the cut on, until a release or the expiry. A hold of
    a held key updates reason and expiry."""
    body = body or HoldBody()
    order = Order(
        verb="hold",
        reason=body.reason,
        expires_in=body.expires_in,
        expires_at=milliseconds(body.expires_at),
    )
    return await _one(services, view, order, key, actor, response, wait, timeout, idempotency_key)


@router.post(
    "/flows/{flow}/keys/{key}/release", status_code=202, summary="Release a key", responses=_ANSWERS
)
async def release(
    actor: Operator,
    view: View,
    key: KeyOfPath,
    services: ServicesOf,
    response: Response,
    body: ReleaseBody | None = None,
    wait: _Wait = None,
    timeout: _Timeout = 30.0,  # noqa: ASYNC109
    idempotency_key: IdempotencyKey = None,
) -> ReceiptOut:
    """Lets the key's held events out in order; new ones queue behind."""
    order = Order(verb="release", pace=body.pace if body else None)
    return await _one(services, view, order, key, actor, response, wait, timeout, idempotency_key)


@router.post(
    "/flows/{flow}/keys/{key}/dead-letter",
    status_code=202,
    summary="Dead-letter what is held of a key",
    responses=_ANSWERS,
)
async def dead_letter(
    actor: Operator,
    view: View,
    key: KeyOfPath,
    services: ServicesOf,
    response: Response,
    body: DeadLetterBody | None = None,
    wait: _Wait = None,
    timeout: _Timeout = 30.0,  # noqa: ASYNC109
    idempotency_key: IdempotencyKey = None,
) -> ReceiptOut:
    """Sends what is held of the key at this point to the dead letters, whatever follows."""
    order = Order(verb="dead-letter", reason=body.reason if body else "")
    return await _one(services, view, order, key, actor, response, wait, timeout, idempotency_key)


@router.post(
    "/flows/{flow}/keys/{key}/extend", status_code=202, summary="Extend a hold", responses=_ANSWERS
)
async def extend(
    actor: Operator,
    view: View,
    key: KeyOfPath,
    services: ServicesOf,
    response: Response,
    body: ExtendBody,
    wait: _Wait = None,
    timeout: _Timeout = 30.0,  # noqa: ASYNC109
    idempotency_key: IdempotencyKey = None,
) -> ReceiptOut:
    """Gives a hold another expiry, and keeps its reason unless another is given. It is a hold of a
    held key, and the journal says what it was: `updated` is an extension. `held` (and `held_anew`)
    means that the hold had ended in the meantime, by a release or by its expiry, and that the key
    is held anew: release it if that is not wanted. It is not undone by itself, because somebody
    else may have asked for a hold since."""
    order = Order(
        verb="extend",
        reason=body.reason,
        expires_in=body.expires_in,
        expires_at=milliseconds(body.expires_at),
    )
    return await _one(services, view, order, key, actor, response, wait, timeout, idempotency_key)


@router.post(
    "/flows/{flow}/commands",
    status_code=202,
    summary="The same verb for many keys",
    response_model=BulkOut,
    responses=_ANSWERS,
)
async def command_many(
    actor: Operator,
    view: View,
    body: BulkBody,
    services: ServicesOf,
    wait: _Wait = None,
    timeout: _Timeout = 30.0,  # noqa: ASYNC109
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Up to 10,000 keys, and an outcome for each: one that cannot be used does not stop the
    others."""
    order = Order(
        verb=body.command,
        reason=body.reason,
        expires_in=body.expires_in,
        expires_at=milliseconds(body.expires_at),
        pace=body.pace,
    )
    receipts = await command_keys(
        services,
        view,
        order,
        [given_key(key) for key in body.keys],
        actor,
        idempotency_key=idempotency_key,
        wait=timeout if wait else 0.0,
    )
    # On a thread: ten thousand results are half a second in which nobody else would be answered.
    return await asyncio.to_thread(_bulk_answer, body.command, receipts)


def _bulk_answer(command: str, receipts: Sequence[Receipt]) -> Response:
    failed = sum(receipt.error is not None for receipt in receipts)
    done = all(receipt.effective for receipt in receipts if receipt.error is None)
    bulk = BulkOut(
        command=command,
        requested=len(receipts) - failed,
        failed=failed,
        results=[BulkReceiptOut.of(receipt) for receipt in receipts],
    )
    return Response(bulk.model_dump_json(), 200 if done else 202, media_type="application/json")


@router.get(
    "/flows/{flow}/commands/{command_id}", summary="What came of a command", responses=problems(404)
)
def show_command(
    view: View, command_id: Annotated[str, Path(max_length=64)], _: Viewer
) -> CommandOut:
    """By the id that its receipt named. Old ones are in the audit alone."""
    rows = view.command(command_id)
    requested = next((row for row in rows if row.log == "control"), None)
    if requested is None:
        raise NotFoundError(f"There is no command {command_id!r} among the newest.")
    return CommandOut(
        requested=Audit.of(requested),
        effective=[Audit.of(row) for row in rows if row.log == "journal"],
    )


@router.post(
    "/flows/{flow}/void", status_code=202, summary="Pass an unreadable command", responses=_ANSWERS
)
async def void(
    actor: Admin,
    view: View,
    body: VoidBody,
    services: ServicesOf,
    response: Response,
    wait: _Wait = None,
    timeout: _Timeout = 30.0,  # noqa: ASYNC109
) -> ReceiptOut:
    """Lets the gate, which has stopped at a record of the control log that it cannot read, pass
    that record."""
    receipt = await void_offset(
        services, view, body.offset, body.reason, actor, wait=timeout if wait else 0.0
    )
    response.status_code = 200 if receipt.effective else 202
    return ReceiptOut.of(receipt)


async def _one(
    services: ServicesOf,
    view: View,
    order: Order,
    key: bytes,
    actor: Operator,
    response: Response,
    wait: str | None,
    seconds: float,
    idempotency_key: str | None,
) -> ReceiptOut:
    [receipt] = await command_keys(
        services,
        view,
        order,
        [key],
        actor,
        idempotency_key=idempotency_key,
        wait=seconds if wait else 0.0,
    )
    response.status_code = 200 if receipt.effective else 202
    return ReceiptOut.of(receipt)
