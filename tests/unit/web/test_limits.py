"""Sizes, times and rates of requests."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send
from tests.unit.web.asgi import ask, echo

from holdfast.web.error_handler import CatchErrors
from holdfast.web.limits import BodyLimit, TimeLimit
from holdfast.web.rate_limit import Buckets


async def test_body_at_the_limit_is_accepted() -> None:
    answer = await ask(BodyLimit(echo, most_bytes=10), "POST", body=[b"12345", b"67890"])
    assert (answer.status, answer.body) == (200, b"1234567890")


async def test_body_with_a_too_large_content_length_is_refused_unread() -> None:
    async def unread(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the app was asked")

    answer = await ask(BodyLimit(unread, most_bytes=10), "POST", headers={"Content-Length": "11"})
    assert (answer.status, answer.code) == (413, "body-too-large")


async def test_body_that_exceeds_the_limit_while_read_is_refused() -> None:
    answer = await ask(BodyLimit(echo, most_bytes=10), "POST", body=[b"12345", b"678901"])
    assert (answer.status, answer.code, answer.ended) == (413, "body-too-large", True)


async def test_oversized_body_gets_413_whatever_the_app_answers() -> None:
    async def careless(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    answer = await ask(BodyLimit(careless, most_bytes=3), "POST", body=[b"12", b"34", b"56"])
    assert answer.status == 413


async def test_an_error_of_the_app_stays_an_error() -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        raise LookupError("a bug")

    with pytest.raises(LookupError):
        await ask(BodyLimit(failing, most_bytes=3))


async def test_response_that_does_not_start_in_time_is_ended() -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    answer = await ask(TimeLimit(slow, seconds=0.01))
    assert (answer.status, answer.code) == (504, "took-too-long")


async def test_started_response_may_last_forever() -> None:
    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.05)
        await send({"type": "http.response.body", "body": b"late"})

    answer = await ask(TimeLimit(stream, seconds=0.01))
    assert (answer.status, answer.body) == (200, b"late")


async def test_timeout_raised_by_the_app_is_passed_on() -> None:
    async def timing_out(scope: Scope, receive: Receive, send: Send) -> None:
        raise TimeoutError("of something else")

    with pytest.raises(TimeoutError, match="something else"):
        await ask(TimeLimit(timing_out, seconds=10))


def test_a_caller_has_a_burst_and_then_a_rate() -> None:
    now = 0.0
    buckets = Buckets(rate=2.0, burst=3, clock=lambda: now)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    now = 0.5
    assert [buckets.take("a") for _ in range(2)] == [0, 0.5]
    now = 100.0
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_callers_do_not_share_a_bucket() -> None:
    buckets = Buckets(rate=1.0, burst=1, clock=lambda: 0.0)
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0
    assert buckets.take("b") == 0


def test_memory_of_the_rate_limiter_is_bounded() -> None:
    now = 0.0
    buckets = Buckets(rate=1.0, burst=1, clock=lambda: now)
    for caller in range(25_000):
        buckets.take(str(caller))
    assert len(buckets._filled) <= 10_000


async def test_unexpected_error_is_answered_with_500_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        raise LookupError("secret detail")

    answer = await ask(CatchErrors(failing), path="/x")
    assert (answer.status, answer.code) == (500, "internal")
    assert b"secret" not in answer.body
    assert "secret detail" in caplog.text


async def test_error_after_the_response_has_started_is_raised() -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise LookupError("a bug")

    with pytest.raises(LookupError):
        await ask(CatchErrors(failing))
