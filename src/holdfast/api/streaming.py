"""Server-sent events: changes as they come; a reader can resume where it stopped."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager
from functools import lru_cache

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from holdfast.api.change_models import change_json
from holdfast.control.event_stream import HEADERS, MEDIA_TYPE, event, stream
from holdfast.views.changes import Change, ChangeKind, Changes

_STILL_HERE_SECONDS = 15.0
"""Proxies close a stream that is silent for a minute, and only a write finds a reader gone."""
_GATHER_SECONDS = 0.1
"""Changes of this period go out together, so that many readers cost little."""


class EventStream(Response):
    """An endless answer. It begins with `ready`, or with `reset` if the changes after
    `last_event_id` are not kept any more: the reader then has to load everything again."""

    media_type = MEDIA_TYPE

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
            after = changes.number_of(self._last_event_id) if self._last_event_id else None
            await stream(events(changes, self._kinds, after))(scope, receive, send)


async def events(
    changes: Changes,
    kinds: frozenset[ChangeKind],
    after: int | None,
) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    with changes.subscribe(after) as subscription:
        yield b"retry: 1000\n\n"
        if after is None:
            yield event("ready", b"{}", changes.event_id(subscription.number))
        wrote_at = clock()
        while True:
            batch = await subscription.next(within=_STILL_HERE_SECONDS)
            parts = [_encoded(changes.epoch, c) for c in batch.changes if c.kind in kinds]
            if batch.reset:
                parts = [event("reset", b"{}", changes.event_id(subscription.number))]
            if not parts and clock() - wrote_at >= _STILL_HERE_SECONDS:
                parts = [b": still here\n\n"]
            if parts:
                wrote_at = clock()
                yield b"".join(parts)
            await asyncio.sleep(_GATHER_SECONDS)


@lru_cache(maxsize=2_000)
def _encoded(epoch: str, change: Change) -> bytes:
    """A change as an event; encoded once for all readers, which are all close to the newest."""
    return event(change.kind.value, change_json(change), f"{epoch}-{change.number}")
