"""Server-sent events: how one is written, and the response that carries them."""

from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""They keep proxies from buffering the stream."""


def event(name: str, data: bytes, event_id: str = "") -> bytes:
    """One event. `data` is JSON without line breaks; `event_id` lets a reader resume after it."""
    identity = f"id: {event_id}\n" if event_id else ""
    return b"event: %b\n%bdata: %b\n\n" % (name.encode(), identity.encode(), data)


def stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(events, media_type=MEDIA_TYPE, headers=HEADERS)
