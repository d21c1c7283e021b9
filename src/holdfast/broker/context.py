"""The context of a request, and replies that come later."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from holdfast.broker.security.session import Session


class RequestContext(NamedTuple):
    version: int
    client_id: str
    client_host: str
    listener: tuple[str, int]
    """The address that clients connect to."""
    session: "Session | None" = None
    """The client's login; None if the broker checks nothing."""


class HangUp(NamedTuple):
    """Closes the connection with a reason, where the protocol has no error reply.

    A Produce without acknowledgements gets no reply. The closed connection notifies its client.
    """

    reason: str


class HandlerFailed(NamedTuple):
    """Replaces the reply after an internal error. The connection is closed, as after a crash."""

    error: BaseException


class WaitingFetch(Protocol):
    """A fetch that waits for records."""

    def finish(self) -> None:
        """Replies with the available records."""


class PendingReply:
    """A reply that comes later. It is sent in the same step of the event loop.

    A future would cost one more step of the loop for each produce and fetch.
    """

    __slots__ = (
        "_on_answer",
        "answered",
        "is_long",
        "is_working",
        "on_abandon",
        "response",
        "seconds",
    )

    def __init__(self, is_working: bool = False) -> None:
        self.answered = False
        self.is_working = is_working
        """The request is still running: later ones wait, and its frame is in use."""
        self.is_long = False
        """The response is large, so it is encoded on a thread."""
        self.seconds = 0.0
        """Time on the event loop, of a request that runs in slices."""
        self.response: Any = None
        self.on_abandon: Callable[[], None] | None = None
        """Called if the client is gone before the reply."""
        self._on_answer: Callable[[Any], None] | None = None

    def answer(self, response: Any) -> None:
        """Sends the response; a second one is ignored."""
        if self.answered:
            return
        self.answered = True
        self.response = response
        self.on_abandon = None
        if self._on_answer is not None:
            self._on_answer(response)

    def abandon(self) -> None:
        """Ends the request, because its client is gone."""
        if self.on_abandon is not None:
            self.on_abandon()

    def then(self, on_answer: Callable[[Any], None]) -> None:
        if self.answered:
            on_answer(self.response)
        else:
            self._on_answer = on_answer


Reply = Any | Awaitable[Any] | PendingReply | None
"""The result of a handler: a response, a coroutine, a later reply, or none (acks=0)."""
