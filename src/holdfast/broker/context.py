"""What a handler knows about the request beside its body, and how it answers later."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple


class RequestContext(NamedTuple):
    version: int
    client_id: str
    client_host: str
    listener: tuple[str, int]
    """The address that clients are told to connect to."""


class HangUp(NamedTuple):
    """A handler's answer where the protocol has no words: the connection is closed, with a reason.

    A Produce without acknowledgements gets no reply; closing makes its client look again.
    """

    reason: str


class PendingReply:
    """An answer that comes later, handed on in the same turn of the loop in which it is known.

    A future would cost a turn of the loop for each of produce and fetch, the two that matter.
    """

    __slots__ = ("_on_answer", "answered", "on_abandon", "response")

    def __init__(self) -> None:
        self.answered = False
        self.response: Any = None
        self.on_abandon: Callable[[], None] | None = None
        """Called if the one who asked is gone before the answer is there."""
        self._on_answer: Callable[[Any], None] | None = None

    def answer(self, response: Any) -> None:
        """Give the response; a second one is ignored."""
        if self.answered:
            return
        self.answered = True
        self.response = response
        self.on_abandon = None
        if self._on_answer is not None:
            self._on_answer(response)

    def abandon(self) -> None:
        """Nobody will hear the answer: whoever waits to give it need not wait any longer."""
        if self.on_abandon is not None:
            self.on_abandon()

    def then(self, on_answer: Callable[[Any], None]) -> None:
        if self.answered:
            on_answer(self.response)
        else:
            self._on_answer = on_answer


Reply = Any | Awaitable[Any] | PendingReply | None
"""What a handler returns: a response, one to be awaited, one that comes later, or none (acks=0)."""
