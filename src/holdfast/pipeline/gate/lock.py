"""A lock that threads get in the order of their requests.

`threading.Lock` goes to the quickest thread. Under load that is the one that has just released it:
a keeper would wait forever beside a busy intake.
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
    def turn(self) -> Iterator[None]:
        """Hold the lock."""
        self._acquire()
        try:
            yield
        finally:
            self._release()

    def _acquire(self) -> None:
        with self._guard:
            if not self._held:
                self._held = True
                return
            mine = Event()
            self._queue.append(mine)
        mine.wait()

    def _release(self) -> None:
        with self._guard:
            if self._queue:
                self._queue.popleft().set()  # it stays held: by the next in line
            else:
                self._held = False
