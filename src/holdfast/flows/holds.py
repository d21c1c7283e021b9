"""The holds of a key. A key may have several, each with a name; it is HELD while one stands.

Some holds are of a *scope*: of all keys with a prefix, or of the whole flow. A hold of a prefix is
a hold of each of its keys. A hold of the whole flow is called a pause: its events are not taken.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from holdfast.clock import from_ms
from holdfast.errors import ConflictError
from holdfast.flows.documents import Document
from holdfast.flows.keys import drawn, key_to_json

MAX_HOLDS = 32
"""Holds of one key, each under another name. All of them are in one record of status: with the
longest reasons and names these are 200 kB, and a record has at most 1 MB."""

GUARD = "the guard"
"""The name of the hold under which a guard parks a key whose event has failed. It expires when the
event is tried again, or never, once a person must decide."""

MAX_PREFIX_HOLDS = 100
"""Holds of prefixes in one flow. All of them may be holds of one key."""

MAX_PREFIX_BYTES = 1024

WHOLE_FLOW = b""
"""The scope of a pause; any other scope is a prefix. The empty prefix is no scope of a hold."""


class StandingHold(NamedTuple):
    """A hold that has neither been released nor expired."""

    id: str
    """The id of the command that began it, or changed it last."""
    offset: int
    """The offset of that command on the control log."""
    actor: str
    reason: str = ""
    expires_at: int | None = None
    """Milliseconds since 1970; None if it never expires."""
    name: str = ""
    """The hold's name. Empty: it was requested before holds had names."""
    prefix: bytes = b""
    """The prefix that it holds; empty for a hold of one key, and for a pause. Holds of one key and
    of a prefix may have the same name: they are different holds."""

    @property
    def label(self) -> str:
        """The name for people: of a hold without a name, its actor."""
        return self.name or self.actor

    def is_same(self, other: "StandingHold") -> bool:
        """Returns True if the other has the same name and prefix: the later one replaces it."""
        return (self.name, self.prefix) == (other.name, other.prefix)

    def stands(self, now: int) -> bool:
        return self.expires_at is None or self.expires_at > now


def held_until(holds: Iterable[StandingHold]) -> int | None:
    """When the last of the holds ends by itself; None if one never does, or if there is none."""
    times = [hold.expires_at for hold in holds]
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def reasons_of(holds: Iterable[StandingHold]) -> str:
    """The different reasons of the holds in one line."""
    return " · ".join(dict.fromkeys(hold.reason for hold in holds if hold.reason))


class ChooseHoldError(ConflictError):
    """A key has several holds, none of them of this actor, and the request names none."""


def holds_of_key(holds: Iterable[StandingHold]) -> tuple[StandingHold, ...]:
    """The holds of a key that are of it alone. One of a prefix is released for all its keys."""
    return tuple(hold for hold in holds if not hold.prefix)


def own_or_only(
    holds: Sequence[StandingHold], actor: str, whose: str = "The key"
) -> tuple[StandingHold, ...]:
    """The holds that an actor means who names none: their own; or the only one; or none, if there
    is none. ChooseHoldError if others have several. `whose`: the beginning of its message."""
    own = tuple(hold for hold in holds if hold.label == actor)
    if own or len(holds) <= 1:
        return own or tuple(holds)
    raise ChooseHoldError(
        f"{whose} has {len(holds)} holds, and none is of {actor}: "
        f"{', '.join(map(describe_hold, holds))}. Name those that you mean, or all with a reason."
    )


def describe_hold(hold: StandingHold) -> str:
    """The hold for people: its name, its expiry and its reason."""
    ends = "never expires" if hold.expires_at is None else f"until {_minute(hold.expires_at)}"
    scope = f"the prefix {prefix_text(hold.prefix)}, " if hold.prefix else ""
    return f"{hold.label} ({scope}{ends})" + (f": {hold.reason}" if hold.reason else "")


def prefix_text(prefix: bytes) -> str:
    """A prefix as people read it."""
    return drawn(prefix.decode(errors="replace"))


def _minute(milliseconds: int) -> str:
    return f"{from_ms(milliseconds):%Y-%m-%d %H:%M} UTC"


def still_held(key: str, holds: Sequence[StandingHold]) -> str:
    """A sentence about the holds of a key that stand; empty if none does."""
    if not holds:
        return ""
    return f"{key} is still held by {'; by '.join(map(describe_hold, holds))}."


def hold_to_json(hold: StandingHold) -> dict[str, Any]:
    """The hold as a JSON object; empty fields are left out."""
    fields = {
        "id": hold.id,
        "offset": hold.offset,
        "actor": hold.actor,
        "reason": hold.reason or None,
        "expires_at": hold.expires_at,
        "name": hold.name or None,
        **(key_to_json(hold.prefix, "prefix") if hold.prefix else {}),
    }
    return {name: value for name, value in fields.items() if value is not None}


def hold_from_json(document: Document) -> StandingHold:
    """The hold in a JSON object, or InvalidRecordError."""
    hold = StandingHold(
        id=document.text("id"),
        offset=document.integer("offset"),
        actor=document.text("actor"),
        reason=document.optional_text("reason") or "",
        expires_at=document.optional_integer("expires_at"),
        name=document.optional_text("name") or "",
        prefix=document.optional_key("prefix") or b"",
    )
    document.end()
    return hold
