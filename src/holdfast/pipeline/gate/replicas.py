"""Replicas of the driver's state in workers: sent whole once, and then only the changes.

A task may run in any worker, and a worker may be new. So all that a replica needs goes with every
job. Large parts go as broadcasts, which each worker fetches once. Whole states in every job would
cost more than the events.
"""

import gc
import pickle
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from holdfast.gate import ChangeHistory

_INLINE_BYTES = 1024**2
"""Smaller parts go with the job: a broadcast takes some milliseconds, however small."""


class Broadcast(Protocol):
    """A broadcast of Spark's."""

    @property
    def value(self) -> bytes: ...
    def destroy(self) -> None: ...


MakeBroadcast = Callable[[bytes], Broadcast]


class Replicated(Protocol):
    """A state that records its changes, and that can apply the changes of an equal state."""

    history: ChangeHistory[Any]

    def apply(self, change: Any, /) -> None: ...


T = TypeVar("T", bound=Replicated)


@dataclass(frozen=True, slots=True)
class ReplicaUpdate(Generic[T]):
    """The part of a job with which a worker updates its replica."""

    id: str
    """The id of `whole`: a worker that has it needs the changes alone."""
    whole: bytes | Broadcast
    later: tuple[tuple[int, Broadcast], ...]
    """Large sets of changes, each with the number of its last change."""
    latest: bytes
    """The changes after those."""


class DriverReplica(Generic[T]):
    """The driver's side of one replicated state."""

    def __init__(self, broadcast: MakeBroadcast | None = None) -> None:
        """Without `broadcast` everything goes with the job."""
        self._broadcast = broadcast
        self._sent: T | None = None
        self._id = ""
        self._whole: bytes | Broadcast = b""
        self._whole_bytes = 0
        self._later: list[tuple[int, Broadcast]] = []
        self._later_bytes = 0
        self._number = 0
        """The last change that `_whole` and `_later` have."""

    def update(self, original: T) -> ReplicaUpdate[T]:
        """The update that makes a worker's replica equal to `original`, which may be another object
        than the last one."""
        changes = original.history.since(self._number) if original is self._sent else None
        if changes is None or self._later_bytes > self._whole_bytes:
            self._send_whole(original)
            changes = []
        latest = pickle.dumps(changes)
        if self._broadcast is not None and len(latest) > _INLINE_BYTES:
            self._number = original.history.end
            self._later.append((self._number, self._broadcast(latest)))
            self._later_bytes += len(latest)
            latest = pickle.dumps([])
        return ReplicaUpdate(self._id, self._whole, tuple(self._later), latest)

    def _send_whole(self, original: T) -> None:
        self._destroy_broadcasts()
        whole = pickle.dumps(original)
        self._whole, self._whole_bytes = whole, len(whole)
        if self._broadcast is not None and len(whole) > _INLINE_BYTES:
            self._whole = self._broadcast(whole)
        self._sent, self._number, self._id = original, original.history.end, str(uuid.uuid4())

    def _destroy_broadcasts(self) -> None:
        self._sent = None  # whatever happens before another is sent
        for _, broadcast in self._later:
            broadcast.destroy()
        if not isinstance(self._whole, bytes):
            self._whole.destroy()
        self._later, self._later_bytes = [], 0


class WorkerReplica(Generic[T]):
    """A worker's side of one replicated state."""

    def __init__(self) -> None:
        self._id = ""
        self._kept: T | None = None

    def follow(self, update: ReplicaUpdate[T]) -> T:
        """The state that the driver had when it made the update. The caller may apply changes that
        the driver will apply too. After any others it must throw this replica away."""
        if self._kept is None or self._id != update.id:
            whole = update.whole if isinstance(update.whole, bytes) else update.whole.value
            self._kept, self._id = pickle.loads(whole), update.id  # noqa: S301  # our own driver's
            # Spark collects garbage after every task: a second for a million held keys. Frozen
            # objects are left out, and freed when nothing refers to them any more.
            gc.freeze()
        for reach, broadcast in update.later:
            if reach > self._kept.history.end:
                _apply(self._kept, broadcast.value)
        _apply(self._kept, update.latest)
        return self._kept


def _apply(kept: Replicated, changes: bytes) -> None:
    for _, after, change, _ in pickle.loads(changes):  # noqa: S301  # our own driver's
        if after > kept.history.end:
            kept.apply(change)
