"""From a frame to its reply: header, decoding, the API's handler, encoding.

A frame that cannot be understood is an error of the one who sent it: `BadFrame` says what was wrong
with it, the connection is closed, and nobody else notices.
"""

import asyncio
import importlib
import inspect
import logging
import struct
import time
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from holdfast.broker.context import HangUp, PendingReply, RequestContext
from holdfast.wire.protocol.apis import APIS, Api
from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import skip_tagged_fields

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

Buffer = bytes | bytearray | memoryview
Chunks = list[Buffer]

PRODUCE = 0
API_VERSIONS = 18
_HEADER = struct.Struct(">hhih")
_REPLY_V0 = struct.Struct(">ii")
_REPLY_V1 = struct.Struct(">iib")


class BadFrame(Exception):
    """The frame cannot be understood; the connection that sent it is closed."""


class HandlerFailed(NamedTuple):
    """Stands where a reply should be: a fault of ours. The connection is closed, as for a crash."""

    error: BaseException


class Peer(Protocol):
    """The connection that a frame came from."""

    host: str
    listener: tuple[str, int]


class _Route(NamedTuple):
    api: Api
    decode: Callable[[int, memoryview, int], Any]
    encode: Callable[[int, Any], Chunks]
    handle: Callable[["Broker", Any, RequestContext], Any]


class Dispatcher:
    """Answers frames of any connection. Handlers and codecs are imported when first asked for."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._routes: dict[int, _Route] = {}
        self._client_ids: dict[bytes, str] = {}
        self._tasks: set[asyncio.Future[Any]] = set()

    def answer(self, frame: memoryview, peer: Peer) -> Chunks | PendingReply | None:
        """The reply's chunks, or a `PendingReply` of chunks, of None or of `HandlerFailed`."""
        if len(frame) < _HEADER.size:
            raise BadFrame(f"a request of {len(frame)} bytes is too short for its header")
        key, version, correlation_id, client_id_length = _HEADER.unpack_from(frame)
        api = APIS.get(key)
        if api is None:
            raise BadFrame(f"API key {key} is not served")
        if not api.min_version <= version <= api.max_version:
            if key != API_VERSIONS:
                raise BadFrame(
                    f"version {version} of {api.name} is not served "
                    f"({api.min_version} to {api.max_version} are)"
                )
            # The one request whose version a client cannot know: it is told, in version 0.
            return self._unsupported_api_versions(correlation_id)
        route = self._routes.get(key) or self._route(api)
        position = _HEADER.size + max(client_id_length, 0)
        if position > len(frame):
            raise BadFrame("the client id reaches beyond the request")
        client_id = self._client_id(bytes(frame[_HEADER.size : position]))
        started = time.perf_counter()
        try:
            if version >= api.first_flexible:
                position = skip_tagged_fields(frame, position)
            request = route.decode(version, frame, position)
        except MalformedMessage as error:
            raise BadFrame(f"{api.name} version {version}: {error}") from None
        context = RequestContext(version, client_id, peer.host, peer.listener)
        response = route.handle(self._broker, request, context)
        metrics = self._broker.metrics.requests[key]
        if response.__class__ is HangUp:
            raise BadFrame(response.reason)
        if response.__class__ is PendingReply:
            return self._later(response, route, version, correlation_id, started)
        if inspect.isawaitable(response):
            return self._awaited(response, route, version, correlation_id, started)
        metrics.count += 1
        metrics.seconds += time.perf_counter() - started
        return None if response is None else self._encode(route, version, correlation_id, response)

    def _later(
        self, response: PendingReply, route: _Route, version: int, correlation_id: int, start: float
    ) -> PendingReply:
        encoded = PendingReply()

        def on_answer(body: Any) -> None:
            metrics = self._broker.metrics.requests[route.api.key]
            metrics.count += 1
            metrics.seconds += time.perf_counter() - start
            if body is None or isinstance(body, HandlerFailed):
                encoded.answer(body)
                return
            try:
                chunks = self._encode(route, version, correlation_id, body)
            except Exception as error:  # whoever brought the answer must not be the one to fall
                log.exception("The answer to %s cannot be written", route.api.name)
                encoded.answer(HandlerFailed(error))
            else:
                encoded.answer(chunks)

        encoded.on_abandon = response.abandon
        response.then(on_answer)
        return encoded

    def _awaited(
        self,
        response: Awaitable[Any],
        route: _Route,
        version: int,
        correlation_id: int,
        start: float,
    ) -> PendingReply:
        pending = PendingReply()
        task = asyncio.ensure_future(response)
        self._tasks.add(task)

        def on_done(task: "asyncio.Future[Any]") -> None:
            self._tasks.discard(task)
            if task.cancelled():
                pending.answer(None)
            elif (error := task.exception()) is not None:
                log.error("%s failed", route.api.name, exc_info=error)
                pending.answer(HandlerFailed(error))
            else:
                pending.answer(task.result())

        task.add_done_callback(on_done)
        return self._later(pending, route, version, correlation_id, start)

    def _encode(self, route: _Route, version: int, correlation_id: int, response: Any) -> Chunks:
        chunks = route.encode(version, response)
        size = sum(map(len, chunks))
        # ApiVersions answers with the old header always: its reader cannot know better yet.
        if version >= route.api.first_flexible and route.api.key != API_VERSIONS:
            head: Buffer = _REPLY_V1.pack(size + 5, correlation_id, 0)
        else:
            head = _REPLY_V0.pack(size + 4, correlation_id)
        if size <= _JOIN_BELOW:
            return [b"".join((head, *chunks))]
        return [head, *chunks]

    def _unsupported_api_versions(self, correlation_id: int) -> Chunks:
        route = self._routes.get(API_VERSIONS) or self._route(APIS[API_VERSIONS])
        from holdfast.broker.api import api_versions

        return self._encode(route, 0, correlation_id, api_versions.unsupported())

    def _client_id(self, raw: bytes) -> str:
        known = self._client_ids.get(raw)
        if known is None:
            known = raw.decode("utf-8", "replace")
            # Client ids are the clients' choice: what is kept of them is bounded.
            if len(raw) <= _LONGEST_KEPT_ID:
                if len(self._client_ids) >= _KEPT_IDS:
                    self._client_ids.clear()
                self._client_ids[raw] = known
        return known

    def _route(self, api: Api) -> _Route:
        generated = "holdfast.wire.protocol.generated"
        request: ModuleType = importlib.import_module(f"{generated}.{api.name}_request")
        response: ModuleType = importlib.import_module(f"{generated}.{api.name}_response")
        handler: ModuleType = importlib.import_module(f"holdfast.broker.api.{api.name}")
        route = _Route(api, request.decode, response.encode, handler.handle)
        self._routes[api.key] = route
        return route


_KEPT_IDS = 10_000
_LONGEST_KEPT_ID = 256
_JOIN_BELOW = 16 * 1024
"""Up to here one buffer is cheaper to send than several."""
