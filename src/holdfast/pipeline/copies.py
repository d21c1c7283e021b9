"""Copies of the driver's knowledge that workers keep: sent whole once, and then what has changed.

A task may run in any worker, and a worker may be new: so whatever a copy needs goes with every job.
What is large is whole in a broadcast, which each worker fetches once.
"""

import pickle
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
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
    """Of the whole: who has it needs the changes alone."""
    whole: bytes | Broadcast
    changes: bytes


@dataclass(slots=True)
class Original(Generic[T]):
    """The driver's side of one thing that workers keep copies of."""

    spread: Spread | None = None
    """None: everything goes with the job."""
    _sent: T | None = None
    _number: int = 0
    _id: str = ""
    _whole: bytes | Broadcast = b""

    def copy(self, original: T) -> Copy[T]:
        """For workers to come to the same as `original`, which may be another than the last."""
        changes = original.latest.since(self._number) if original is self._sent else None
        if changes is None:
            self._send_whole(original)
            changes = []
        return Copy(self._id, self._whole, pickle.dumps(changes))

    def _send_whole(self, original: T) -> None:
        if not isinstance(self._whole, bytes):
            self._whole.destroy()
        whole = pickle.dumps(original)
        large = self.spread is not None and len(whole) > _INLINE_BYTES
        self._whole = self.spread(whole) if self.spread is not None and large else whole
        self._sent, self._number, self._id = original, original.latest.end, str(uuid.uuid4())


@dataclass(slots=True)
class Keeping(Generic[T]):
    """A worker's side."""

    _id: str = ""
    _kept: T | None = field(default=None)

    def follow(self, copy: Copy[T]) -> T:
        """What the driver had when it made this copy. The caller may change it by what the driver
        will follow, and otherwise has to `forget` it."""
        if self._kept is None or self._id != copy.id:
            whole = copy.whole if isinstance(copy.whole, bytes) else copy.whole.value
            self._kept, self._id = pickle.loads(whole), copy.id  # noqa: S301  # our own driver's
        kept: T = self._kept
        for _, after, change, _ in pickle.loads(copy.changes):  # noqa: S301
            if after > kept.latest.end:
                kept.apply(change)
        return kept

    def forget(self) -> None:
        self._kept = None
