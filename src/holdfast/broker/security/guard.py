"""Checks a request before its handler, and hides from its answer what the client may not see.

Handlers know nothing of access control. A rule of `rules` takes from the request what the client
may not do, and adds the refusals to the answer. The table has a rule for each API, so a new one
cannot be served unchecked.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.broker.context import RequestContext
from holdfast.broker.security.authorizer import Access

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

Finish = Callable[[Any], None]
"""Changes the response of the handler before it is encoded. May run on a thread."""
Rule = Callable[["Check"], Finish | None]
"""Checks one request; raises `Denied` if nothing of it is left for the handler."""


class Denied(Exception):
    """The request does not reach its handler. `response` is the answer."""

    def __init__(self, response: Any) -> None:
        super().__init__()
        self.response = response


class Check:
    """A request to be checked. The rule may take parts from it."""

    __slots__ = ("access", "broker", "request", "version")

    def __init__(self, access: Access, request: Any, version: int, broker: "Broker") -> None:
        self.access = access
        self.request = request
        self.version = version
        self.broker = broker


class Guarded:
    """The handler and the encoder of one request, with the rule of its API around them."""

    __slots__ = ("_access", "_encode", "_finish", "_handle", "_key")

    def __init__(
        self,
        key: int,
        access: Access,
        handle: Callable[["Broker", Any, RequestContext], Any],
        encode: Callable[[int, Any], Any],
    ) -> None:
        self._key = key
        self._access = access
        self._handle = handle
        self._encode = encode
        self._finish: Finish | None = None

    def handle(self, broker: "Broker", request: Any, context: RequestContext) -> Any:
        # Imported when the first request is checked: it needs the codecs of all APIs.
        from holdfast.broker.security.rules.table import RULES

        check = Check(self._access, request, context.version, broker)
        try:
            self._finish = RULES[self._key](check)
        except Denied as denied:
            broker.metrics.denied_requests += 1
            return denied.response
        return self._handle(broker, request, context)

    def encode(self, version: int, response: Any) -> Any:
        if self._finish is not None:
            self._finish(response)
        return self._encode(version, response)
