"""Shared memory of large requests while they arrive."""

from collections import defaultdict, deque
from typing import Protocol

SHARE_OF_A_HOST = 2
"""One host may use half of it."""
MOST_OVER = 2
"""Number of requests, of different hosts, that may exceed the limit in order to finish."""


class Taker(Protocol):
    """A connection that receives a large request."""

    host: str

    def memory_granted(self) -> None:
        """Called when memory may be free: try again."""


class RequestMemory:
    """Memory of all unfinished large requests. They take it while they fill.

    A connection without memory waits in a queue. Half-received requests could all wait for each
    other, so one of them may exceed the limit, by at most the size of the largest request.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.taken = 0
        self._of_host: defaultdict[str, int] = defaultdict(int)
        self._over: set[Taker] = set()
        self._waiting: deque[Taker] = deque()

    def take(self, size: int, taker: Taker, has: int = 0) -> bool:
        """Returns True if `taker`, which `has` bytes, gets `size` more; otherwise queues it."""
        if not self._fits(size, taker.host) and not self._may_go_over(taker, has):
            self._waiting.append(taker)
            return False
        self.taken += size
        self._of_host[taker.host] += size
        return True

    def _fits(self, size: int, host: str) -> bool:
        of_host = self._of_host.get(host, 0)
        return (not self.taken or self.taken + size <= self._limit) and (
            not of_host or of_host + size <= self._limit // SHARE_OF_A_HOST
        )

    def _may_go_over(self, taker: Taker, has: int) -> bool:
        if taker in self._over:
            return True
        if not has or len(self._over) >= MOST_OVER:
            return False
        if any(other.host == taker.host for other in self._over):
            return False
        self._over.add(taker)
        return True

    def give_back(self, size: int, taker: Taker) -> None:
        self.taken -= size
        self._of_host[taker.host] -= size
        if not self._of_host[taker.host]:
            del self._of_host[taker.host]
        self._over.discard(taker)
        for _ in range(len(self._waiting)):  # those without memory queue again
            if self._waiting:  # one that got memory may have finished and woken others
                self._waiting.popleft().memory_granted()

    def forget(self, taker: Taker) -> None:
        self._waiting = deque(each for each in self._waiting if each is not taker)
