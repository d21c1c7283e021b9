"""Server-sent events of the API, with reconnection after the last event that arrived."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from airflow_provider_holdfast.api import AsyncApi, HoldfastError

_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event: its name, such as `effective`, and its JSON."""

    name: str
    data: Any


async def follow(
    api: AsyncApi, path: str, params: Mapping[str, Any] | None = None
) -> AsyncGenerator[StreamEvent, None]:
    """Yields the events of a stream for ever. After a lost connection it resumes.

    `reset` means that events were missed. A refused request, such as one with a wrong token, is a
    HoldfastError; a server that is away is not.
    """
    last_id = ""
    pause = _PAUSE_SECONDS
    while True:
        headers = {"Last-Event-ID": last_id} if last_id else {}
        try:
            async with api.lines(path, params or {}, headers) as lines:
                async for name, event_id, data in _parsed(lines):
                    last_id, pause = event_id or last_id, _PAUSE_SECONDS
                    yield StreamEvent(name, data)
        except httpx.TransportError:
            pass
        except HoldfastError as error:
            if not error.transient:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


async def _parsed(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str, Any]]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")  # a comment has an empty name
            continue
        if "data" in fields:
            yield fields.get("event", "message"), fields.get("id", ""), json.loads(fields["data"])
        fields = {}
