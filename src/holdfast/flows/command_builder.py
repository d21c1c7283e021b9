"""Builds the commands of a request."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from holdfast.errors import InvalidArgumentError
from holdfast.flows.commands import (
    DeadLetter,
    Hold,
    Pause,
    PrefixHold,
    PrefixRelease,
    Release,
    Resume,
    Skip,
    Void,
)
from holdfast.flows.keys import key_bytes


@dataclass(frozen=True, slots=True)
class CommandBuilder:
    """Builds the commands of a request: its actor, its time, and the command's id."""

    actor: str
    at: int
    id: str | None = None
    """A new one unless given. Commands with the same id count once."""
    signature: str | None = None
    """The actor's name in the audit, if it says more than the actor: `anna via mcp`."""

    def hold(
        self,
        key: str | bytes,
        *,
        reason: str = "",
        expires_in: timedelta | float | None = None,
        expires_at: int | None = None,
        name: str | None = None,
    ) -> Hold:
        """`expires_in`: seconds, or a timedelta. `expires_at`: milliseconds since 1970. `name`: the
        hold's name; the actor unless given."""
        return Hold(
            **self._header(),
            key=key_bytes(key),
            reason=reason,
            **self._expiry(expires_in, expires_at),
            hold_name=self.actor if name is None else name,
        )

    def release(
        self,
        key: str | bytes,
        *,
        pace: float | None = None,
        holds: Sequence[str] | None = None,
        every: bool = False,
        reason: str = "",
    ) -> Release:
        """`holds`: the names of the holds to end; the actor's own unless given."""
        ending = self._ending(holds, every, reason)
        return Release(**self._header(), **ending, key=key_bytes(key), pace=pace)

    def hold_prefix(
        self,
        prefix: str | bytes,
        *,
        reason: str = "",
        expires_in: timedelta | float | None = None,
        expires_at: int | None = None,
        name: str | None = None,
    ) -> PrefixHold:
        """As `hold`, for all keys that begin with `prefix`."""
        return PrefixHold(
            **self._header(),
            prefix=key_bytes(prefix),
            reason=reason,
            **self._expiry(expires_in, expires_at),
            hold_name=self.actor if name is None else name,
        )

    def release_prefix(
        self,
        prefix: str | bytes,
        *,
        pace: float | None = None,
        holds: Sequence[str] | None = None,
        every: bool = False,
        reason: str = "",
    ) -> PrefixRelease:
        """As `release`, for a prefix."""
        ending = self._ending(holds, every, reason)
        return PrefixRelease(**self._header(), **ending, prefix=key_bytes(prefix), pace=pace)

    def pause(self, *, reason: str = "", name: str | None = None) -> Pause:
        """`name`: the pause's name; the actor unless given."""
        hold_name = self.actor if name is None else name
        return Pause(**self._header(), reason=reason, hold_name=hold_name)

    def resume(
        self, *, holds: Sequence[str] | None = None, every: bool = False, reason: str = ""
    ) -> Resume:
        """`holds`: the names of the pauses to end; the actor's own unless given."""
        return Resume(**self._header(), **self._ending(holds, every, reason))

    def dead_letter(self, key: str | bytes, *, reason: str = "", first: bool = False) -> DeadLetter:
        return DeadLetter(**self._header(), key=key_bytes(key), reason=reason, first=first)

    def void(self, offset: int, *, reason: str = "") -> Void:
        return Void(**self._header(), offset=offset, reason=reason)

    def skip(
        self, partition: int, first: int, last: int, *, partitions: int, reason: str = ""
    ) -> Skip:
        """`partitions`: the number of partitions of the flow."""
        if not 0 <= partition < partitions:
            raise InvalidArgumentError(
                f"There is no partition {partition}: the flow has {partitions}."
            )
        return Skip(**self._header(), partition=partition, first=first, last=last, reason=reason)

    def _expiry(
        self, expires_in: timedelta | float | None, expires_at: int | None
    ) -> dict[str, Any]:
        if expires_in is not None and expires_at is not None:
            raise InvalidArgumentError("Give 'expires_in' or 'expires_at', not both.")
        duration = None if expires_in is None else _milliseconds(expires_in)
        if duration is not None:
            expires_at = self.at + duration
        return {"expires_at": expires_at, "expires_in": duration}

    def _ending(self, holds: Sequence[str] | None, every: bool, reason: str) -> dict[str, Any]:
        names = (self.actor,) if holds is None else tuple(dict.fromkeys(holds))
        if every and not reason:
            raise InvalidArgumentError("Ending every hold needs a reason.")
        return {"holds": names, "every": every, "reason": reason}

    def _header(self) -> dict[str, Any]:
        return {
            "id": self.id or str(uuid.uuid4()),
            "actor": self.signature or self.actor,
            "at": self.at,
        }


def _milliseconds(duration: timedelta | float) -> int:
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if not 0 < seconds < 10**9:
        raise InvalidArgumentError(f"A hold expires after a positive time, not {seconds} s.")
    return max(1, round(seconds * 1000))
