"""The circuit: tells an outage behind the handler from events that fail by themselves. Pure.

If many keys fail at once, parking each of them would be wrong: they would all wait for their back-
off, and some would use up their attempts, although nothing is wrong with them. So the circuit opens
and no events are taken. One event at a time is tried, with a growing pause, and the first success
closes the circuit.
"""

from collections import deque
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class CircuitSettings:
    """When failures are an outage."""

    window_ms: int = 30_000
    share: float = 0.5
    """Of the tries in the window that have failed."""
    keys: int = 20
    """Different keys that have failed in the window."""
    tries: int = 100
    """The window has at most this many tries: an outage after a busy time is found as soon."""
    first_pause_ms: int = 1_000
    longest_pause_ms: int = 60_000


class Allowance(Enum):
    """How many tries may begin now."""

    ALL = "all"
    ONE = "one"
    NONE = "none"


class Circuit:
    """One per process, for all partitions. Times are of the monotonic clock, in milliseconds."""

    def __init__(self, settings: CircuitSettings | None = None) -> None:
        self._settings = settings or CircuitSettings()
        self._tries: deque[tuple[int, bytes | None, bool]] = deque()
        self._failed: dict[bytes | None, int] = {}
        self._failures = 0
        self._pause = 0
        self._probe_at = 0
        self._probing = False
        self.is_open = False
        self.changes = 0
        """How often it has opened or closed."""

    def record(self, key: bytes | None, succeeded: bool, now: int) -> None:
        """A try has ended."""
        if self.is_open:
            if succeeded:
                self._close()
            elif self._probing:
                self._wait(now)
            return
        self._add(key, succeeded, now)
        settings = self._settings
        if (
            not succeeded
            and len(self._failed) >= settings.keys
            and self._failures >= settings.share * len(self._tries)
        ):
            self.is_open, self._pause = True, settings.first_pause_ms
            self.changes += 1
            self._wait(now)

    def allows(self, now: int) -> Allowance:
        """How many tries may begin at `now`. Of an open circuit ONE is said once: who gets it must
        try an event or call `give_back`."""
        if not self.is_open:
            return Allowance.ALL
        if self._probing or now < self._probe_at:
            return Allowance.NONE
        self._probing = True
        return Allowance.ONE

    def give_back(self) -> None:
        """There was nothing to try, or the result of the try is lost."""
        self._probing = False

    def next_probe(self) -> int | None:
        """When the next event may be tried, if the circuit is open."""
        return self._probe_at if self.is_open and not self._probing else None

    def _add(self, key: bytes | None, succeeded: bool, now: int) -> None:
        self._tries.append((now, key, succeeded))
        if not succeeded:
            self._failures += 1
            self._failed[key] = self._failed.get(key, 0) + 1
        tries, oldest = self._tries, now - self._settings.window_ms
        while len(tries) > self._settings.tries or tries[0][0] < oldest:
            _, old, was_success = tries.popleft()
            if not was_success:
                self._failures -= 1
                self._failed[old] -= 1
                if not self._failed[old]:
                    del self._failed[old]

    def _wait(self, now: int) -> None:
        self._probing = False
        self._probe_at = now + self._pause
        self._pause = min(2 * self._pause, self._settings.longest_pause_ms)

    def _close(self) -> None:
        self.is_open = self._probing = False
        self.changes += 1
        self._tries.clear()
        self._failed.clear()
        self._failures = 0
