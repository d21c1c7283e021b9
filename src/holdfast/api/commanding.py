"""Verbs: commands appended to a flow's control log, and what comes of them, seen in the view.

The answer is never a guess: requested means acknowledged on the control log, effective means that
the journal has it.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import time
from typing import Literal

from holdfast.access.roles import Actor
from holdfast.api.services import Services
from holdfast.errors import ConflictError, HoldfastError, InvalidArgumentError
from holdfast.flows.commands import Command, DeadLetter, Hold, Release, Void
from holdfast.flows.journal import Outcome
from holdfast.flows.status import KeyState
from holdfast.views.audit import AuditRow, HistoryItem
from holdfast.views.flow_view import FlowView

MAX_KEYS = 10_000
"""Keys in one request."""
MAX_WAIT_S = 50.0
"""Longest wait for an effect: a proxy gives up after a minute."""
_ACKNOWLEDGED_S = 20.0
_SEEN_S = 5.0
"""How long to wait for our own view to show what was just requested."""

# Of their own: a hold must not wait for a thread behind those who browse.
_threads = ThreadPoolExecutor(8, thread_name_prefix="commands")

Verb = Literal["hold", "release", "dead-letter", "extend"]


class IdempotencyKeyReusedError(ConflictError):
    """An Idempotency-Key was used before, for another request."""


class KeyNotHeldError(ConflictError):
    """Only a hold can be extended."""


_NOT_HELD = "The key is not held, so there is no hold to extend: hold it instead."
_HOLDS = frozenset({Outcome.HELD, Outcome.UPDATED})
_LETS_GO = frozenset({Outcome.RELEASED, Outcome.EXPIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked for, of however many keys."""

    verb: Verb
    reason: str = ""
    expires_at: int | None = None
    """Milliseconds since 1970."""
    expires_in: float | None = None
    """Seconds from now; only one of both."""
    pace: float | None = None
    """Events a second, of a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A command that is on the control log; or why it is not."""

    key: bytes | None
    command: str
    command_id: str
    offset: int | None = None
    """Of the command on the control log; None if it is not known to be there."""
    requested_at: int
    repeated: bool = False
    """The same request was made before, and this is its command: nothing was added."""
    effective: AuditRow | None = None
    """What came of it; None as long as that is not known."""
    error: HoldfastError | None = None
    extends: bool = False
    """It was asked for as an extension of a hold."""

    @property
    def held_anew(self) -> bool:
        """An extension that came too late: see `held_anew`."""
        return self.extends and held_anew(self.effective.outcome if self.effective else None)


def held_anew(extended: Outcome | None) -> bool:
    """Whether an extension of that outcome found no hold any more: what updates nothing begins.

    Between the look at the view and the place on the control log somebody may release the key, or
    its hold expires. It is said, not undone: a release sent after it could end a hold that
    somebody else has asked for meanwhile, and a key that is held harms nobody unseen.
    """
    return extended is Outcome.HELD


async def command_keys(
    services: Services,
    view: FlowView,
    order: Order,
    keys: Sequence[bytes],
    actor: Actor,
    *,
    idempotency_key: str | None = None,
    wait: float = 0.0,
) -> list[Receipt]:
    """Ask for the same of many keys. -> a receipt for each, in their order; a key that is there
    twice counts once.

    With `wait` (seconds) it returns as soon as all are effective, or the time is over.
    """
    unique = list(dict.fromkeys(keys))
    if not 1 <= len(unique) <= MAX_KEYS:
        raise InvalidArgumentError(f"Name 1 to {MAX_KEYS} keys, not {len(unique)}.")
    loop = asyncio.get_running_loop()
    receipts = await loop.run_in_executor(
        _threads, _request, services, view, order, unique, actor, idempotency_key, len(keys) == 1
    )
    return await _followed(view, receipts, wait)


def _request(
    services: Services,
    view: FlowView,
    order: Order,
    keys: Sequence[bytes],
    actor: Actor,
    idempotency_key: str | None,
    single: bool,
) -> list[Receipt]:
    """Append what is to be appended, and return once all of it is acknowledged, or refused."""
    now = round(time() * 1000)
    stem = _stem(actor, idempotency_key)
    receipts: dict[bytes, Receipt] = {}
    commands: dict[bytes, Command] = {}
    for key in keys:
        command_id = _command_id(stem, None if single else key)
        try:
            known = _known(view, command_id, order, key)
            if known is not None:
                receipts[key] = known
            else:
                commands[key] = _command(view, order, key, actor.name, command_id, now)
        except (InvalidArgumentError, KeyNotHeldError) as error:
            if single:
                raise
            receipts[key] = _refused(key, order, command_id, now, error)
    if commands:
        receipts |= _append(services, view, commands)
    extends = order.verb == "extend"
    return [replace(receipts[key], extends=extends) for key in keys]


async def void_offset(
    services: Services, view: FlowView, offset: int, reason: str, actor: Actor, *, wait: float = 0.0
) -> Receipt:
    """Let the gate pass an unreadable record of the control log."""
    now = round(time() * 1000)
    command: Command = Void(
        id=str(uuid.uuid4()), actor=actor.name, at=now, offset=offset, reason=reason
    )
    appended = await asyncio.get_running_loop().run_in_executor(
        _threads, _append, services, view, {b"": command}
    )
    return (await _followed(view, [appended[b""]], wait))[0]


def _stem(actor: Actor, idempotency_key: str | None) -> str | None:
    """The same for the same actor and Idempotency-Key, in whichever process it is made."""
    if idempotency_key is None:
        return None
    told = f"{actor.name}\0{idempotency_key}".encode()
    return f"idem-{hashlib.sha256(told).hexdigest()[:32]}"


def _command_id(stem: str | None, key: bytes | None) -> str:
    if stem is None:
        return str(uuid.uuid4())
    return stem if key is None else f"{stem}-{hashlib.sha256(key).hexdigest()[:16]}"


def _command(
    view: FlowView, order: Order, key: bytes, actor: str, command_id: str, now: int
) -> Command:
    match order.verb:
        case "release":
            return Release(id=command_id, actor=actor, at=now, key=key, pace=order.pace)
        case "dead-letter":
            return DeadLetter(id=command_id, actor=actor, at=now, key=key, reason=order.reason)
        case "hold":
            reason = order.reason
        case "extend":
            kept = reason_of_hold(view, key)
            reason = order.reason or kept
    return Hold(
        id=command_id, actor=actor, at=now, key=key, reason=reason, expires_at=_expiry(order, now)
    )


def _expiry(order: Order, now: int) -> int | None:
    if order.expires_in is not None and order.expires_at is not None:
        raise InvalidArgumentError("Give 'expires_in' or 'expires_at', not both.")
    if order.expires_in is not None:
        return now + max(1, round(order.expires_in * 1000))
    if order.expires_at is not None and order.expires_at <= now:
        raise InvalidArgumentError("A hold must expire in the future.")
    return order.expires_at


def reason_of_hold(view: FlowView, key: bytes) -> str:
    """Extending keeps the reason: it is a hold of a key that is held, or about to be. Whether it
    still was, the journal says: `held_anew`.

    The newest command that counts tells, before the state does: journal and status are different
    topics, and who has just been told of a hold may extend it.
    """
    found = view.key(key)
    for item in sorted(found.history, key=_place_of_command, reverse=True):
        asked = item.requested or item.effective[0]
        outcomes = {row.outcome for row in item.effective}
        if asked.command == "hold" and (item.pending or outcomes & _HOLDS):
            return asked.reason if item.requested else found.row.reason
        if (asked.command == "release" and item.pending) or outcomes & _LETS_GO:
            raise KeyNotHeldError(_NOT_HELD)
    if found.row.state is KeyState.HELD:
        return found.row.reason
    raise KeyNotHeldError(_NOT_HELD)


def _place_of_command(item: HistoryItem) -> tuple[int, bool]:
    """On the control log; an expiry comes after the hold that it ends. Actors' clocks may differ,
    so times do not tell."""
    told = item.requested or item.effective[0]
    offset = told.offset if item.requested else told.command_offset
    return (-1 if offset is None else offset), item.requested is None


def _known(view: FlowView, command_id: str, order: Order, key: bytes) -> Receipt | None:
    """The receipt of the command of that id that is on the control log already."""
    asked = next((row for row in view.command(command_id) if row.log == "control"), None)
    if asked is None:
        return None
    if not _asks_for(asked, order, key):
        raise IdempotencyKeyReusedError(
            "This Idempotency-Key was used before, for another request: take a new one."
        )
    return Receipt(
        key=asked.key,
        command=asked.command,
        command_id=asked.command_id,
        offset=asked.offset,
        requested_at=asked.at,
        repeated=True,
    )


def _asks_for(asked: AuditRow, order: Order, key: bytes) -> bool:
    """Whether the command is what the order asks for. An expiry may move with the time of the
    request, so only that there is one is compared."""
    expires = order.expires_at is not None or order.expires_in is not None
    keeps_reason = order.verb == "extend" and not order.reason
    return (
        asked.key == key
        and asked.command == ("hold" if order.verb == "extend" else order.verb)
        and (asked.reason == order.reason or order.verb == "release" or keeps_reason)
        and asked.pace == order.pace
        and (asked.expires_at is not None) == (expires and asked.command == "hold")
    )


def _fresh(command: Command) -> Receipt:
    key = None if isinstance(command, Void) else command.key
    return Receipt(key=key, command=command.name, command_id=command.id, requested_at=command.at)


def _refused(key: bytes, order: Order, command_id: str, now: int, error: HoldfastError) -> Receipt:
    return Receipt(
        key=key, command=order.verb, command_id=command_id, requested_at=now, error=error
    )


def _append(
    services: Services, view: FlowView, commands: dict[bytes, Command]
) -> dict[bytes, Receipt]:
    deliveries = services.client.flow(view.name).append(commands.values())
    receipts: dict[bytes, Receipt] = {}
    for (key, command), delivery in zip(commands.items(), deliveries, strict=True):
        try:
            offset = delivery.result(_ACKNOWLEDGED_S).offset
            receipts[key] = replace(_fresh(command), offset=offset)
        except HoldfastError as error:
            if len(commands) == 1:
                raise
            receipts[key] = replace(_fresh(command), error=error)
    return receipts


async def _followed(view: FlowView, receipts: list[Receipt], wait: float) -> list[Receipt]:
    """The receipts once the view shows them, with what came of them if that is known by then."""
    standing = {r.command_id: r for r in receipts if r.offset is not None}
    if not standing:
        return receipts
    control_end = max(r.offset or 0 for r in standing.values()) + 1
    async with view.waiting(standing if wait else (), control_end) as waiting:
        await waiting.wait(min(wait, MAX_WAIT_S) if wait else _SEEN_S)
        outcomes = dict(waiting.outcomes)
    return [replace(r, effective=outcomes.get(r.command_id)) for r in receipts]
