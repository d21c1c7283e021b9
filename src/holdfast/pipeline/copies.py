"""Copies of the driver's knowledge that workers keep: sent whole once, and then what has changed.

A task may run in any worker, and a worker may be new: so whatever a copy needs goes with every job.
What is large is whole in a broadcast, which each worker fetches once.
"""

import gc
import pickle
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from holdfast.gate import Latest

_INLINE_BYTES = 1024**2
"""What is smaller goes with the job: a broadcast takes some milliseconds, however small."""


class Broadcast(Protocol):
    """As Spark has it."""

    @property
    def value(self) -> bytes: ...
    def destroy(self) -> None: ...


Spread = Callable[[bytes], Broadcast]
"""Makes a broadcast."""


class Followed(Protocol):
    """What tells its changes, and can follow those of another that was the same."""

    latest: Latest[Any]

    def apply(self, change: Any, /) -> None: ...


T = TypeVar("T", bound=Followed)


@dataclass(frozen=True, slots=True)
class Copy(Generic[T]):
    """As it travels."""

    id: str
    """Of the whole: who has it needs what came later alone."""
    whole: bytes | Broadcast
    later: tuple[tuple[int, Broadcast], ...]
    """Changes that are many, by the number to which they lead."""
    latest: bytes
    """The changes after those."""


class Original(Generic[T]):
    """The driver's side of one thing that workers keep copies of."""

    def __init__(self, spread: Spread | None = None) -> None:
        """Without `spread` everything goes with the job."""
        self._spread = spread
        self._sent: T | None = None
        self._id = ""
        self._whole: bytes | Broadcast = b""
        self._whole_bytes = 0
        self._later: list[tuple[int, Broadcast]] = []
        self._later_bytes = 0
        self._number = 0
        """What leads to this is whole or later."""

    def copy(self, original: T) -> Copy[T]:
        """For workers to come to the same as `original`, which may be another than the last."""
        changes = original.latest.since(self._number) if original is self._sent else None
        if changes is None or self._later_bytes > self._whole_bytes:
            self._send_whole(original)
            changes = []
        latest = pickle.dumps(changes)
        if self._spread is not None and len(latest) > _INLINE_BYTES:
            self._number = original.latest.end
            self._later.append((self._number, self._spread(latest)))
            self._later_bytes += len(latest)
            latest = pickle.dumps([])
        return Copy(self._id, self._whole, tuple(self._later), latest)

    def _send_whole(self, original: T) -> None:
        self._let_go()
        whole = pickle.dumps(original)
        self._whole, self._whole_bytes = whole, len(whole)
        if self._spread is not None and len(whole) > _INLINE_BYTES:
            self._whole = self._spread(whole)
        self._sent, self._number, self._id = original, original.latest.end, str(uuid.uuid4())

    def _let_go(self) -> None:
        self._sent = None  # whatever happens before another is sent
        for _, broadcast in self._later:
            broadcast.destroy()
        if not isinstance(self._whole, bytes):
            self._whole.destroy()
        self._later, self._later_bytes = [], 0


class Keeping(Generic[T]):
    """A worker's side."""

    def __init__(self) -> None:
        self._id = ""
        self._kept: T | None = None

    def follow(self, copy: Copy[T]) -> T:
        """What the driver had when it made this copy. The caller may change it by what the driver
        will follow; if it does otherwise, this must be thrown away."""
        if self._kept is None or self._id != copy.id:
            whole = copy.whole if isinstance(copy.whole, bytes) else copy.whole.value
            self._kept, self._id = pickle.loads(whole), copy.id  # noqa: S301  # our own driver's
            # Spark has a worker's objects looked through for garbage after every task: a second
            # for a million held keys. These go when nothing refers to them any more.
            gc.freeze()
        for reach, broadcast in copy.later:
            if reach > self._kept.latest.end:
                _apply(self._kept, broadcast.value)
        _apply(self._kept, copy.latest)
        return self._kept


def _apply(kept: Followed, changes: bytes) -> None:
    for _, after, change, _ in pickle.loads(changes):  # noqa: S301  # our own driver's
        if after > kept.latest.end:
            kept.apply(change)
