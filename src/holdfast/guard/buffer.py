"""Fetched events of one partition, between the thread that polls and the one that runs steps."""

from collections import deque
from collections.abc import Sequence
from threading import Lock

from confluent_kafka import Message

_EVENTS, _BYTES = 20_000, 32 * 1024**2


class EventBuffer:
    """Events in offset order, for two threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._messages: deque[Message] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def is_full(self) -> bool:
        """Returns True if no more events should be fetched."""
        return len(self._messages) >= _EVENTS or self._bytes >= _BYTES

    @property
    def is_hungry(self) -> bool:
        """Returns True if events should be fetched again."""
        return len(self._messages) < _EVENTS // 2 and self._bytes < _BYTES // 2

    def add(self, messages: Sequence[Message]) -> None:
        """Events after all others."""
        with self._lock:
            self._messages.extend(messages)
            self._bytes += sum(map(len, messages))

    def take(self, most: int, size: int) -> list[Message]:
        """The first events: up to `most`, and about `size` bytes."""
        taken: list[Message] = []
        with self._lock:
            while self._messages and len(taken) < most and size > 0:
                message = self._messages.popleft()
                taken.append(message)
                size -= len(message)
                self._bytes -= len(message)
        return taken

    def put_back(self, messages: Sequence[Message]) -> None:
        """Events that were taken, and that no step has used."""
        with self._lock:
            self._messages.extendleft(reversed(messages))
            self._bytes += sum(map(len, messages))
