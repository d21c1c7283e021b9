"""How one key's entry changes: ACTIVE → HELD → DRAINING → ACTIVE. No entry means ACTIVE.

All offsets are source offsets but `held_end`. A key's rows in held are those above
`drained_through`, up to `counted_through`; a draining entry always has some.
"""

from dataclasses import dataclass

from holdfast.flows.commands import Hold, Release
from holdfast.flows.journal import Outcome
from holdfast.flows.status import Entry, KeyState


@dataclass(frozen=True, slots=True)
class Order:
    """A hold that stands: what an entry, or a partition that has none yet, needs to know of it."""

    id: str
    offset: int
    actor: str
    reason: str
    expires_at: int | None

    @classmethod
    def given(cls, command: Hold, offset: int) -> "Order":
        return cls(command.id, offset, command.actor, command.reason, command.expires_at)

    @classmethod
    def kept(cls, entry: Entry) -> "Order":
        return cls(
            entry.command_id, entry.command_offset, entry.actor, entry.reason, entry.expires_at
        )

    def stands(self, now: int) -> bool:
        return self.expires_at is None or self.expires_at > now


def has_rows(entry: Entry) -> bool:
    """Whether any row of the key is still in held."""
    return entry.counted_through > entry.drained_through


def leaves_through(entry: Entry) -> int:
    """The last row that is to leave held: all of a draining key, the dead ones of a held key."""
    return entry.counted_through if entry.state is KeyState.DRAINING else entry.dead_through


def gives_out(entry: Entry) -> bool:
    """Whether rows are to leave held."""
    return entry.drained_through < leaves_through(entry)


def is_due(entry: Entry, now: int) -> bool:
    """Whether the entry's hold has expired."""
    return entry.state is KeyState.HELD and entry.expires_at is not None and entry.expires_at <= now


def begin_hold(
    key: bytes, order: Order, *, cut: int, now: int, held_end: int, foreign: bool = False
) -> Entry:
    """ACTIVE → HELD. Rows of an earlier episode never count: they lie below the cut."""
    return Entry(
        key=key,
        state=KeyState.HELD,
        command_id=order.id,
        command_offset=order.offset,
        actor=order.actor,
        reason=order.reason,
        since=now,
        cut=cut,
        expires_at=order.expires_at,
        held_from=held_end,
        drained_through=cut - 1,
        counted_through=cut - 1,
        foreign=foreign,
    )


def count_in(entry: Entry, *, events: int, size: int, oldest: int, last: int) -> Entry:
    """The entry with more rows behind, up to source offset `last`.

    What is counted are an entry's last four fields. Done for every held key in every step:
    `_replace` takes thrice as long.
    """
    return Entry(
        *entry[:-4],
        entry.events + events,
        entry.bytes + size,
        oldest if entry.oldest is None else entry.oldest,
        last,
    )


def hold_again(entry: Entry, order: Order, *, cut: int, now: int) -> tuple[Entry, Outcome]:
    """HELD: new reason and expiry. DRAINING → HELD: the drain stops at `drained_through`."""
    changed = entry._replace(
        state=KeyState.HELD,
        command_id=order.id,
        command_offset=order.offset,
        actor=order.actor,
        reason=order.reason,
        expires_at=order.expires_at,
        pace=None,
    )
    if entry.state is KeyState.HELD:
        return changed, Outcome.UPDATED
    return changed._replace(since=now, cut=cut), Outcome.HELD


def release(
    entry: Entry, command: Release, offset: int, *, cut: int, now: int
) -> tuple[Entry, Outcome]:
    """HELD → DRAINING. A release of a draining key changes its pace, or nothing."""
    if entry.state is KeyState.DRAINING and entry.pace == command.pace:
        return entry, Outcome.NOTHING_TO_DO
    changed = entry._replace(
        state=KeyState.DRAINING,
        command_id=command.id,
        command_offset=offset,
        actor=command.actor,
        expires_at=None,
        pace=command.pace,
    )
    if entry.state is KeyState.DRAINING:
        return changed, Outcome.UPDATED
    return changed._replace(since=now, cut=cut), Outcome.RELEASED


def expire(entry: Entry, *, cut: int, now: int) -> Entry:
    """HELD → DRAINING, by time; the hold stays named."""
    return entry._replace(state=KeyState.DRAINING, since=now, cut=cut, expires_at=None, pace=None)


def dead_letter(entry: Entry) -> tuple[Entry, Outcome]:
    """What is held now goes to the dead letters; what comes later follows the state."""
    if entry.counted_through <= max(entry.drained_through, entry.dead_through):
        return entry, Outcome.NOTHING_TO_DO
    return entry._replace(dead_through=entry.counted_through), Outcome.DEAD_LETTERED
