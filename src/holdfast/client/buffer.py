"""Messages between librdkafka and the user. Pure bookkeeping.

The user iterates over a chunk with the list iterator of C, so that a record costs no Python code
here. The iterator also tells how many records were taken. Truncating the list ends the iteration
early: this is how a stop, a rebalance or a due heartbeat interrupts it.
"""

from collections.abc import Collection, Iterator
from operator import length_hint

from confluent_kafka import Message

from holdfast.client.positions import Partition, message_partition


class Buffer:
    """Waiting messages, and one chunk of them that is being handed out.

    All records of the chunk before the current one are done. Only the caller knows whether the
    current one is done.
    """

    __slots__ = ("_chunk", "_cursor", "_next", "_taken", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[Message] = []
        self._next = 0
        self._chunk: list[Message] = []
        self._cursor = iter(self._chunk)
        self._taken = 0  # messages of the chunk that `take_done` has returned

    @property
    def empty(self) -> bool:
        """True if no message waits behind the chunk."""
        return self._next == len(self._waiting)

    @property
    def handed(self) -> int:
        """The number of messages of the chunk that were handed out."""
        return len(self._chunk) - length_hint(self._cursor)

    def refill(self, messages: list[Message]) -> None:
        """Set the waiting messages; there must be none."""
        self._waiting, self._next = messages, 0

    def append(self, messages: list[Message]) -> None:
        """Add messages behind the waiting ones."""
        self._waiting.extend(messages)

    def next_chunk(self, length: int) -> Iterator[Message]:
        """Start to hand out the next messages; the previous chunk must be done."""
        if self._next == 0 and length >= len(self._waiting):  # saves a copy
            self._chunk, self._waiting = self._waiting, []
        else:
            end = self._next + length
            self._chunk = self._waiting[self._next : end]
            self._next = min(end, len(self._waiting))
        self._cursor = iter(self._chunk)
        self._taken = 0
        return self._cursor

    def take_done(self, *, in_hand: bool) -> list[Message]:
        """The messages that are newly done: all handed out; the current one only if `in_hand`."""
        through = self.handed if in_hand else max(self._taken, self.handed - 1)
        whole = self._taken == 0 and through == len(self._chunk)
        done = self._chunk if whole else self._chunk[self._taken : through]
        self._taken = through
        return done

    def cut(self) -> None:
        """End the chunk after the current record; the rest waits again, in front."""
        handed = self.handed
        rest = self._chunk[handed:]
        del self._chunk[handed:]
        self._waiting = [*rest, *self._waiting[self._next :]]
        self._next = 0

    def put_back(self) -> None:
        """Put the current record back in front of the waiting ones: it is not done."""
        undone = self._chunk[self._taken :]
        self._waiting = [*undone, *self._waiting[self._next :]]
        self._next = 0
        self._chunk.clear()
        self._cursor = iter(self._chunk)
        self._taken = 0

    def drop(self, partitions: Collection[Partition]) -> bool:
        """Remove undone messages of these partitions. Returns True if the current one was removed.

        Messages before the current one must have been taken as done.
        """
        self.cut()
        self._waiting = [m for m in self._waiting if message_partition(m) not in partitions]
        in_hand = self._chunk[self._taken :]
        if in_hand and message_partition(in_hand[-1]) in partitions:
            self._taken = len(self._chunk)
            return True
        return False

    def waiting(self) -> list[Message]:
        """The messages that were not handed out, in order."""
        return [*self._chunk[self.handed :], *self._waiting[self._next :]]
