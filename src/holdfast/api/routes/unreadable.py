"""Void and skip: move the gate past an unreadable command or unreadable events."""

from fastapi import APIRouter, Response
from pydantic import Field

from holdfast.api.models import Body, example
from holdfast.api.parameters import Admin, IdempotencyKey, ServicesOf, View
from holdfast.api.routes.verbs import ANSWERS, Reason, ReceiptOut, Wait, receipt_out
from holdfast.control.commands import skip_events, void_offset

router = APIRouter(tags=["verbs"])


class VoidBody(Body):
    model_config = example(offset=17, reason="written by hand")

    offset: int = Field(ge=0, le=2**63 - 1, description="Of the unreadable record.")
    reason: Reason = ""


class SkipBody(Body):
    model_config = example(partition=3, first=1200, last=1249, reason="a broken producer")

    partition: int = Field(ge=0, le=2**31 - 1, description="Of the flow's events.")
    first: int = Field(ge=0, le=2**63 - 1, description="The first offset that cannot be read.")
    last: int = Field(ge=0, le=2**63 - 1, description="The last one.")
    reason: Reason = ""


@router.post(
    "/flows/{flow}/void", status_code=202, summary="Pass an unreadable command", responses=ANSWERS
)
async def void(
    actor: Admin,
    view: View,
    body: VoidBody,
    services: ServicesOf,
    response: Response,
    wait: Wait,
) -> ReceiptOut:
    """Moves the gate past a record of the control log that it cannot read and has stopped at."""
    receipt = await void_offset(services, view, body.offset, body.reason, actor, wait=wait)
    return receipt_out(receipt, response)


@router.post(
    "/flows/{flow}/skip", status_code=202, summary="Skip unreadable events", responses=ANSWERS
)
async def skip(
    actor: Admin,
    view: View,
    body: SkipBody,
    services: ServicesOf,
    response: Response,
    wait: Wait,
    idempotency_key: IdempotencyKey = None,
) -> ReceiptOut:
    """Moves the gate past events that it cannot read and has stopped at. They are lost, and the
    journal records it. Other offsets have no effect: the outcome is then `nothing-to-do`, and its
    note explains why."""
    receipt = await skip_events(
        services, view, body.partition, body.first, body.last, body.reason, actor,
        idempotency_key=idempotency_key, wait=wait,
    )  # fmt: skip
    return receipt_out(receipt, response)
