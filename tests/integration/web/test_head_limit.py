"""Connections that take their time."""

import asyncio
import socket
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from tests.serving import served

from holdfast.web.streams import OpenStreams

HEAD = b"GET /slow HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    app = FastAPI()
    app.state.streams = OpenStreams()

    @app.get("/slow")
    async def slow() -> str:
        await asyncio.sleep(0.5)  # longer than a head may take
        return "done"

    with served(app, head_seconds=0.2) as address:
        yield int(address.rpartition(":")[2])


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 60)


@pytest.mark.parametrize("sent", [b"", b"GET", HEAD])
def test_connection_without_a_request_is_closed(port: int, sent: bytes) -> None:
    with connected(port) as connection:
        connection.sendall(sent)
        assert connection.recv(1000) == b""


def test_an_answer_may_take_longer_than_a_head_and_then_the_next_head_is_due(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(HEAD + b"\r\n")
        answer = b""
        while not answer.endswith(b'"done"'):
            received = connection.recv(1000)
            assert received, answer
            answer += received
        connection.sendall(b"GET /slow HT")
        assert connection.recv(1000) == b""
