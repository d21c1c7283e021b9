"""Undo of releases: the holds that they ended stand again, and the drain stops."""

import asyncio
from collections.abc import Iterator

from holdfast.access.roles import Actor
from holdfast.clock import now_ms
from holdfast.control.commands import CommandResult, append_and_follow
from holdfast.control.services import Services
from holdfast.errors import NotFoundError
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.commands import Hold
from holdfast.views.audit import AuditRow
from holdfast.views.flow_view import FlowView


async def undo_releases(
    services: Services, view: FlowView, stem: str, actor: Actor, *, wait: float = 0.0
) -> list[CommandResult]:
    """Hold the keys again that a request has released. `stem`: the beginning of its commands' ids.

    Each ended hold gets its name, its reason and its expiry again. Events that have left held in
    the meantime stay processed: the outcome says at which event the drain has stopped.
    """
    rows = await asyncio.to_thread(view.commands_of, stem)
    # A key may have been released in several partitions: one hold does for all.
    holds = {
        (hold.key, hold.hold_name): hold
        for row in rows
        if row.holds and row.outcome
        for hold in _again(view, row, actor)
    }
    if not holds:
        raise NotFoundError("There is nothing to undo: this request has ended no hold.")
    return await append_and_follow(services, view, list(holds.values()), wait)


def _again(view: FlowView, release: AuditRow, actor: Actor) -> Iterator[Hold]:
    """The holds that a release has ended, as new commands."""
    assert release.key is not None
    now = now_ms()
    before = [
        item.requested
        for item in view.key(release.key).history
        if item.requested and item.requested.command == "hold"
        and item.requested.offset < (release.command_offset or 0)
    ]  # fmt: skip
    for name in release.holds:
        known = max((row for row in before if row.name == name), key=_offset, default=None)
        expires = known.expires_at if known else None
        yield CommandBuilder(actor.name, now, None, actor.signature).hold(
            release.key,
            name=name or (known.actor if known else actor.name),
            reason=known.reason if known and known.reason else "undo of a release",
            # A hold whose time has passed meanwhile stands until somebody releases it.
            expires_at=expires if expires and expires > now else None,
        )


def _offset(row: AuditRow) -> int:
    return row.offset
