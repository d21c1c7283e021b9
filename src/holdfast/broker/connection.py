"""One client's connection: frames in, replies out in the order of their requests.

What a client can make us keep is bounded. It is read from only while fewer than
`MAX_IN_FLIGHT` of its requests are unanswered and it takes its replies; only Produce is pipelined,
so that at most one fetched reply per connection is in memory; a frame larger than the shared
receive buffer waits until it fits into the memory that all such frames share.
"""

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from holdfast.broker.context import PendingReply
from holdfast.broker.dispatch import PRODUCE, BadFrame, Chunks, Dispatcher, HandlerFailed

if TYPE_CHECKING:
    from holdfast.broker.listener import Listener

log = logging.getLogger(__name__)

MAX_IN_FLIGHT = 32
"""Unanswered Produce requests of one connection; librdkafka's idempotent producer has five."""
RECEIVE_BYTES = 64 * 1024
WRITE_HIGH_WATER = 256 * 1024
"""Unsent bytes past which the client is not read from."""

# One receive buffer for all: asyncio fills it and hands it over in one go, and what is not a whole
# frame is copied out before the next connection gets it.
_receive = bytearray(RECEIVE_BYTES)
_receive_view = memoryview(_receive)

_SIZE_BYTES = 4
_KEY_BYTES = 2
_SMALLEST_REQUEST = 8


class Connection(asyncio.BufferedProtocol):
    """Parses frames, answers them in order, and stops reading from a client that asks too much."""

    def __init__(self, listener: "Listener", dispatcher: Dispatcher) -> None:
        self._owner = listener
        self._dispatcher = dispatcher
        self.host = ""
        self.listener = listener.advertised
        self.last_active = listener.now()
        self._transport: asyncio.Transport
        self._replies: deque[PendingReply] = deque()
        self._only_produce_pending = True
        self._backlog = b""  # received, not parsed yet: the connection is blocked
        self._frame: bytearray | None = None  # a large frame being received
        self._filled = 0
        self._granted = 0  # bytes of the shared request memory that `_frame` has
        self._awaiting_memory = False
        self._reading = True
        self._writable = True
        self._unsent = 0
        self._closing = False

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no asyncio class.
        self._transport = transport = cast("asyncio.Transport", transport)
        transport.set_write_buffer_limits(high=WRITE_HIGH_WATER)
        peer = transport.get_extra_info("peername")
        self.host = peer[0] if peer else ""
        if not self._owner.opened(self):
            self._closing = True
            transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._closing = True
        replies, self._replies = self._replies, deque()
        for reply in replies:
            reply.abandon()
        self._release_frame()
        self._owner.unsent_replies -= self._unsent
        self._unsent = 0
        self._owner.closed(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._frame is not None:
            return memoryview(self._frame)[self._filled :]
        return _receive_view

    def buffer_updated(self, count: int) -> None:
        self.last_active = self._owner.now()
        if self._frame is None:
            self._parse(_receive_view[:count])
            return
        self._filled += count
        if self._filled == len(self._frame):
            frame = memoryview(self._frame)
            if not self._may_answer(frame):
                # Kept as it is: the frame is complete, and `_unblock` answers it.
                self._stop_reading()
                return
            self._finish_frame(frame)

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._writable = False
        self._unsent = self._transport.get_write_buffer_size()
        self._owner.unsent_replies += self._unsent

    def resume_writing(self) -> None:
        self._writable = True
        self._owner.unsent_replies -= self._unsent
        self._unsent = 0
        self._unblock()

    # the listener's side

    @property
    def in_mid_frame(self) -> bool:
        """Whether the client owes us the rest of a frame that holds memory."""
        return self._frame is not None and self._filled < len(self._frame)

    @property
    def waiting(self) -> bool:
        """Whether the client waits for us rather than we for it."""
        return bool(self._replies) or self._awaiting_memory or not self._writable

    @property
    def has_unanswered(self) -> bool:
        return bool(self._replies)

    def memory_granted(self) -> None:
        self._awaiting_memory = False
        self._unblock()

    def drain(self) -> None:
        """Take no further requests; those that were taken are still answered."""
        self._closing = True
        self._stop_reading()
        self._close_when_answered()

    def abort(self) -> None:
        self._closing = True
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
                if size <= RECEIVE_BYTES - _SIZE_BYTES or end - start < _KEY_BYTES:
                    break
                if not self._may_answer(data[start:]):
                    # It would hold memory that others need for as long as this one waits.
                    self._stop_reading()
                    break
                self._begin_frame(data, position, size)
                return
            frame = data[start : start + size]
            if not self._may_answer(frame):
                self._stop_reading()
                break
            self._answer(frame)
            position = start + size
        if position < end and not self._closing:
            self._backlog = bytes(data[position:])

    def _size_is_fine(self, size: int) -> bool:
        if _SMALLEST_REQUEST <= size <= self._owner.settings.max_request_bytes:
            return True
        self._refuse(
            f"a frame of {size} bytes is announced; {_SMALLEST_REQUEST} to "
            f"{self._owner.settings.max_request_bytes} are taken"
        )
        return False

    def _begin_frame(self, data: memoryview, position: int, size: int) -> None:
        """Receive the rest of a large frame straight into a buffer of its own."""
        if not self._owner.request_memory.take(size, self):
            self._awaiting_memory = True
            self._backlog = bytes(data[position:])
            self._stop_reading()
            return
        part = data[position + _SIZE_BYTES :]
        self._granted = size
        self._frame = bytearray(size)
        self._frame[: len(part)] = part
        self._filled = len(part)

    def _finish_frame(self, frame: memoryview) -> None:
        self._answer(frame)
        self._release_frame()

    def _release_frame(self) -> None:
        self._frame = None
        self._filled = 0
        if self._granted:
            granted, self._granted = self._granted, 0
            self._owner.request_memory.give_back(granted)
        if self._awaiting_memory:
            self._awaiting_memory = False
            self._owner.request_memory.forget(self)

    # answers

    def _may_answer(self, frame: memoryview) -> bool:
        if not self._writable:
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
                if not self._replies:
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
            self._send(replies.popleft().response)
        if self._closing:
            self._close_when_answered()
        else:
            self._unblock()

    def _send(self, reply: Chunks | HandlerFailed | None) -> None:
        if reply is None:
            return
        if isinstance(reply, HandlerFailed):
            self._owner.broker.metrics.handler_failures += 1
            self.abort()
        elif not self._transport.is_closing():
            if len(reply) == 1:
                self._transport.write(reply[0])
            else:
                self._transport.writelines(reply)

    def _refuse(self, why: str) -> None:
        log.warning("Closing the connection from %s: %s", self.host, why)
        self._owner.broker.metrics.bad_frames += 1
        self._closing = True
        self._transport.close()

    # flow control

    def _stop_reading(self) -> None:
        if self._reading and not self._transport.is_closing():
            self._reading = False
            self._transport.pause_reading()

    def _unblock(self) -> None:
        """Go on with what was left lying, then read again."""
        if self._reading or self._closing or self._awaiting_memory or not self._writable:
            return
        if self._frame is not None:
            frame = memoryview(self._frame)
            if not self._may_answer(frame):
                return
            self._finish_frame(frame)
        elif self._backlog:
            backlog, self._backlog = self._backlog, b""
            self._reading = True  # `_parse` stops it again if it has to
            self._parse(memoryview(bytearray(backlog)))
            if not self._reading or self._closing:
                self._reading = False
                return
        if not self._closing and not self._transport.is_closing():
            self._reading = True
            self._transport.resume_reading()

    def _close_when_answered(self) -> None:
        if not self._replies:
            self._transport.close()
