"""Server-sent events: changes as they come, resumable from where a reader was."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager
from functools import lru_cache

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from holdfast.api.change_models import change_json
from holdfast.views.changes import Change, ChangeKind, Changes

_STILL_HERE_S = 15.0
"""Proxies close what is silent for a minute, and a reader that is gone is noticed by writing."""
_GATHER_S = 0.1
"""Changes of so long go out together: many readers then cost little."""

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(Response):
    """An endless answer. It begins with `ready`, or with `reset` where changes after
    `last_event_id` are not kept any more: the reader then reads anew what it shows."""

    media_type = "text/event-stream"

    def __init__(
        self,
        source: AbstractAsyncContextManager[Changes],
        kinds: Collection[ChangeKind],
        last_event_id: str | None,
    ) -> None:
        super().__init__(headers=HEADERS)
        self._source = source
        self._kinds = frozenset(kinds)
        self._last_event_id = last_event_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._source as changes:
            place = self._last_event_id
            after = changes.number_of(place) if place else None
            body = events(changes, self._kinds, after)
            answer = StreamingResponse(body, headers=HEADERS, media_type=self.media_type)
            await answer(scope, receive, send)


async def events(
    changes: Changes,
    kinds: frozenset[ChangeKind],
    after: int | None,
) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    with changes.subscribe(after) as subscription:
        yield b"retry: 1000\n\n"
        if after is None:
            yield _event("ready", changes.place(subscription.number), b"{}")
        wrote_at = clock()
        while True:
            batch = await subscription.next(within=_STILL_HERE_S)
            parts = [_encoded(changes.epoch, c) for c in batch.changes if c.kind in kinds]
            if batch.reset:
                parts = [_event("reset", changes.place(subscription.number), b"{}")]
            if not parts and clock() - wrote_at >= _STILL_HERE_S:
                parts = [b": still here\n\n"]
            if parts:
                wrote_at = clock()
                yield b"".join(parts)
            await asyncio.sleep(_GATHER_S)


def _event(name: str, place: str, data: bytes) -> bytes:
    return b"event: %b\nid: %b\ndata: %b\n\n" % (name.encode(), place.encode(), data)


@lru_cache(maxsize=2_000)
def _encoded(epoch: str, change: Change) -> bytes:
    """A change as it goes out; made once for all readers, who are all close to the newest."""
    return _event(change.kind.value, f"{epoch}-{change.number}", change_json(change))
