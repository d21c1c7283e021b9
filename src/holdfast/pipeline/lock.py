"""A lock that is given in the order in which it was asked for.

`threading.Lock` goes to whoever is quickest, which under load is always the one that has just
given it back: a keeper would wait for ever beside a busy query.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock


class FairLock:
    """First come, first served. Not re-entrant."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._held = False
        self._queue: deque[Event] = deque()

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Hold the lock. -> whether there was a wait: what was read before it may be old."""
        waited = self._acquire()
        try:
            yield waited
        finally:
            self._release()

    @property
    def wanted(self) -> bool:
        """Whether somebody waits: a long work should come to a pause."""
        return bool(self._queue)

    def _acquire(self) -> bool:
        with self._guard:
            if not self._held:
                self._held = True
                return False
            mine = Event()
            self._queue.append(mine)
        mine.wait()
        return True

    def _release(self) -> None:
        with self._guard:
            if self._queue:
                self._queue.popleft().set()  # it stays held: by the next in line
            else:
                self._held = False
