"""Pace: a token a row, so many a second, and never more than a second's worth saved up."""

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class Bucket:
    """Tokens as of a time. It starts empty, so a restart gives nothing away."""

    tokens: float
    at: int

    def filled(self, pace: float, now: int) -> "Bucket":
        """The bucket at `now`. A clock that was set back costs what was to come, not what is in."""
        earned = pace * max(0, now - self.at) / 1000
        # A pace below one a second still has to reach one whole token.
        return Bucket(min(self.tokens + earned, max(1.0, pace)), now)

    def take(self, count: int) -> "Bucket":
        return Bucket(self.tokens - count, self.at)

    def ready_at(self, pace: float) -> int:
        """When there is a whole token."""
        return self.at + max(0, ceil((1 - self.tokens) * 1000 / pace))


def rows_ahead(pace: float | None, unpaced: int) -> int:
    """How many rows of a key are worth reading ahead: what can go out in a second."""
    return unpaced if pace is None else min(unpaced, max(1, ceil(pace)))
