"""How long a member may be silent."""

from collections.abc import Callable
from functools import partial

from holdfast.broker.groups.roster import Member
from holdfast.broker.groups.surroundings import Surroundings

NEW_MEMBER_JOIN_MS = 300_000
"""How long a new member may wait in its first join, during which it cannot send heartbeats."""


class Sessions:
    """A timer for each member: `is_over` is called with those that let it run out."""

    def __init__(self, surroundings: Surroundings, is_over: Callable[[Member], None]) -> None:
        self._call_later = surroundings.call_later
        self._is_over = is_over

    def extend(self, member: Member) -> None:
        """The member showed that it lives: its session begins anew."""
        member.end_session()
        timeout_ms = NEW_MEMBER_JOIN_MS if member.is_new else member.session_timeout_ms
        member.session = self._call_later(timeout_ms / 1000, partial(self._over, member))

    def _over(self, member: Member) -> None:
        member.session = None
        if member.is_waiting and not member.is_new:
            return  # it waits for us, not we for it: its session begins anew with the answer
        self._is_over(member)
