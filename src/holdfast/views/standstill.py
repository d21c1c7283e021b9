"""Since when and why data does not move, although its follower runs: the broker fails."""

from dataclasses import dataclass
from time import monotonic

from holdfast.clock import now_ms, utc_text

LASTING_SECONDS = 5.0
"""A shorter standstill, such as that of a new leader, is not reported."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """A follower without progress."""

    why: str
    since: int
    """By the wall clock, for people."""
    begun: float
    """By the monotonic clock."""

    @classmethod
    def after(cls, earlier: "Standstill | None", why: str) -> "Standstill":
        """The standstill after another error: it began with the first of them."""
        if earlier is None:
            return cls(why, now_ms(), monotonic())
        return cls(why, earlier.since, earlier.begun)

    @property
    def age_ms(self) -> int:
        return round(1000 * (monotonic() - self.begun))

    @property
    def lasts(self) -> bool:
        return self.age_ms >= 1000 * LASTING_SECONDS

    def __str__(self) -> str:
        return f"Data stands still since {utc_text(self.since)}: {self.why}"
