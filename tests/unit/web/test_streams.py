"""Live streams end with the process."""

import asyncio

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.unit.web.asgi import ask

from holdfast.web.streams import OpenStreams, Streams


def endless(begun: asyncio.Event, kind: bytes = b"text/event-stream; charset=utf-8") -> ASGIApp:
    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", kind)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        begun.set()
        await asyncio.Event().wait()

    return stream


async def test_a_stream_is_counted_while_it_is_open_and_ended_whole() -> None:
    begun, streams = asyncio.Event(), OpenStreams()
    request = asyncio.ensure_future(ask(Streams(endless(begun), streams)))
    await begun.wait()
    assert len(streams) == 1
    streams.end_all()
    answer = await request
    assert (answer.status, answer.body, answer.ended) == (200, b"data: 1\n\n", True)
    assert len(streams) == 0


async def test_a_stream_that_begins_at_the_end_is_ended_too() -> None:
    streams = OpenStreams()
    streams.end_all()
    answer = await ask(Streams(endless(asyncio.Event()), streams))
    assert answer.ended


async def test_stream_closes_when_its_reader_loses_access() -> None:
    begun, streams, revoked = [asyncio.Event(), asyncio.Event()], OpenStreams(), set[str | None]()
    requests = [
        asyncio.ensure_future(
            ask(
                Streams(endless(event), streams),
                headers={"Authorization": f"Bearer {token}", "Cookie": "a=b"},
            )
        )
        for event, token in zip(begun, ("one", "two"), strict=True)
    ]
    for event in begun:
        await event.wait()
    watch = asyncio.create_task(streams.end_those(lambda given: given.token in revoked))
    revoked.add("one")
    answer = await requests[0]
    assert answer.ended
    assert len(streams) == 1
    assert not requests[1].done()
    watch.cancel()
    streams.end_all()
    await requests[1]


async def test_a_client_that_leaves_ends_its_own_stream_alone() -> None:
    begun, streams = asyncio.Event(), OpenStreams()
    request = asyncio.ensure_future(ask(Streams(endless(begun), streams)))
    await begun.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert len(streams) == 0


async def test_ordinary_responses_are_left_to_finish() -> None:
    begun, streams = asyncio.Event(), OpenStreams()
    request = asyncio.ensure_future(ask(Streams(endless(begun, b"text/html"), streams)))
    await begun.wait()
    streams.end_all()
    assert len(streams) == 0
    assert not request.done()
    request.cancel()
