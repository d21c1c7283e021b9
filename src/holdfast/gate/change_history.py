"""The last changes of an object that other processes keep copies of."""

from collections import deque
from typing import Any, Generic, NamedTuple, TypeVar

Change = TypeVar("Change")


class VersionedChange(NamedTuple, Generic[Change]):
    """One change, with the versions before and after it."""

    before: int
    after: int
    change: Change
    size: int


class ChangeHistory(Generic[Change]):
    """Changes without gaps, up to version `end`. The oldest are dropped once the total size is
    above the caller's limit: sending a full copy is then cheaper.

    Pickling keeps `end` alone: a copy starts with an empty history of its own.
    """

    __slots__ = ("_changes", "_size", "end")

    def __init__(self, end: int = 0) -> None:
        self.end = end
        self._changes: deque[VersionedChange[Change]] = deque()
        self._size = 0

    def add(self, change: Change, *, to: int, size: int, most: int) -> None:
        self._changes.append(VersionedChange(self.end, to, change, size))
        self.end = to
        self._size += size
        while self._size > most:
            self._size -= self._changes.popleft().size

    def since(self, version: int) -> list[VersionedChange[Change]] | None:
        """The changes from `version` to the end, or None if some of them were dropped."""
        if version == self.end:
            return []
        changes = [change for change in self._changes if change.before >= version]
        return changes if changes and changes[0].before == version else None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.end,)
