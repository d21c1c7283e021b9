"""One signed request to a hook's URL, and its record in `holdfast.deliveries`.

The topic is compacted. Its keys are the hook's id and one of 100 slots, so the log of a hook is
bounded by its keys: a new delivery takes the slot of the oldest.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from holdfast.errors import HoldfastError, InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode, read_fields, write_fields
from holdfast.hooks.bodies import body_of
from holdfast.hooks.event import HookEvent
from holdfast.hooks.hook import Hook
from holdfast.http_call import send_request

DELIVERIES_TOPIC = "holdfast.deliveries"
SLOTS = 100
SIGNATURE = "Holdfast-Signature"
EVENT_ID = "Holdfast-Event-Id"
EVENT_KIND = "Holdfast-Event"
_SECONDS = 15.0
_MOST_BYTES = 64 * 1024
_KEPT = 300
"""Characters of an answer that the log keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One attempt: what was sent, and what came back."""

    hook: str
    number: int
    """Counts the attempts of the hook; the slot is its remainder by 100."""
    event: str
    """The event's id."""
    kind: str
    flow: str
    attempt: int
    at: int
    status: int | None = None
    """The status of the answer; None if there was none."""
    error: str = ""
    given_up: bool = False
    """It failed for so long that it is not tried again."""

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def sign(secret: str, body: bytes, at: int) -> str:
    """The value of the header `Holdfast-Signature`; `at` is in seconds.

    The time is signed, too, so that a receiver can refuse a request that was recorded and sent
    again later.
    """
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, sha256).hexdigest()
    return f"t={at},v1={digest}"


def deliver(hook: Hook, event: HookEvent, *, attempt: int, number: int, now: int) -> Delivery:
    """Sends the event once. A failure is part of the result, not raised."""
    body = body_of(event, hook.format)
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "holdfast",
        EVENT_ID: event.id,
        EVENT_KIND: event.kind.value,
        SIGNATURE: sign(hook.secret, body, now // 1000),
    }
    status, error = None, ""
    try:
        answer = send_request(
            "POST", hook.url, headers=headers, body=body, timeout=_SECONDS, most_bytes=_MOST_BYTES
        )
        status = answer.status
        if not 200 <= status < 300:
            error = answer.body[:_KEPT].decode(errors="replace")
    except HoldfastError as failure:
        error = str(failure)
    return Delivery(
        hook=hook.id,
        number=number,
        event=event.id,
        kind=event.kind.value,
        flow=event.flow,
        attempt=attempt,
        at=now,
        status=status,
        error=error,
    )


def slot_key(hook_id: str, number: int) -> str:
    return f"{hook_id}/{number % SLOTS}"


def encode_delivery(delivery: Delivery) -> tuple[bytes, bytes]:
    """Key and value of the delivery's record."""
    return slot_key(delivery.hook, delivery.number).encode(), encode(write_fields(delivery))


def apply_delivery(deliveries: dict[str, Delivery], key: bytes | None, value: bytes | None) -> None:
    """Puts the delivery of a record into `deliveries`, by its key, or removes it."""
    name = (key or b"").decode(errors="replace")
    deliveries.pop(name, None)
    if value is None:
        return
    document = Document(value, "delivery")
    try:
        deliveries[name] = Delivery(**read_fields(Delivery, document))
    except InvalidArgumentError as error:
        raise InvalidRecordError(f"This delivery cannot be read: {error}") from None
    document.end()


def of_hook(deliveries: Mapping[str, Delivery], hook_id: str) -> list[Delivery]:
    """The deliveries of a hook, the newest first."""
    own = [each for each in deliveries.values() if each.hook == hook_id]
    return sorted(own, key=lambda each: each.number, reverse=True)


def next_number(deliveries: Mapping[str, Delivery], hook_id: str) -> int:
    return max((each.number for each in of_hook(deliveries, hook_id)), default=-1) + 1
