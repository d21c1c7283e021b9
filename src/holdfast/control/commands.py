"""Commands: appended to a flow's control log, and followed in the view.

A result is never a guess. Requested means acknowledged on the control log; effective means recorded
in the journal.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from holdfast.access.roles import Actor
from holdfast.clock import now_ms
from holdfast.control.holds import standing_holds
from holdfast.control.services import Services
from holdfast.errors import ConflictError, HoldfastError, InvalidArgumentError
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.commands import Command, Hold, key_of
from holdfast.flows.holds import StandingHold, describe_hold, own_or_only
from holdfast.flows.journal import Outcome
from holdfast.views.audit import FIRST_ONLY, AuditRow, note_of_command
from holdfast.views.flow_view import FlowView

MAX_KEYS = 10_000
"""Keys in one request."""
MAX_WAIT_SECONDS = 50.0
"""Longest wait for an effect: a proxy gives up after a minute."""
_ACKNOWLEDGED_SECONDS = 20.0
_SEEN_SECONDS = 5.0
"""How long to wait until this process's view shows the command."""

# Separate threads: a hold must not wait behind requests that browse records.
REUSED = "This Idempotency-Key was used before for another request. Use a new one."
_threads = ThreadPoolExecutor(8, thread_name_prefix="commands")

Verb = Literal["hold", "release", "dead-letter", "extend"]


class IdempotencyKeyReusedError(ConflictError):
    """An Idempotency-Key was used before, for another request."""


class KeyNotHeldError(ConflictError):
    """Only a hold can be extended."""


_NOT_HELD = "The key is not held, so there is no hold to extend. Hold it instead."


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """A command for one key or many."""

    verb: Verb
    reason: str = ""
    expires_at: int | None = None
    """Milliseconds since 1970."""
    expires_in: float | None = None
    """Seconds from now; give this or `expires_at`, not both."""
    pace: float | None = None
    """Events a second, of a release."""
    name: str | None = None
    """The name of a hold; the actor's unless given. Of an extension: the own or the only one."""
    holds: tuple[str, ...] | None = None
    """The names of the holds that a release ends; the own or the only one unless given."""
    every: bool = False
    """A release ends every hold."""
    first: bool = False
    """Of a dead-letter: only the first event, which a guard has failed to handle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """The result of a command for one key: requested, repeated, refused, effective."""

    key: bytes | None
    command: str
    command_id: str
    offset: int | None = None
    """The command's offset on the control log; None if it was not appended."""
    requested_at: int
    repeated: bool = False
    """True if this is the command of an earlier, equal request. Nothing was added."""
    effective: AuditRow | None = None
    """The outcome; None as long as it is unknown."""
    error: HoldfastError | None = None
    extends: bool = False
    """It was requested as an extension of a hold."""
    dry_run: bool = False
    """The command was built and checked, and not appended."""

    @property
    def held_anew(self) -> bool:
        """True for an extension that came too late: see `held_anew`."""
        return self.extends and held_anew(self.effective.outcome if self.effective else None)


def held_anew(extended: Outcome | None) -> bool:
    """Returns True if an extension with this outcome found no such hold and began a new one.

    The key may be released, or its hold may expire, between the check in the view and the append to
    the control log. The result reports that and does not undo it: a release sent now could end a
    hold that another person has requested since.
    """
    return extended in (Outcome.HELD, Outcome.ADDED)


async def command_keys(
    services: Services,
    view: FlowView,
    request: CommandRequest,
    keys: Sequence[bytes],
    actor: Actor,
    *,
    idempotency_key: str | None = None,
    wait: float = 0.0,
    dry_run: bool = False,
) -> list[CommandResult]:
    """Appends one command for each key and returns a result for each, in order; a repeated key
    counts once.

    With `wait` (seconds) it returns as soon as all are effective, or when the time is over. With
    `dry_run` every check is made, and nothing is appended.
    """
    unique = list(dict.fromkeys(keys))
    if not 1 <= len(unique) <= MAX_KEYS:
        raise InvalidArgumentError(f"Name 1 to {MAX_KEYS} keys, not {len(unique)}.")
    loop = asyncio.get_running_loop()
    make = partial(_request, services, view, request, unique, actor, idempotency_key, dry_run)
    receipts = await loop.run_in_executor(_threads, make, len(keys) == 1)
    return await _followed(view, receipts, wait)


def _request(
    services: Services,
    view: FlowView,
    request: CommandRequest,
    keys: Sequence[bytes],
    actor: Actor,
    idempotency_key: str | None,
    dry_run: bool,
    single: bool,
) -> list[CommandResult]:
    """Appends the commands, unless it is a dry run, and returns when all are acknowledged or
    refused."""
    now = now_ms()
    stem = stem_of_ids(actor, idempotency_key)
    receipts: dict[bytes, CommandResult] = {}
    commands: dict[bytes, Command] = {}
    for key in keys:
        command_id = _command_id(stem, None if single else key)
        try:
            known = _known(view, command_id, request, key)
            if known is not None:
                receipts[key] = known
            else:
                builder = CommandBuilder(actor.name, now, command_id, actor.signature)
                commands[key] = _command(view, request, key, builder)
        except (InvalidArgumentError, ConflictError) as error:
            if single:
                raise
            receipts[key] = _refused(key, request, command_id, now, error)
    if commands:
        wanted = list(commands.values())
        appended = _planned(wanted) if dry_run else _append(services, view, wanted)
        receipts |= dict(zip(commands, appended, strict=True))
    extends = request.verb == "extend"
    return [replace(receipts[key], extends=extends) for key in keys]


async def void_offset(
    services: Services, view: FlowView, offset: int, reason: str, actor: Actor, *, wait: float = 0.0
) -> CommandResult:
    """Moves the gate past an unreadable record of the control log."""
    command = CommandBuilder(actor.name, now_ms(), None, actor.signature).void(
        offset, reason=reason
    )
    return await _without_key(services, view, command, wait)


async def skip_events(
    services: Services,
    view: FlowView,
    partition: int,
    first: int,
    last: int,
    reason: str,
    actor: Actor,
    *,
    idempotency_key: str | None = None,
    wait: float = 0.0,
) -> CommandResult:
    """Moves the gate past events that it cannot read."""
    command_id = _command_id(stem_of_ids(actor, idempotency_key), None)
    commands = CommandBuilder(actor.name, now_ms(), command_id, actor.signature)
    command = commands.skip(
        partition, first, last, reason=reason, partitions=view.definition.partitions
    )
    earlier = next((row for row in view.command(command.id) if row.log == "control"), None)
    if earlier is not None:
        if (earlier.command, earlier.note) != (command.name, note_of_command(command)):
            raise IdempotencyKeyReusedError(REUSED)
        repeated = replace(_fresh(command), offset=earlier.offset, repeated=True)
        return (await _followed(view, [repeated], wait))[0]
    return await _without_key(services, view, command, wait)


async def _without_key(
    services: Services, view: FlowView, command: Command, wait: float
) -> CommandResult:
    return (await append_and_follow(services, view, [command], wait))[0]


async def append_and_follow(
    services: Services,
    view: FlowView,
    commands: Sequence[Command],
    wait: float,
    partitions: int = 1,
    dry_run: bool = False,
) -> list[CommandResult]:
    """Appends commands, unless it is a dry run, and returns a result for each, in order.
    `partitions`: how many must answer each command until it is effective."""
    if dry_run:
        return _planned(commands)
    appended = await asyncio.get_running_loop().run_in_executor(
        _threads, _append, services, view, commands
    )
    return await _followed(view, appended, wait, partitions)


def stem_of_ids(actor: Actor, idempotency_key: str | None) -> str | None:
    """A prefix of command ids. It is equal for the same actor and Idempotency-Key, in any
    process."""
    if idempotency_key is None:
        return None
    source = f"{actor.name}\0{idempotency_key}".encode()
    return f"idem-{hashlib.sha256(source).hexdigest()[:32]}"


def _command_id(stem: str | None, key: bytes | None) -> str:
    if stem is None:
        return str(uuid.uuid4())
    return stem if key is None else f"{stem}-{hashlib.sha256(key).hexdigest()[:16]}"


def _command(
    view: FlowView, request: CommandRequest, key: bytes, commands: CommandBuilder
) -> Command:
    reason, name = request.reason, request.name
    view.definition.check_reason(reason)
    match request.verb:
        case "release":
            holds = request.holds
            if holds is None and not request.every:
                meant = own_or_only(standing_holds(view, key), commands.actor)
                holds = tuple(hold.name for hold in meant) or None
            return commands.release(
                key, pace=request.pace, holds=holds, every=request.every, reason=reason
            )
        case "dead-letter":
            view.definition.check_first(request.first)
            return commands.dead_letter(key, reason=reason, first=request.first)
        case "extend":
            extended = hold_to_extend(view, key, name, commands.actor)
            reason, name = reason or extended.reason, extended.name
    command = commands.hold(
        key, reason=reason, expires_in=request.expires_in, expires_at=request.expires_at, name=name
    )
    if request.verb == "extend" and extended.label != commands.actor:
        _check_not_shortened(extended, command)
    return command


def hold_to_extend(view: FlowView, key: bytes, name: str | None, actor: str) -> StandingHold:
    """The hold of this name; without a name the actor's own, or the only one. KeyNotHeldError if
    there is none."""
    holds = standing_holds(view, key)
    named = [hold for hold in holds if name in (hold.name, hold.label)]
    found = own_or_only(holds, actor) if name is None else named
    if not found:
        raise KeyNotHeldError(_NOT_HELD)
    return found[0]


def _check_not_shortened(hold: StandingHold, command: Hold) -> None:
    """Nobody shortens the hold of another without saying so: a hold of that name does it."""
    if command.expires_at is not None and (
        hold.expires_at is None or command.expires_at < hold.expires_at
    ):
        raise ConflictError(
            f"This would shorten a hold of another: {describe_hold(hold)}. Hold the key under your "
            "own name, or release that hold."
        )


def _known(
    view: FlowView, command_id: str, request: CommandRequest, key: bytes
) -> CommandResult | None:
    earlier = next((row for row in view.command(command_id) if row.log == "control"), None)
    if earlier is None:
        return None
    if not _matches(earlier, request, key):
        raise IdempotencyKeyReusedError(REUSED)
    return CommandResult(
        key=earlier.key,
        command=earlier.command,
        command_id=earlier.command_id,
        offset=earlier.offset,
        requested_at=earlier.at,
        repeated=True,
    )


def _matches(earlier: AuditRow, request: CommandRequest, key: bytes) -> bool:
    """Returns True if the earlier command matches the request. An expiry may move with the time of
    the request, so only its presence is compared."""
    expires = request.expires_at is not None or request.expires_in is not None
    keeps_reason = request.verb == "extend" and not request.reason
    return (
        earlier.key == key
        and earlier.command == ("hold" if request.verb == "extend" else request.verb)
        and (earlier.reason == request.reason or keeps_reason)
        and earlier.pace == request.pace
        and (request.name is None or earlier.name == request.name)
        and (request.holds is None or set(earlier.holds) == set(request.holds))
        and earlier.every is request.every
        and earlier.note == (FIRST_ONLY if request.first else "")
        and (earlier.expires_at is not None) == (expires and earlier.command == "hold")
    )


def _fresh(command: Command) -> CommandResult:
    return CommandResult(
        key=key_of(command), command=command.name, command_id=command.id, requested_at=command.at
    )


def _refused(
    key: bytes, request: CommandRequest, command_id: str, now: int, error: HoldfastError
) -> CommandResult:
    return CommandResult(
        key=key, command=request.verb, command_id=command_id, requested_at=now, error=error
    )


def _planned(commands: Sequence[Command]) -> list[CommandResult]:
    return [replace(_fresh(command), dry_run=True) for command in commands]


def _append(services: Services, view: FlowView, commands: Sequence[Command]) -> list[CommandResult]:
    deliveries = services.client.flow(view.name).append(commands)
    receipts: list[CommandResult] = []
    for command, delivery in zip(commands, deliveries, strict=True):
        try:
            offset = delivery.result(_ACKNOWLEDGED_SECONDS).offset
            receipts.append(replace(_fresh(command), offset=offset))
        except HoldfastError as error:
            if len(commands) == 1:
                raise
            receipts.append(replace(_fresh(command), error=error))
    return receipts


async def _followed(
    view: FlowView, receipts: list[CommandResult], wait: float, partitions: int = 1
) -> list[CommandResult]:
    """The results when the view shows the commands, with their outcomes if known by then.
    `partitions`: how many must answer each command."""
    standing = {r.command_id: r for r in receipts if r.offset is not None}
    if not standing:
        return receipts
    control_end = max(r.offset or 0 for r in standing.values()) + 1
    followed = standing if wait else ()
    async with view.waiting(followed, control_end, partitions) as waiting:
        done = await waiting.wait(min(wait, MAX_WAIT_SECONDS) if wait else _SEEN_SECONDS)
        outcomes = dict(waiting.outcomes) if done or partitions == 1 else {}
    return [replace(r, effective=outcomes.get(r.command_id)) for r in receipts]
