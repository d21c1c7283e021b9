"""Sizes, times and rates of requests."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send
from tests.unit.web.asgi import ask, echo

from holdfast.web.faults import Faults
from holdfast.web.limits import BodyLimit, TimeLimit
from holdfast.web.rate_limit import Buckets


async def test_a_body_at_the_limit_is_taken() -> None:
    answer = await ask(BodyLimit(echo, most_bytes=10), "POST", body=[b"12345", b"67890"])
    assert (answer.status, answer.body) == (200, b"1234567890")


async def test_a_body_that_says_to_be_too_large_is_refused_unread() -> None:
    async def unread(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the app was asked")

    answer = await ask(BodyLimit(unread, most_bytes=10), "POST", headers={"Content-Length": "11"})
    assert (answer.status, answer.code) == (413, "body-too-large")


async def test_a_body_that_turns_out_too_large_is_refused() -> None:
    answer = await ask(BodyLimit(echo, most_bytes=10), "POST", body=[b"12345", b"678901"])
    assert (answer.status, answer.code, answer.ended) == (413, "body-too-large", True)


async def test_what_an_app_makes_of_half_a_body_is_not_sent() -> None:
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


async def test_an_answer_that_does_not_begin_in_time_is_given_up() -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    answer = await ask(TimeLimit(slow, seconds=0.01))
    assert (answer.status, answer.code) == (504, "took-too-long")


async def test_an_answer_that_has_begun_may_go_on_for_ever() -> None:
    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.05)
        await send({"type": "http.response.body", "body": b"late"})

    answer = await ask(TimeLimit(stream, seconds=0.01))
    assert (answer.status, answer.body) == (200, b"late")


async def test_a_time_out_of_the_app_is_its_own() -> None:
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


def test_callers_without_end_do_not_take_memory_without_end() -> None:
    now = 0.0
    buckets = Buckets(rate=1.0, burst=1, clock=lambda: now)
    for caller in range(25_000):
        buckets.take(str(caller))
    assert len(buckets._filled) <= 10_000


async def test_a_bug_is_answered_and_said_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        raise LookupError("secret detail")

    answer = await ask(Faults(failing), path="/x")
    assert (answer.status, answer.code) == (500, "internal")
    assert b"secret" not in answer.body
    assert "secret detail" in caplog.text


async def test_a_bug_in_the_middle_of_an_answer_breaks_it_off() -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise LookupError("a bug")

    with pytest.raises(LookupError):
        await ask(Faults(failing))
