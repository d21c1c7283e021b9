"""Holds of prefixes, and pauses of a whole flow: their commands."""

from dataclasses import dataclass

from holdfast.access.roles import Actor
from holdfast.clock import now_ms
from holdfast.control.commands import (
    REUSED,
    CommandResult,
    IdempotencyKeyReusedError,
    append_and_follow,
    stem_of_ids,
)
from holdfast.control.services import Services
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.commands import Command
from holdfast.flows.holds import StandingHold, own_or_only, prefix_text
from holdfast.views.audit import AuditRow
from holdfast.views.flow_view import FlowView


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRequest:
    """Holds a prefix or pauses the flow; or, with `ends`, ends that."""

    prefix: bytes | None = None
    """None: the whole flow."""
    ends: bool = False
    reason: str = ""
    expires_at: int | None = None
    expires_in: float | None = None
    pace: float | None = None
    name: str | None = None
    holds: tuple[str, ...] | None = None
    every: bool = False


async def command_scope(
    services: Services,
    view: FlowView,
    request: ScopeRequest,
    actor: Actor,
    *,
    idempotency_key: str | None = None,
    wait: float = 0.0,
    dry_run: bool = False,
) -> CommandResult:
    """Appends the command, unless it is a dry run; effective once every partition has answered it.
    The gate counts a repeated id once."""
    view.definition.check_scopes()
    view.definition.check_reason(request.reason)
    builder = CommandBuilder(
        actor.name, now_ms(), stem_of_ids(actor, idempotency_key), actor.signature
    )
    command = _command(view, request, builder)
    partitions = view.definition.partitions
    earlier = next((row for row in view.command(command.id) if row.log == "control"), None)
    if earlier is not None and not _matches(earlier, request, command):
        raise IdempotencyKeyReusedError(REUSED)
    results = await append_and_follow(services, view, [command], wait, partitions, dry_run)
    return results[0]


def _matches(earlier: AuditRow, request: ScopeRequest, command: Command) -> bool:
    return (
        earlier.command == command.name
        and earlier.prefix == (request.prefix or b"")
        and earlier.reason == request.reason
        and earlier.pace == request.pace
        and (request.name is None or earlier.name == request.name)
        and (request.holds is None or set(earlier.holds) == set(request.holds))
    )


def _command(view: FlowView, request: ScopeRequest, commands: CommandBuilder) -> Command:
    reason, prefix = request.reason, request.prefix
    if not request.ends:
        if prefix is None:
            return commands.pause(reason=reason, name=request.name)
        return commands.hold_prefix(
            prefix,
            reason=reason,
            expires_in=request.expires_in,
            expires_at=request.expires_at,
            name=request.name,
        )
    holds = request.holds
    if holds is None and not request.every:
        whose = "The flow" if prefix is None else f"The prefix {prefix_text(prefix)}"
        meant = own_or_only(_standing(view, prefix), commands.actor, whose)
        holds = tuple(hold.name for hold in meant) or None
    if prefix is None:
        return commands.resume(holds=holds, every=request.every, reason=reason)
    return commands.release_prefix(
        prefix, pace=request.pace, holds=holds, every=request.every, reason=reason
    )


def _standing(view: FlowView, prefix: bytes | None) -> tuple[StandingHold, ...]:
    if prefix is None:
        return view.pauses()
    return next((each.holds for each in view.prefixes() if each.prefix == prefix), ())
