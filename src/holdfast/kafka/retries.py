"""Trying again, with growing pauses, for as long as one request may take."""

from time import monotonic, sleep

from holdfast.backoff import Backoff

_FIRST_PAUSE_SECONDS = 0.003
_LONGEST_PAUSE_SECONDS = 0.25
"""Short beside an election of a leader, which takes seconds."""


class Retries:
    """Attempts at one thing. Any progress gives it the whole time again."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._backoff = Backoff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        self.succeeded()

    def succeeded(self) -> None:
        self._deadline = monotonic() + self._seconds
        self._backoff.reset()

    def again(self) -> bool:
        """Pause, and return True, unless the time is up."""
        if monotonic() >= self._deadline:
            return False
        sleep(self._backoff.next())
        return True
