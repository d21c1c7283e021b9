"""The gate's time: a wall clock, which may jump, and a monotonic clock, which never does.

Holds expire by the current wall clock. Pace follows the monotonic clock. This module compares the
two, so that a jump of the wall clock is detected and reported, and ends no hold early.
"""

from dataclasses import dataclass
from typing import NamedTuple

from holdfast.clock import utc_text

TOLERATED_MS = 5_000
"""If the wall clock moves by more than this against the monotonic clock, that is a jump."""
CONFIRMED_AFTER_MS = 10_000
"""A wall clock that has jumped ahead is trusted after it has stayed ahead for this long. One that
was ahead only for a moment has ended no hold by then."""
REPORTED_FOR_MS = 60_000
"""A jump is reported for this long, so that people and dashboards have time to see it."""
_SAME_MS = 1_000
_FASTEST_SLEW = 0.1
"""Time services adjust a clock by at most a twelfth of the elapsed time (chrony), without jumps."""


class Now(NamedTuple):
    """One point in time on both clocks, in milliseconds."""

    wall: int
    """Since 1970. Holds expire by it, and records carry it."""
    monotonic: int
    """Since an arbitrary point in the past. Paced drains follow it."""


@dataclass(frozen=True, slots=True)
class Jump:
    """The wall clock was set to another time."""

    by: int
    """Milliseconds; negative if it was set back."""
    to: int
    """The time that it showed afterwards."""
    at: int
    """When, by the monotonic clock."""

    @property
    def offset(self) -> int:
        """The wall clock minus the monotonic clock, after the jump."""
        return self.to - self.at

    def __str__(self) -> str:
        direction = "ahead" if self.by > 0 else "back"
        return f"jumped {direction} by {abs(self.by) / 1000:.0f} s, to {utc_text(self.to)}"


class Clock:
    """Turns readings of both clocks into one trustworthy time.

    A jump back is followed at once: holds then end later, never early. A jump ahead is followed
    once it is confirmed; until then the time follows the monotonic clock.
    """

    __slots__ = (
        "_ahead",
        "_compared_at",
        "_offset",
        "_read_at",
        "ahead_of_broker",
        "jumps",
        "last_jump",
    )

    def __init__(self, wall: int, monotonic: int) -> None:
        self.jumps = 0
        self.last_jump: Jump | None = None
        self._offset = float(wall - monotonic)
        """The trusted value of the wall clock minus the monotonic clock."""
        self._read_at = monotonic
        self._ahead: Jump | None = None
        """A jump ahead that is not confirmed yet."""
        self.ahead_of_broker = 0
        self._compared_at = wall

    def read(self, wall: int, monotonic: int) -> Now:
        """The time, from readings of both clocks at the same moment."""
        elapsed, self._read_at = monotonic - self._read_at, monotonic
        off = wall - monotonic - self._offset
        if abs(off) <= TOLERATED_MS:
            if self._ahead is not None:
                self._note(Jump(wall - monotonic - self._ahead.offset, wall, monotonic))
                self._ahead = None
            slew = _FASTEST_SLEW * elapsed
            self._offset += max(-slew, min(slew, off))
            return Now(wall, monotonic)
        if off > 0 and not self._confirmed(off, wall, monotonic):
            return Now(round(monotonic + self._offset), monotonic)
        if off < 0:
            self._note(Jump(round(off), wall, monotonic))
        self._offset, self._ahead = float(wall - monotonic), None
        return Now(wall, monotonic)

    def _confirmed(self, off: float, wall: int, monotonic: int) -> bool:
        """Returns True if the wall clock has been this far ahead for long enough."""
        ahead = self._ahead
        if ahead is None or abs(wall - monotonic - ahead.offset) > TOLERATED_MS:
            self._ahead = ahead = Jump(round(off), wall, monotonic)
            self._note(ahead)
        return monotonic - ahead.at >= CONFIRMED_AFTER_MS

    def compare_with_broker(self, ahead: int, wall: int) -> None:
        """At `wall` the wall clock was `ahead` milliseconds ahead of the broker's; behind it if
        negative. A difference of a second or less to the last comparison is ignored."""
        if abs(ahead - self.ahead_of_broker) > _SAME_MS:
            self.ahead_of_broker, self._compared_at = ahead, wall

    def trouble(self, now: Now) -> str | None:
        """A sentence about what is wrong with the clock; None if nothing is."""
        jump = self.last_jump
        if self._ahead is not None:
            return (
                f"The pipeline's clock {self._ahead}. No hold expires by that time until it has "
                f"stayed so for {CONFIRMED_AFTER_MS // 1000} s. Check this machine's time service."
            )
        if abs(ahead := self.ahead_of_broker) > TOLERATED_MS:
            side, at = "ahead of" if ahead > 0 else "behind", self._compared_at
            return (
                f"The pipeline's clock is {abs(ahead) / 1000:.0f} s {side} the broker's: it said "
                f"{utc_text(at)} when the broker's said {utc_text(at - ahead)}. Holds expire by "
                "the pipeline's clock. Check the time service of both machines."
            )
        if jump is not None and now.monotonic - jump.at < REPORTED_FOR_MS:
            return (
                f"The pipeline's clock {jump}. Holds expire by that clock. Check this machine's "
                "time service."
            )
        return None

    def _note(self, jump: Jump) -> None:
        self.jumps += 1
        self.last_jump = jump
