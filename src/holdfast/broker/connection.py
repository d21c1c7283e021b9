"""One client's connection: frames in, replies out in the order of their requests.

The memory of a client is bounded. The broker reads from it only while fewer than `MAX_IN_FLIGHT` of
its requests are unanswered and it reads its replies. Only Produce is pipelined, so at most one
fetch reply per connection is in memory. A frame larger than the shared receive buffer takes memory
from a common limit while it fills, and waits if there is none.
"""

import asyncio
import logging
import time
from collections import deque
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import TYPE_CHECKING, Any, cast

from holdfast.broker.context import HandlerFailed, HangUp, PendingReply
from holdfast.broker.dispatch import PRODUCE, BadFrame, Chunks, Dispatcher

if TYPE_CHECKING:
    from holdfast.broker.listener import Listener
    from holdfast.broker.security.endpoints import Endpoint
    from holdfast.broker.security.session import Session

log = logging.getLogger(__name__)

MAX_IN_FLIGHT = 32
"""Unanswered Produce requests of one connection; librdkafka's idempotent producer has five."""
RECEIVE_BYTES = 64 * 1024
BEGUN_BYTES = RECEIVE_BYTES // 2
"""Received bytes from which a large frame takes shared memory: a client that only announces one, or
sends little of it, takes none."""
LOGIN_BYTES = 32 * 1024
"""Maximum size of a request before the login: such clients get none of the shared memory."""
WRITE_HIGH_WATER = 256 * 1024
"""Unsent bytes above which the broker stops reading from the client."""

# One receive buffer for all connections: asyncio fills it and hands it over in one step, and an
# incomplete frame is copied before the next connection uses the buffer.
_receive = bytearray(RECEIVE_BYTES)
_receive_view = memoryview(_receive)

# The system allocates a page when it is first written. A bytearray would be cleared at once, and
# copied to grow: for a frame of 100 MB that delays all other clients.
_PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS

_SIZE_BYTES = 4
_SMALLEST_REQUEST = 8


class Connection(asyncio.BufferedProtocol):
    """Parses frames, replies in order, and stops reading from a client with too many requests."""

    def __init__(self, listener: "Listener", dispatcher: Dispatcher, endpoint: "Endpoint") -> None:
        self._owner = listener
        self._dispatcher = dispatcher
        self._protocol = endpoint.protocol
        self.host = ""
        self.session: Session | None = None
        self.listener = endpoint.address
        self.opened_at = self.last_active = listener.now()
        self._transport: asyncio.Transport
        self._replies: deque[PendingReply] = deque()
        self._only_produce_pending = True
        self._backlog = b""  # received, not parsed yet: the connection is blocked
        self._frame: mmap | None = None  # a large frame being received
        self._room = 0  # bytes of it that may be received
        self._frame_size = 0  # its final size
        self._filled = 0
        self._owed_since: float | None = None
        self._stopped_at = 0.0
        self._granted = 0  # bytes of the shared request memory that `_frame` has
        self._working: PendingReply | None = None  # a request that runs in slices
        self._worked_on = 0  # bytes of the shared request memory that its frame has
        self._awaiting_memory = False
        self._muted: asyncio.TimerHandle | None = None
        """Ends the time in which a throttled client is not read."""
        self._reading = True
        self._writable = True
        self._unsent = 0
        self._reads_since = 0.0
        self._closing = False

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no asyncio class.
        self._transport = transport = cast("asyncio.Transport", transport)
        transport.set_write_buffer_limits(high=WRITE_HIGH_WATER)
        peer = transport.get_extra_info("peername")
        self.host = peer[0] if peer else ""
        self.session = self._owner.broker.security.session(self._protocol, self.host)
        if not self._owner.opened(self):
            self._closing = True
            transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._closing = True
        if self._muted is not None:
            self._muted.cancel()
        replies, self._replies = self._replies, deque()
        for reply in replies:
            reply.abandon()
        self._release_frame()
        self._release_worked_on()
        self._set_unsent(0)
        self._owner.closed(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._frame is not None:
            return memoryview(self._frame)[self._filled : self._room]
        return _receive_view

    def buffer_updated(self, count: int) -> None:
        started = time.perf_counter()
        self._received(count)
        self._owner.broker.metrics.longest_turn.note(time.perf_counter() - started)

    def _received(self, count: int) -> None:
        self.last_active = self._owner.now()
        if self._frame is None:
            self._parse(_receive_view[:count])
            return
        self._filled += count
        if self._filled < self._room or (
            self._filled < self._frame_size and not self._grow_frame()
        ):
            return
        if self._filled == self._frame_size:
            self._owed_since = None
            frame = memoryview(self._frame)
            if not self._may_answer(frame):
                # The frame is complete; `_unblock` handles it.
                self._stop_reading()
                return
            self._finish_frame(frame)

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._writable = False
        self._reads_since = self._owner.now()
        self._set_unsent(self._unsent_now())
        self._owner.replies_grew()

    def resume_writing(self) -> None:
        self._writable = True
        self._set_unsent(0)
        self._unblock()

    def _unsent_now(self) -> int:
        return self._transport.get_write_buffer_size()

    def _set_unsent(self, size: int) -> None:
        self._owner.unsent_replies += size - self._unsent
        self._unsent = size

    # the listener's side

    @property
    def frame_owed_since(self) -> float | None:
        """Since when the client has not finished a frame, without times in which the broker did not
        read; None if no frame is open."""
        return self._owed_since if self._reading else None

    @property
    def is_admitted(self) -> bool:
        """Returns True if the client has proved who it is, or does not need to."""
        return self.session is None or self.session.principal is not None

    @property
    def waiting(self) -> bool:
        """Returns True if the client waits for the broker."""
        return (
            bool(self._replies)
            or self._awaiting_memory
            or self._muted is not None
            or not self._writable
        )

    @property
    def has_unanswered(self) -> bool:
        return bool(self._replies)

    @property
    def unsent(self) -> int:
        """Bytes of replies that the client has yet to read."""
        return self._unsent

    def reads_since(self) -> float:
        """When the client last read something of a reply that waits for it."""
        if not self._writable and not self._transport.is_closing():
            unsent = self._unsent_now()
            if unsent < self._unsent:
                self._reads_since = self._owner.now()
            self._set_unsent(unsent)
        return self._reads_since

    def memory_granted(self) -> None:
        self._awaiting_memory = False
        self._unblock()

    def mute(self, seconds: float) -> None:
        if self._closing:
            return
        end = self._owner.now() + seconds
        if self._muted is not None:
            end = max(end, self._muted.when())
            self._muted.cancel()
        self._muted = asyncio.get_running_loop().call_at(end, self._unmute)
        if self._frame is None:
            self._stop_reading()  # otherwise once that frame is answered: others need its memory

    @property
    def _is_muted(self) -> bool:
        """Returns True if the client must wait. A large frame that has begun is received first."""
        return self._muted is not None and self._frame is None

    def _unmute(self) -> None:
        self._muted = None
        self.last_active = self._owner.now()  # it could not send anything
        self._unblock()

    def drain(self) -> None:
        """Reads no further requests. Running ones still get their reply."""
        self._closing = True
        self._stop_reading()
        self._close_when_answered()

    def abort(self) -> None:
        self._closing = True
        self._set_unsent(0)
        self._transport.abort()

    # frames

    def _parse(self, data: memoryview) -> None:
        if self._backlog:
            data = memoryview(bytearray(self._backlog) + data)
            self._backlog = b""
        position, end = 0, len(data)
        while not self._closing and end - position >= _SIZE_BYTES:
            size = int.from_bytes(data[position : position + _SIZE_BYTES], "big", signed=True)
            if not self._size_is_fine(size):
                return
            start = position + _SIZE_BYTES
            if end - start < size:
                if size <= RECEIVE_BYTES - _SIZE_BYTES or end - start < BEGUN_BYTES:
                    break
                if not self._may_answer(data[start:]):
                    # Otherwise it would keep memory that others need while it waits.
                    self._stop_reading()
                    break
                self._begin_frame(data, position, size)
                return
            frame = data[start : start + size]
            if not self._may_answer(frame):
                self._stop_reading()
                break
            self._owed_since = None
            self._answer(frame)
            position = start + size
        if position < end and not self._closing:
            self._backlog = bytes(data[position:])
            self._owe_frame()

    def _size_is_fine(self, size: int) -> bool:
        most = self._owner.settings.max_request_bytes
        if not self.is_admitted:
            most = min(most, LOGIN_BYTES)
        if _SMALLEST_REQUEST <= size <= most:
            return True
        self._refuse(f"a frame of {size} bytes; {_SMALLEST_REQUEST} to {most} are accepted")
        return False

    def _begin_frame(self, data: memoryview, position: int, size: int) -> None:
        """Receives the rest of a large frame into its own buffer."""
        part = data[position + _SIZE_BYTES :]
        room = min(size, 2 * len(part))
        if not self._take_memory(room):
            self._backlog = bytes(data[position:])
            return
        self._frame = mmap(-1, size, _PRIVATE)
        self._frame[: len(part)] = part
        self._room = room
        self._frame_size = size
        self._filled = len(part)
        self._owe_frame()

    def _grow_frame(self) -> bool:
        """Receives more of a frame, which takes at most twice the memory of its received bytes."""
        room = min(self._frame_size, 2 * self._room)
        if not self._take_memory(room - self._room):
            return False
        self._room = room
        return True

    def _take_memory(self, size: int) -> bool:
        if self._owner.request_memory.take(size, self, has=self._granted):
            self._granted += size
            return True
        self._awaiting_memory = True
        self._stop_reading()
        return False

    def _owe_frame(self) -> None:
        if self._owed_since is None:
            self._owed_since = self._owner.now()

    def _finish_frame(self, frame: memoryview) -> None:
        self._answer(frame)
        if self._working is not None and not self._closing:
            self._worked_on, self._granted = self._granted, 0
        self._release_frame()
        if self._muted is not None:
            self._stop_reading()

    def _release_worked_on(self) -> None:
        if self._worked_on:
            granted, self._worked_on = self._worked_on, 0
            self._owner.request_memory.give_back(granted, self)

    def _release_frame(self) -> None:
        self._frame = None
        self._filled = 0
        if self._granted:
            granted, self._granted = self._granted, 0
            self._owner.request_memory.give_back(granted, self)
        if self._awaiting_memory:
            self._awaiting_memory = False
            self._owner.request_memory.forget(self)

    # answers

    def _may_answer(self, frame: memoryview) -> bool:
        if not self._writable or self._is_muted:
            return False
        if not self._replies:
            return True
        return (
            len(self._replies) < MAX_IN_FLIGHT
            and self._only_produce_pending
            and int.from_bytes(frame[:2], "big") == PRODUCE
        )

    def _answer(self, frame: memoryview) -> None:
        try:
            reply = self._dispatcher.answer(frame, self)
        except BadFrame as error:
            self._refuse(str(error))
            return
        except Exception:
            log.exception("A request from %s failed", self.host)
            self._owner.broker.metrics.handler_failures += 1
            self.abort()
            return
        if reply is None:
            return
        if isinstance(reply, PendingReply):
            if not reply.answered or self._replies:
                if reply.is_working:
                    self._only_produce_pending = False
                    self._working = reply
                elif not self._replies:
                    self._only_produce_pending = int.from_bytes(frame[:2], "big") == PRODUCE
                self._replies.append(reply)
                reply.then(self._on_answer)
                return
            reply = reply.response
        elif self._replies:
            done = PendingReply()
            done.answer(reply)
            self._replies.append(done)
            return
        self._send(reply)

    def _on_answer(self, _: Any) -> None:
        replies = self._replies
        while replies and replies[0].answered:
            reply = replies.popleft()
            if reply is self._working:
                self._working = None
                self._release_worked_on()
            self._send(reply.response)
        if self._closing:
            self._close_when_answered()
        else:
            self._unblock()

    def _send(self, reply: Chunks | HandlerFailed | HangUp | None) -> None:
        if reply is None:
            return
        if isinstance(reply, HangUp):
            self._refuse(reply.reason)
            return
        if isinstance(reply, HandlerFailed):
            self._owner.broker.metrics.handler_failures += 1
            self.abort()
        elif not self._transport.is_closing():
            self._write(reply)
            if self.session is not None and self.session.is_over:
                self._hang_up()

    def _write(self, chunks: Chunks) -> None:
        if len(chunks) == 1:
            self._transport.write(chunks[0])
        else:
            self._transport.writelines(chunks)

    def _refuse(self, why: str) -> None:
        log.warning("Closing the connection from %s: %s", self.host, why)
        self._owner.broker.metrics.bad_frames += 1
        self._hang_up()

    def _hang_up(self) -> None:
        """Closes the connection once what was written is sent."""
        self._closing = True
        self._transport.close()

    # flow control

    def _stop_reading(self) -> None:
        if self._reading and not self._transport.is_closing():
            self._reading = False
            self._stopped_at = self._owner.now()
            self._transport.pause_reading()

    def _unblock(self) -> None:
        """Handles received frames that were waiting, then reads again."""
        if self._reading or self._closing or self._awaiting_memory or not self._writable:
            return
        if self._is_muted:
            return
        if self._frame is not None and self._filled < self._frame_size:
            if self._filled == self._room and not self._grow_frame():
                return
        elif self._frame is not None:
            frame = memoryview(self._frame)
            if not self._may_answer(frame):
                return
            self._finish_frame(frame)
            if self._muted is not None:
                return
        elif self._backlog:
            backlog, self._backlog = self._backlog, b""
            self._reading = True  # `_parse` pauses it again if needed
            self._parse(memoryview(bytearray(backlog)))
            if not self._reading or self._closing:
                self._reading = False
                return
        if not self._closing and not self._transport.is_closing():
            self._reading = True
            self._transport.resume_reading()
            if (
                self._owed_since is not None
            ):  # the client could not send while the broker did not read
                self.last_active = self._owner.now()
                self._owed_since += self.last_active - self._stopped_at

    def _close_when_answered(self) -> None:
        if not self._replies:
            self._hang_up()
