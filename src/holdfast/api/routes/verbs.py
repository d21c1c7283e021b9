"""Hold, release, dead-letter, extend: for one key, or for up to ten thousand."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BeforeValidator, Field

from holdfast.api.models import (
    Audit,
    Body,
    Effect,
    GivenKey,
    GivenTime,
    KeyName,
    Model,
    Moment,
    Seconds,
    example,
    given_key,
    milliseconds,
)
from holdfast.api.parameters import (
    IdempotencyKey,
    KeyOfPath,
    Operator,
    ServicesOf,
    View,
    Viewer,
)
from holdfast.control.commands import (
    MAX_KEYS,
    MAX_WAIT_SECONDS,
    CommandRequest,
    CommandResult,
    Verb,
    command_keys,
)
from holdfast.control.problems import kind_of, problems
from holdfast.errors import HoldfastError, NotFoundError
from holdfast.flows.commands import MAX_NAME, MAX_PACE, MAX_REASON
from holdfast.flows.holds import MAX_HOLDS

router = APIRouter(tags=["verbs"])

Reason = Annotated[str, Field(max_length=MAX_REASON, examples=["payment disputed"])]
ExpiresIn = Annotated[
    Annotated[Seconds, Field(gt=0, lt=10**9)] | None,
    Field(
        description="From now: seconds, or a text such as `2h`; or give `expires_at`.",
        examples=[7200, "2h"],
    ),
]
ExpiresAt = Annotated[
    GivenTime | None,
    Field(description="A time with its zone; or give `expires_in`.", examples=[None]),
]
Pace = Annotated[
    float | None,
    Field(gt=0, le=MAX_PACE, description="Events a second; as fast as possible unless given."),
]


HoldName = Annotated[
    str | None,
    Field(
        min_length=1, max_length=MAX_NAME, examples=["fraud-team"],
        description="The hold's name; the caller's name unless given.",
    ),
]  # fmt: skip
HoldNames = Annotated[
    list[Annotated[str, Field(max_length=MAX_NAME)]] | None,
    Field(
        min_length=1, max_length=MAX_HOLDS, examples=[["fraud-team"]],
        description="Of a release: the names of the holds to end.",
    ),
]  # fmt: skip
All = Annotated[bool, Field(description="Of a release: end every hold. Needs a reason.")]


def _wait(
    wait: Annotated[
        Literal["effective"] | None,
        Query(description="`effective`: answer when it is effective, or after `timeout` seconds."),
    ] = None,
    timeout: Annotated[
        Seconds,
        Query(
            gt=0,
            le=MAX_WAIT_SECONDS,
            description="Longest wait: seconds, or a text such as `30s`.",
            examples=[30],
        ),
    ] = 30.0,
) -> float:
    return timeout if wait else 0.0


DryRun = Annotated[
    bool,
    Query(
        description="Make every check, and append nothing. The answer is what would be requested, "
        "or why it would be refused."
    ),
]
Wait = Annotated[float, Depends(_wait)]
"""How long to wait for the effect, in seconds."""


First = Annotated[
    bool,
    Field(description="Of a guard's dead-letter: only the first event, which it could not handle."),
]


class ReasonBody(Body):
    model_config = example(reason="payment disputed")

    reason: Reason = ""

    def command_request(self, verb: Verb) -> CommandRequest:
        return CommandRequest(verb=verb, reason=self.reason)


class DeadLetterBody(ReasonBody):
    model_config = example(reason="cannot be parsed downstream")

    first: First = False

    def command_request(self, verb: Verb) -> CommandRequest:
        return CommandRequest(verb=verb, reason=self.reason, first=self.first)


class HoldBody(ReasonBody):
    model_config = example(reason="payment disputed", expires_in=7200)

    name: HoldName = None

    expires_in: ExpiresIn = None
    expires_at: ExpiresAt = None

    def command_request(self, verb: Verb) -> CommandRequest:
        return CommandRequest(
            verb=verb,
            reason=self.reason,
            name=self.name,
            expires_in=self.expires_in,
            expires_at=milliseconds(self.expires_at),
        )


class ExtendBody(HoldBody):
    """A new expiry; without one, the hold does not expire any more."""

    model_config = example(expires_in=3600)

    reason: Annotated[
        str, Field(max_length=MAX_REASON, description="A new one; empty keeps the present one.")
    ] = ""


class ReleaseBody(ReasonBody):
    model_config = example(pace=100, reason="cleared")

    pace: Pace = None
    holds: HoldNames = None
    all: All = False

    def command_request(self, verb: Verb) -> CommandRequest:
        return CommandRequest(
            verb=verb,
            reason=self.reason,
            pace=self.pace,
            holds=None if self.holds is None else tuple(self.holds),
            every=self.all,
        )


class BulkBody(HoldBody):
    """One verb for many keys."""

    model_config = example(
        command="hold", keys=["customer-7", {"key_base64": "/w=="}], reason="downstream is broken"
    )

    command: Verb
    keys: list[GivenKey] = Field(min_length=1, max_length=MAX_KEYS)
    pace: Pace = None
    holds: HoldNames = None
    all: All = False
    first: First = False

    def command_request(self, verb: Verb) -> CommandRequest:
        return replace(
            HoldBody.command_request(self, verb),
            pace=self.pace,
            holds=None if self.holds is None else tuple(self.holds),
            every=self.all,
            first=self.first,
        )


class ReceiptOut(KeyName):
    """A command on the control log. The gate carries commands out in the order of the log."""

    command: str = Field(examples=["hold"])
    command_id: str
    offset: int | None = Field(description="On the control log.", examples=[17])
    requested_at: Moment
    repeated: bool = Field(
        description="The same request came before, and this is its command. Nothing was added."
    )
    effective: Effect | None = Field(description="Its outcome; null as long as it is unknown.")
    dry_run: bool = Field(default=False, description="Nothing was requested: it was a dry run.")
    held_anew: bool = Field(
        default=False,
        description="Of an effective extension: the key had been released, or its hold had "
        "expired, before. Nothing was extended; the key is held again, from the cut on.",
    )


class RefusedOut(Model):
    """Why no command was appended for this key."""

    code: str
    detail: str


def _refused(error: HoldfastError | None) -> RefusedOut | None:
    return None if error is None else RefusedOut(code=kind_of(error).code, detail=str(error))


class BulkReceiptOut(ReceiptOut):
    error: Annotated[RefusedOut | None, BeforeValidator(_refused)] = Field(
        default=None, description="Null if it was requested."
    )


class BulkOut(Model):
    command: str
    requested: int = Field(description="How many were.")
    failed: int = Field(description="How many were not; each says why.")
    results: list[BulkReceiptOut] = Field(description="One for each key, in their order.")


class CommandOut(Model):
    """A command with its outcomes."""

    requested: Audit
    effective: list[Audit] = Field(description="In each partition; empty as long as it is pending.")


ANSWERS = {
    200: {"description": "It is effective (or was repeated, and is); or it was a dry run."},
    202: {"description": "It is requested: acknowledged on the control log."},
    **problems(404, 409),
}


@dataclass(frozen=True, slots=True)
class CommandOfKey:
    """A request for a command of one key: what all verbs share."""

    actor: Operator
    view: View
    key: KeyOfPath
    services: ServicesOf
    response: Response
    wait: Wait
    idempotency_key: IdempotencyKey = None
    dry_run: DryRun = False

    async def send(self, command: CommandRequest) -> ReceiptOut:
        [receipt] = await command_keys(
            self.services,
            self.view,
            command,
            [self.key],
            self.actor,
            idempotency_key=self.idempotency_key,
            wait=self.wait,
            dry_run=self.dry_run,
        )
        return receipt_out(receipt, self.response)


KeyRequest = Annotated[CommandOfKey, Depends()]


def receipt_out(receipt: CommandResult, response: Response) -> ReceiptOut:
    """The receipt as an answer: 200 if the command is effective or a dry run, 202 if it is only
    requested."""
    response.status_code = 200 if receipt.effective or receipt.dry_run else 202
    return ReceiptOut.model_validate(receipt)


@router.post(
    "/flows/{flow}/keys/{key}/hold", status_code=202, summary="Hold a key", responses=ANSWERS
)
async def hold(request: KeyRequest, body: HoldBody | None = None) -> ReceiptOut:
    """Keeps back every event of the key from the cut on, until a release or the expiry. A key may
    have several holds, each with a name; a hold of the same name updates its reason and expiry, and
    no other. The key is held until the last one has ended."""
    return await request.send((body or HoldBody()).command_request("hold"))


@router.post(
    "/flows/{flow}/keys/{key}/release", status_code=202, summary="Release a key", responses=ANSWERS
)
async def release(request: KeyRequest, body: ReleaseBody | None = None) -> ReceiptOut:
    """Ends holds of the key: those of `holds`, or every hold with `all` and a reason, or else the
    caller's own hold, or the only one (409 `choose-a-hold` if others have several). With the last
    hold the held events leave in order; new ones queue behind them. `remaining` of the outcome has
    the holds that still stand."""
    return await request.send((body or ReleaseBody()).command_request("release"))


@router.post(
    "/flows/{flow}/keys/{key}/dead-letter",
    status_code=202,
    summary="Dead-letter the held events of a key",
    responses=ANSWERS,
)
async def dead_letter(request: KeyRequest, body: DeadLetterBody | None = None) -> ReceiptOut:
    """Moves the key's held events to the dead letters, or, with `first`, the event that a guard
    could not handle. Commands that follow do not change that."""
    return await request.send((body or DeadLetterBody()).command_request("dead-letter"))


@router.post(
    "/flows/{flow}/keys/{key}/extend", status_code=202, summary="Extend a hold", responses=ANSWERS
)
async def extend(request: KeyRequest, body: ExtendBody) -> ReceiptOut:
    """Gives a hold another expiry, and keeps its reason unless another is given. It is a hold of a
    held key, and its outcome tells the difference: `updated` is an extension. `held` (with
    `held_anew`) means that the hold had ended in the meantime, by a release or by its expiry, and
    that the key is held again: release it if you do not want that. It is not undone by itself,
    because another person may have requested a hold since."""
    return await request.send(body.command_request("extend"))


@router.post(
    "/flows/{flow}/commands",
    status_code=202,
    summary="One verb for many keys",
    response_model=BulkOut,
    responses=ANSWERS,
)
async def command_many(
    actor: Operator,
    view: View,
    body: BulkBody,
    services: ServicesOf,
    wait: Wait,
    idempotency_key: IdempotencyKey = None,
    dry_run: DryRun = False,
) -> Response:
    """Takes up to 10,000 keys and reports an outcome for each: an invalid key does not stop the
    others."""
    receipts = await command_keys(
        services,
        view,
        body.command_request(body.command),
        [given_key(key) for key in body.keys],
        actor,
        idempotency_key=idempotency_key,
        wait=wait,
        dry_run=dry_run,
    )
    # On a thread: ten thousand results take half a second, and would delay all other requests.
    return await asyncio.to_thread(_bulk_answer, body.command, receipts)


def _bulk_answer(command: str, receipts: Sequence[CommandResult]) -> Response:
    failed = sum(receipt.error is not None for receipt in receipts)
    done = all(r.effective or r.dry_run for r in receipts if r.error is None)
    bulk = BulkOut(
        command=command,
        requested=len(receipts) - failed,
        failed=failed,
        results=[BulkReceiptOut.model_validate(receipt) for receipt in receipts],
    )
    return Response(bulk.model_dump_json(), 200 if done else 202, media_type="application/json")


@router.get(
    "/flows/{flow}/commands/{command_id}",
    summary="The outcome of a command",
    responses=problems(404),
)
def show_command(
    view: View, command_id: Annotated[str, Path(max_length=64)], _: Viewer
) -> CommandOut:
    """Finds a command by the id in its receipt. Old commands are only in the audit."""
    rows = view.command(command_id)
    requested = next((row for row in rows if row.log == "control"), None)
    if requested is None:
        raise NotFoundError(
            f"There is no command {command_id!r} among the newest. Look for it in the audit."
        )
    return CommandOut(
        requested=Audit.model_validate(requested),
        effective=[Audit.model_validate(row) for row in rows if row.log == "journal"],
    )
