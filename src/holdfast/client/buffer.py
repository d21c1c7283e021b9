"""Messages on their way from librdkafka to the user. Pure bookkeeping.

The user iterates over a chunk with C's own list iterator, so that handing out a record costs no
Python step of ours; how many were handed out is read off that iterator. Shortening the chunk in
place ends the iteration early: that is how a stop, a rebalance or a due heartbeat gets in.
"""

from collections.abc import Collection, Iterator
from operator import length_hint

from confluent_kafka import Message

from holdfast.client.positions import Partition


class Buffer:
    """Waiting messages, and one chunk of them that is being handed out.

    Of the chunk, everything before the record in hand is done; whether the record in hand is done
    only the caller knows.
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
        """Whether no message waits beyond the chunk."""
        return self._next == len(self._waiting)

    @property
    def handed(self) -> int:
        """How many messages of the chunk were handed out."""
        return len(self._chunk) - length_hint(self._cursor)

    def refill(self, messages: list[Message]) -> None:
        """Those messages wait now; none did before."""
        self._waiting, self._next = messages, 0

    def append(self, messages: list[Message]) -> None:
        """Those messages wait behind the others."""
        self._waiting.extend(messages)

    def next_chunk(self, length: int) -> Iterator[Message]:
        """Begin to hand out the next messages; the chunk before must be done."""
        if self._next == 0 and length >= len(self._waiting):  # a copy would touch every message
            self._chunk, self._waiting = self._waiting, []
        else:
            end = self._next + length
            self._chunk = self._waiting[self._next : end]
            self._next = min(end, len(self._waiting))
        self._cursor = iter(self._chunk)
        self._taken = 0
        return self._cursor

    def take_done(self, *, in_hand: bool) -> list[Message]:
        """The messages that are newly done: all handed out, the one in hand only if told so."""
        through = self.handed if in_hand else max(self._taken, self.handed - 1)
        whole = self._taken == 0 and through == len(self._chunk)
        done = self._chunk if whole else self._chunk[self._taken : through]
        self._taken = through
        return done

    def cut(self) -> None:
        """End the chunk after the record in hand; the rest waits again, in front."""
        handed = self.handed
        rest = self._chunk[handed:]
        del self._chunk[handed:]
        self._waiting = [*rest, *self._waiting[self._next :]]
        self._next = 0

    def put_back(self) -> None:
        """The record in hand, if there is one, is not done: it waits again, in front."""
        undone = self._chunk[self._taken :]
        self._waiting = [*undone, *self._waiting[self._next :]]
        self._next = 0
        self._chunk.clear()
        self._cursor = iter(self._chunk)
        self._taken = 0

    def drop(self, partitions: Collection[Partition]) -> bool:
        """Forget what is not done of those partitions. -> whether that was the record in hand.

        Everything before the record in hand must have been taken as done.
        """
        self.cut()
        self._waiting = [m for m in self._waiting if place(m) not in partitions]
        in_hand = self._chunk[self._taken :]
        if in_hand and place(in_hand[-1]) in partitions:
            self._taken = len(self._chunk)
            return True
        return False

    def waiting(self) -> list[Message]:
        """What was not handed out, in order."""
        return [*self._chunk[self.handed :], *self._waiting[self._next :]]


def place(message: Message) -> Partition:
    """The partition that a message is of."""
    return Partition(message.topic(), message.partition())  # type: ignore[arg-type]
