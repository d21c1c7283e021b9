"""Appends the changes of a group to the log. Replies wait until they are durable."""

from collections.abc import Callable, Sequence
from enum import Enum

from holdfast.broker.groups.rebalance import Stored
from holdfast.wire.protocol.errors import ErrorCode

LogRecord = tuple[bytes, bytes | None]
Append = Callable[[Sequence[LogRecord], Stored], None]


class Kind(Enum):
    """Kinds of records. Those of one change are in one batch: all of them survive, or none."""

    CLASSIC = "classic"
    GROUP = "group"
    MEMBER = "member"
    TARGET_EPOCH = "target epoch"
    TARGET = "target"
    CURRENT = "current"
    PATTERN = "pattern"


Key = tuple[Kind, str]


class Storage:
    """The changes of one group that are not in the log yet.

    The state in memory is ahead of the log only while an append is under way. After a failed append
    the next one repeats its records, and until then every request gets an error.
    """

    def __init__(self, append: Append, encode: Callable[[Key], LogRecord]) -> None:
        self._append = append
        self._encode = encode
        self._changed: dict[Key, None] = {}
        self._waiting: list[Stored] | None = None
        """Callbacks of the last append; None if it has settled."""

    def changed(self, kind: Kind, name: str = "") -> None:
        self._changed[kind, name] = None

    def flush(self, then: Stored) -> None:
        """Appends all changes. Calls back when the group is durable as it is now."""
        keys, self._changed = self._changed, {}
        if not keys:
            if self._waiting is None:
                then(ErrorCode.NONE)
            else:
                self._waiting.append(then)
            return
        waiting = self._waiting = [then]

        def settled(error: ErrorCode) -> None:
            if self._waiting is waiting:
                self._waiting = None
            if error is not ErrorCode.NONE:
                self._changed = keys | self._changed
            for callback in waiting:
                callback(error)

        self._append([self._encode(key) for key in keys], settled)

    def deletions(self) -> list[LogRecord]:
        """Records of members and patterns that are gone, and whose deletion is not in the log."""
        return [record for key in self._changed if (record := self._encode(key))[1] is None]
