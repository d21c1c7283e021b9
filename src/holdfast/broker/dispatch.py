"""From a frame to its reply: header, decoding, the API's handler, encoding.

A frame that cannot be parsed is the client's error: `BadFrame` has the reason, and the connection
is closed. Other connections are not affected.
"""

import asyncio
import importlib
import inspect
import logging
import struct
import time
from collections.abc import Awaitable, Callable
from functools import partial
from types import GeneratorType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from holdfast.broker.context import HandlerFailed, HangUp, PendingReply, RequestContext
from holdfast.broker.security.guard import Guarded
from holdfast.broker.throttling import Charge, client_of, is_charged
from holdfast.broker.work import OnThread, Work
from holdfast.wire.protocol.apis import APIS, Api
from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import skip_tagged_fields

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker
    from holdfast.broker.security.session import Session

log = logging.getLogger(__name__)

Buffer = bytes | bytearray | memoryview
Chunks = list[Buffer]

PRODUCE = 0
JOIN_GROUP, SYNC_GROUP = 11, 14
API_VERSIONS = 18
_HEADER = struct.Struct(">hhih")
_REPLY_V0 = struct.Struct(">ii")
_REPLY_V1 = struct.Struct(">iib")


class BadFrame(Exception):
    """The frame cannot be parsed. Its connection is closed."""


class Peer(Protocol):
    """The connection that a frame came from."""

    host: str
    listener: tuple[str, int]
    session: "Session | None"

    def mute(self, seconds: float) -> None:
        """Reads nothing from the client for this long."""


class _Route(NamedTuple):
    api: Api
    decode: Callable[[int, memoryview, int], Any]
    encode: Callable[[int, Any], Chunks]
    handle: Callable[["Broker", Any, RequestContext], Any]


class Dispatcher:
    """Answers the frames of all connections. Handlers and codecs are imported when they are first
    needed, or earlier by `import_all`."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._workshop = broker.workshop
        self._routes: dict[int, _Route] = {}
        self._client_ids: dict[bytes, str] = {}
        self._tasks: set[asyncio.Future[Any]] = set()

    def import_all(self) -> None:
        """Imports all, on a thread: the first request of each API would delay the others."""
        for api in APIS.values():
            if api.key not in self._routes:
                self._route(api)

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
            # A client cannot know the versions of this request: the reply in version 0 has them.
            return self._unsupported_api_versions(correlation_id)
        route = self._routes.get(key) or self._route(api)
        session = peer.session
        if session is not None:
            refusal = session.refusal(key)
            if refusal is not None:
                raise BadFrame(refusal)
            if session.access is not None:
                guarded = Guarded(key, session.access, route.handle, route.encode)
                route = _Route(api, route.decode, guarded.encode, guarded.handle)
        position = _HEADER.size + max(client_id_length, 0)
        if position > len(frame):
            raise BadFrame("the client id reaches beyond the request")
        client_id = self._client_id(bytes(frame[_HEADER.size : position]))
        context = RequestContext(version, client_id, peer.host, peer.listener, session)
        charge = self._charge(key, len(frame), context, peer) if self._broker.quotas.keys else None
        started = time.perf_counter()
        response: Any
        try:
            if version >= api.first_flexible:
                position = skip_tagged_fields(frame, position)
            if len(frame) > _LONG_FRAME and key not in _DECODED_AT_ONCE:
                response = self._decode_and_handle(route, frame, position, context)
            else:
                request = route.decode(version, frame, position)
                response = route.handle(self._broker, request, context)
        except MalformedMessage as error:
            raise BadFrame(f"{api.name} version {version}: {error}") from None
        if response.__class__ is GeneratorType:
            response = self._workshop.answer(response)
        if response.__class__ is HangUp:
            raise BadFrame(response.reason)
        if response.__class__ is PendingReply:
            return self._later(response, route, version, correlation_id, started, charge)
        if inspect.isawaitable(response):
            return self._awaited(response, route, version, correlation_id, started, charge)
        metrics = self._broker.metrics.requests[key]
        metrics.count += 1
        seconds = time.perf_counter() - started
        metrics.seconds += seconds
        if charge is not None:
            response = charge.settle(response, seconds)
        return None if response is None else self._encode(route, version, correlation_id, response)

    def _decode_and_handle(
        self, route: _Route, frame: memoryview, position: int, context: RequestContext
    ) -> Work[Any]:
        """Decodes a request with thousands of names on a thread."""
        try:
            request = yield OnThread(partial(route.decode, context.version, frame, position))
        except MalformedMessage as error:
            return HangUp(f"{route.api.name} version {context.version}: {error}")
        response = route.handle(self._broker, request, context)
        if response.__class__ is GeneratorType:
            response = yield from response
        elif inspect.isawaitable(response):
            response = yield asyncio.ensure_future(response)
        return response

    def _charge(self, key: int, size: int, context: RequestContext, peer: Peer) -> Charge | None:
        """The quotas of a request; None if it has none."""
        client = client_of(context)
        if client is None or not is_charged(key):
            return None
        return Charge(self._broker.quotas, self._broker.metrics, peer, client, key, size)

    def _later(
        self,
        response: PendingReply,
        route: _Route,
        version: int,
        correlation_id: int,
        start: float,
        charge: Charge | None,
    ) -> PendingReply:
        encoded = PendingReply(response.is_working)
        at_once = time.perf_counter() - start

        def on_answer(body: Any) -> None:
            metrics = self._broker.metrics.requests[route.api.key]
            metrics.count += 1
            metrics.seconds += time.perf_counter() - start
            if charge is not None:
                body = charge.settle(body, response.seconds if response.is_working else at_once)
            if body is None or isinstance(body, HandlerFailed | HangUp):
                encoded.answer(body)
                return
            if response.is_long:
                encode = partial(self._encode, route, version, correlation_id, body)
                self._workshop.encode(encode).add_done_callback(on_encoded)
                return
            try:
                chunks = self._encode(route, version, correlation_id, body)
            except Exception as error:  # the caller must not fail
                log.exception("The reply to %s cannot be encoded", route.api.name)
                encoded.answer(HandlerFailed(error))
            else:
                encoded.answer(chunks)

        def on_encoded(chunks: "asyncio.Future[Chunks]") -> None:
            if chunks.cancelled():
                encoded.answer(None)
            elif (error := chunks.exception()) is not None:
                log.error("The reply to %s cannot be encoded", route.api.name, exc_info=error)
                encoded.answer(HandlerFailed(error))
            else:
                encoded.answer(chunks.result())

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
        charge: Charge | None,
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
        return self._later(pending, route, version, correlation_id, start, charge)

    def _encode(self, route: _Route, version: int, correlation_id: int, response: Any) -> Chunks:
        chunks = route.encode(version, response)
        size = sum(map(len, chunks))
        # ApiVersions always has the old header: the client does not know the versions yet.
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
            # Clients choose their ids, so the kept part is bounded.
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
_LONG_FRAME = 64 * 1024
"""Larger ones have their own buffer, which outlives this step of the event loop."""
_DECODED_AT_ONCE = {PRODUCE, JOIN_GROUP, SYNC_GROUP}
"""They have few names and many bytes. Members wait for a long time, without the frame."""
_JOIN_BELOW = 16 * 1024
"""Up to this size one buffer is cheaper to send than several."""
