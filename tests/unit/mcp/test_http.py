"""The streamable HTTP transport, without an API behind it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Thread
from urllib.parse import urlsplit

import httpx
import pytest

from holdfast.errors import ConfigError
from holdfast.mcp.http import Listening, McpHttpServer
from holdfast.mcp.messages import Dispatcher
from holdfast.remote.server import Server

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@contextmanager
def served(address: str, api: str = "http://127.0.0.1:1") -> Iterator[str]:
    with McpHttpServer(Listening(address), Dispatcher(write=False), Server(api)) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.url
        server.shutdown()
        thread.join(30)


def test_ipv6_address_is_listened_on() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with served("[::1]:0") as url:
        assert url.startswith("http://[::1]:")
        assert httpx.post(url, json=PING, timeout=30).json()["result"] == {}


def test_missing_certificate_is_named() -> None:
    listening = Listening("127.0.0.1:0", "/no/cert.pem", "/no/key.pem")
    with pytest.raises(ConfigError, match=r"/no/cert\.pem and /no/key\.pem cannot be used"):
        McpHttpServer(listening, Dispatcher(write=False), Server("http://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("api", "token", "complaint"),
    [
        ("http://holdfast.example", "hf_secret", "is not encrypted"),
        ("http://127.0.0.1:1", "hf_secret two", "The token has blanks"),
    ],
)
def test_token_that_cannot_be_passed_on_is_answered_and_not_shown(
    api: str, token: str, complaint: str
) -> None:
    with served("127.0.0.1:0", api) as url:
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.post(url, json=PING, headers=headers, timeout=30)
    assert answer.status_code == 400
    assert complaint in answer.text
    assert "hf_secret" not in answer.text


def test_length_or_port_of_odd_digits_is_refused() -> None:
    with served("127.0.0.1:0") as url:
        connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
        headers = {"Content-Type": "application/json", "Content-Length": "\xb2"}
        connection.request("POST", "/mcp", headers=headers)
        assert connection.getresponse().status == 411
        connection.close()
    with pytest.raises(ConfigError, match="host:port"):
        Listening("127.0.0.1:\xb2")
