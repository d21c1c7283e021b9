"""The holds of a key, as far as the view knows: by status, and by commands that are newer."""

from holdfast.flows.holds import StandingHold, holds_of_key
from holdfast.flows.journal import Outcome
from holdfast.views.audit import EXPIRIES, AuditRow, HistoryItem
from holdfast.views.flow_view import FlowView

_ACTED = frozenset(
    {Outcome.HELD, Outcome.ADDED, Outcome.UPDATED, Outcome.RELEASED, Outcome.HOLD_RELEASED}
)


def standing_holds(view: FlowView, key: bytes) -> tuple[StandingHold, ...]:
    """The holds of a key, newest first, without those of its prefixes.

    Journal and status are different topics, and a client that has just seen its hold take effect
    may extend or release it. So commands that are newer than the state in status count, too, also
    if they are only requested.
    """
    found = view.key(key)
    holds = {hold.name: hold for hold in holds_of_key(found.row.holds)}
    for item in sorted(found.history, key=_place_of_command):
        row = item.requested or item.effective[0]
        offset = row.offset if item.requested else row.command_offset
        outcomes = {each.outcome for each in item.effective}
        if offset is None or (outcomes and not outcomes & (_ACTED | EXPIRIES)):
            continue
        if outcomes & EXPIRIES:
            holds = {name: hold for name, hold in holds.items() if hold.offset != offset}
        elif row.command == "hold":
            if row.name not in holds or holds[row.name].offset < offset:
                holds[row.name] = _hold_of(row, offset)
        elif row.command == "release":
            holds = {
                name: hold
                for name, hold in holds.items()
                if hold.offset > offset or not (row.every or name in row.holds)
            }
    return tuple(sorted(holds.values(), key=lambda hold: hold.offset, reverse=True))


def _hold_of(row: AuditRow, offset: int) -> StandingHold:
    return StandingHold(row.command_id, offset, row.actor, row.reason, row.expires_at, row.name)


def _place_of_command(item: HistoryItem) -> tuple[int, bool]:
    """The offset on the control log; an expiry sorts after its hold. Times do not sort commands,
    because the clocks of actors may differ."""
    row = item.requested or item.effective[0]
    offset = row.offset if item.requested else row.command_offset
    return (-1 if offset is None else offset), item.requested is None
