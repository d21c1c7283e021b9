"""Which keys have something due by a given time, without looking at all of them."""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush


class Deadlines:
    """A heap of (time, key). What has become void stays until it comes to the top, so the reader
    checks each key that it gets."""

    __slots__ = ("_heap",)

    def __init__(self) -> None:
        self._heap: list[tuple[int, bytes]] = []

    def add(self, at: int, key: bytes) -> None:
        heappush(self._heap, (at, key))

    def due(self, now: int) -> Iterator[bytes]:
        """The keys due at `now`, in no order; nothing is taken off: the step may yet be undone."""
        heap = self._heap
        nodes = [0]
        while nodes:
            node = nodes.pop()
            if node < len(heap) and heap[node][0] <= now:
                yield heap[node][1]
                nodes += (2 * node + 1, 2 * node + 2)

    def first(self, holds: Callable[[int, bytes], bool]) -> int | None:
        """The earliest time that still `holds`; void ones before it are dropped."""
        heap = self._heap
        while heap and not holds(*heap[0]):
            heappop(heap)
        return heap[0][0] if heap else None
