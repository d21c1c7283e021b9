"""The right to commit steps of one partition, and the state that belongs to it.

Two fences stand against a worker that has lost the partition without knowing: the epoch of the
partition's transactional id, which its next owner raises, and the generation of the group, which
every commit carries. After an error the committed position alone shows what happened.
"""

import logging
from threading import Event as Flag
from time import monotonic

from holdfast import faults
from holdfast.backoff import Backoff
from holdfast.client.committed import committed_positions
from holdfast.client.loading import Loader
from holdfast.client.positions import Partition
from holdfast.errors import FencedError, HoldfastError, StaleStateError
from holdfast.flows.status import Position
from holdfast.gate import PartitionState
from holdfast.guard.shared import Shared, monotonic_ms
from holdfast.guard.writer import StepOutput, StepWriter
from holdfast.kafka.errors import MembershipLostError

log = logging.getLogger(__name__)


class LostError(StaleStateError):
    """The partition belongs to another worker now."""


class Ownership:
    """For the thread of the partition; other threads set `lost`."""

    def __init__(self, shared: Shared, partition: int) -> None:
        self.state = PartitionState.first(partition, 0, 0)
        """As of the last commit."""
        self.lost = Flag()
        """Another worker may own the partition: nothing is committed any more."""
        self.revoked_at: float | None = None
        """When the group asked for the partition, by the monotonic clock in seconds."""
        self._shared = shared
        self._partition = partition
        self._names = shared.flow.names
        self._writer = StepWriter(shared.connection, self._names, partition, shared.limits)

    @property
    def is_late(self) -> bool:
        """Returns True if the partition was revoked, and handlers had their time to end."""
        at = self.revoked_at
        return at is not None and monotonic() > at + self._shared.settings.revoke_seconds

    def take_over(self) -> None:
        """Fence every earlier owner, and load the state. The next commit must make this worker the
        owner."""
        shared = self._shared
        self._writer.renew()
        faults.reach("taken-over")
        loader = Loader(shared.connection, self._names)
        try:
            self.state = loader.begin(
                self._partition,
                self._committed(),
                start=shared.flow.start,
                control=shared.control.first,
                now=monotonic_ms(),
                epoch=-1,  # a guard's positions have none
            )
        finally:
            loader.close()

    def commit(self, output: StepOutput) -> None:
        """Commit the step once, however often that takes."""
        backoff = Backoff(0.2, 2.0)
        while True:
            if self.lost.is_set():
                raise LostError("The partition was given away before its step was committed.")
            try:
                self._writer.commit(output, self._shared.group_metadata)
                break
            except MembershipLostError as error:
                raise LostError(str(error)) from error
            except HoldfastError as error:
                if not (error.transient or isinstance(error, FencedError)):
                    raise
                log.warning("Partition %d: %s", self._partition, error)
            # A worker that was fenced learns of it here, before it fences the new owner.
            self.lost.wait(backoff.next())
            if self._was_committed(output):
                break
        self.state.apply(output.result.changes)

    def close(self) -> None:
        self._writer.close()

    def _was_committed(self, output: StepOutput) -> bool:
        """Compare, then act. LostError if another worker has committed since."""
        if self.lost.is_set():
            return False
        try:
            self._writer.renew()
            committed = self._committed()
        except HoldfastError as error:
            if not error.transient:
                raise
            log.warning("Partition %d: %s", self._partition, error)
            return False
        if committed is None and not self.state.position.step:
            return False
        if committed is not None:
            if _same(committed, output.result.position):
                return True
            if _same(committed, self.state.position):
                return False
        raise LostError(f"Another worker has taken over: its position is {committed}.")

    def _committed(self) -> Position | None:
        """The committed position, after open transactions have ended."""
        connection = self._shared.connection
        reader = connection.reader(group=self._names.group)
        try:
            source = {Partition(self._names.events, self._partition)}
            timeout = connection.settings.request_timeout
            return committed_positions(reader, source, timeout)[self._partition]
        finally:
            reader.close()


def _same(one: Position, other: Position) -> bool:
    return (one.offset, one.control, one.step, one.owner) == (
        other.offset, other.control, other.step, other.owner,
    )  # fmt: skip
