"""The last changes of something that others keep copies of, so that a copy can follow."""

from collections import deque
from typing import Any, Generic, NamedTuple, TypeVar

Change = TypeVar("Change")


class Numbered(NamedTuple, Generic[Change]):
    """One change, and the numbers that it leads from and to."""

    before: int
    after: int
    change: Change
    size: int


class Latest(Generic[Change]):
    """Changes without gaps, up to the number `end`. The oldest are forgotten when all of them are
    larger than the caller allows: a new copy costs less then.

    Pickled with what it belongs to, it is the beginning of a copy's own.
    """

    __slots__ = ("_changes", "_size", "end")

    def __init__(self, end: int = 0) -> None:
        self.end = end
        self._changes: deque[Numbered[Change]] = deque()
        self._size = 0

    def add(self, change: Change, *, to: int, size: int, most: int) -> None:
        self._changes.append(Numbered(self.end, to, change, size))
        self.end = to
        self._size += size
        while self._size > most:
            self._size -= self._changes.popleft().size

    def since(self, number: int) -> list[Numbered[Change]] | None:
        """What leads from `number` to the end; None if not all of it is known any more."""
        if number == self.end:
            return []
        found = [numbered for numbered in self._changes if numbered.before >= number]
        return found if found and found[0].before == number else None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.end,)
