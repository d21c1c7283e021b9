"""How one key's entry changes: ACTIVE → HELD → DRAINING → ACTIVE. No entry means ACTIVE.

All offsets except `held_end` are source offsets. A key's rows in held are those above
`drained_through`, up to `counted_through`; a draining entry always has at least one.
"""

from collections.abc import Iterable, Sequence

from holdfast.flows.commands import (
    DeadLetter,
    Hold,
    Pause,
    PrefixHold,
    PrefixRelease,
    Release,
    scope_of,
)
from holdfast.flows.holds import GUARD, MAX_HOLDS, StandingHold
from holdfast.flows.journal import CommandReference, Outcome
from holdfast.flows.status import Entry, KeyState


def hold_of(command: Hold | PrefixHold | Pause, offset: int) -> StandingHold:
    """The hold that a command at this control offset requests."""
    return StandingHold(
        id=command.id,
        offset=offset,
        actor=command.actor,
        reason=command.reason,
        expires_at=None if isinstance(command, Pause) else command.expires_at,
        name=command.hold_name,
        prefix=b"" if isinstance(command, Hold) else scope_of(command),
    )


def reference_of(hold: StandingHold) -> CommandReference | None:
    """The command that requested a hold of a key or a prefix; None for a guard's own hold."""
    if not hold.id:
        return None
    name = PrefixHold.name if hold.prefix else Hold.name
    return CommandReference(hold.id, name, hold.offset)


def add_hold(
    holds: Sequence[StandingHold], hold: StandingHold, most: int = MAX_HOLDS
) -> tuple[StandingHold, ...]:
    """The holds of a key with another one, which replaces that of the same name. Without it, if the
    key has `most` holds of other names. Holds of prefixes do not count, and are never left out."""
    others = tuple(each for each in holds if not each.is_same(hold))
    counted = 0 if hold.prefix else sum(not each.prefix for each in others)
    return tuple(holds) if counted >= most else (hold, *others)


def has_rows(entry: Entry) -> bool:
    """Returns True if the key still has rows in held."""
    return entry.counted_through > entry.drained_through


def leaves_through(entry: Entry) -> int:
    """The last source offset to leave held: of a draining key all rows leave, of a held key the
    dead-lettered ones."""
    return entry.counted_through if entry.state is KeyState.DRAINING else entry.dead_through


def gives_out(entry: Entry) -> bool:
    """Returns True if the key has rows that should leave held."""
    return entry.drained_through < leaves_through(entry)


def due_holds(entry: Entry, now: int) -> list[StandingHold]:
    """The entry's holds that have expired, in the order of their expiries."""
    expiry = entry.next_expiry
    if expiry is None or expiry > now:
        return []
    due = [hold for hold in entry.holds if not hold.stands(now)]
    return sorted(due, key=lambda hold: (hold.expires_at, hold.offset))


def begin_hold(
    key: bytes,
    holds: Iterable[StandingHold],
    *,
    cut: int,
    now: int,
    held_end: int,
    foreign: bool = False,
) -> Entry:
    """ACTIVE → HELD. Rows from an earlier hold never count: they are below the cut."""
    return Entry(
        key=key,
        state=KeyState.HELD,
        command_id="",
        actor="",
        since=now,
        cut=cut,
        held_from=held_end,
        drained_through=cut - 1,
        counted_through=cut - 1,
        foreign=foreign,
    ).with_holds(holds)


def count_in(entry: Entry, *, events: int, size: int, oldest: int, last: int) -> Entry:
    """The entry with more rows at its end, up to source offset `last`.

    The counts are the last four fields of an entry. This runs for every held key in every step:
    `_replace` would take three times as long.
    """
    return Entry(
        *entry[:-4],
        entry.events + events,
        entry.bytes + size,
        oldest if entry.oldest is None else entry.oldest,
        last,
    )


def hold_again(entry: Entry, hold: StandingHold, *, cut: int, now: int) -> tuple[Entry, Outcome]:
    """HELD: the hold of that name changes, or there is one more. DRAINING → HELD: the drain stops
    at `drained_through`."""
    if entry.state is KeyState.DRAINING:
        changed = entry.with_holds([hold])
        return changed._replace(state=KeyState.HELD, pace=None, since=now, cut=cut), Outcome.HELD
    # A foreign partition takes what the key's own one takes. It may not have expired as many yet.
    holds = add_hold(entry.holds, hold, 2 * MAX_HOLDS if entry.foreign else MAX_HOLDS)
    if hold not in holds:
        return entry, Outcome.REFUSED
    updated = len(holds) == len(entry.holds)
    return entry.with_holds(holds), Outcome.UPDATED if updated else Outcome.ADDED


def release(
    entry: Entry, command: Release | PrefixRelease, offset: int, *, cut: int, now: int
) -> tuple[Entry, Outcome]:
    """HELD → DRAINING if it ends the last hold. A release of a draining key changes its pace, or
    nothing."""
    if entry.state is KeyState.HELD:
        remaining = [hold for hold in entry.holds if not command.ends(hold)]
        if len(remaining) == len(entry.holds):
            return entry, Outcome.NOTHING_TO_DO
        if any(hold.name == GUARD and command.ends(hold) for hold in entry.holds):
            entry = entry._replace(attempts=0)
        if remaining:
            return entry.with_holds(remaining), Outcome.HOLD_RELEASED
    elif entry.pace == command.pace:
        return entry, Outcome.NOTHING_TO_DO
    changed = entry._replace(
        state=KeyState.DRAINING,
        command_id=command.id,
        command_offset=offset,
        actor=command.actor,
        reason=command.reason or entry.reason,
        expires_at=None,
        name="",
        prefix=b"",
        others=(),
        pace=command.pace,
    )
    if entry.state is KeyState.DRAINING:
        return changed, Outcome.UPDATED
    return changed._replace(since=now, cut=cut), Outcome.RELEASED


def expire(entry: Entry, hold: StandingHold, *, cut: int, now: int) -> tuple[Entry, Outcome]:
    """One hold ends by time: HELD → DRAINING if it is the last. The entry keeps the hold's id."""
    remaining = [each for each in entry.holds if each != hold]
    if remaining:
        return entry.with_holds(remaining), Outcome.HOLD_EXPIRED
    draining = entry._replace(
        state=KeyState.DRAINING, since=now, cut=cut, expires_at=None, pace=None
    )
    return draining, Outcome.EXPIRED


def dead_letter(entry: Entry, command: DeadLetter, *, cut: int, now: int) -> tuple[Entry, Outcome]:
    """All rows held now go to the dead letters; later rows follow the key's state. Or the first row
    alone, if a guard has failed to handle it. A guard's own hold ends with that row."""
    through = entry.counted_through
    if command.first:
        # A guard that parks a key sets `drained_through` to just before the failed row.
        through = entry.drained_through + 1 if entry.error else -1
    if through <= max(entry.drained_through, entry.dead_through):
        return entry, Outcome.NOTHING_TO_DO
    return end_park(entry._replace(dead_through=through), cut=cut, now=now), Outcome.DEAD_LETTERED


def end_park(entry: Entry, *, cut: int, now: int) -> Entry:
    """The entry without the guard's hold: HELD → DRAINING if that is its last one."""
    remaining = [hold for hold in entry.holds if hold.name != GUARD]
    if len(remaining) == len(entry.holds):
        return entry
    if remaining:
        return entry.with_holds(remaining)
    return entry._replace(
        state=KeyState.DRAINING, since=now, cut=cut, expires_at=None, name="", pace=None
    )
