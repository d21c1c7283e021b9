"""A request is sent to http and https only, follows no redirect, and reads a bounded answer."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from holdfast.errors import (
    InvalidArgumentError,
    InvalidRecordError,
    TimedOutError,
    UnreachableError,
)
from holdfast.http_call import check_url, send_request


class Target(BaseHTTPRequestHandler):
    paths: list[str]

    def do_POST(self) -> None:
        self.paths.append(self.path)
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def target() -> Iterator[str]:
    Target.paths = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Target)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_answer_has_status_headers_and_body(target: str) -> None:
    answer = send_request(
        "POST", f"{target}/a?b=1", headers={}, body=b"hello", timeout=30, most_bytes=100
    )
    assert (answer.status, answer.body) == (200, b"hello")
    assert Target.paths == ["/a?b=1"]


def test_redirect_is_not_followed(target: str) -> None:
    answer = send_request(
        "POST", f"{target}/redirect", headers={}, body=b"", timeout=30, most_bytes=100
    )
    assert answer.status == 302
    assert Target.paths == ["/redirect"]


def test_longer_answer_is_refused(target: str) -> None:
    with pytest.raises(InvalidRecordError, match="over 100 bytes"):
        send_request("POST", target, headers={}, body=b"x" * 101, timeout=30, most_bytes=100)


def test_silent_host_is_unreachable_or_times_out() -> None:
    with pytest.raises((UnreachableError, TimedOutError)):
        send_request("POST", "http://127.0.0.1:1/", headers={}, timeout=30, most_bytes=1)


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://host/x", "//host/x", "http://", "http://[::1", "http://a b/",
     "http://host:port/", "javascript:alert(1)", "http://h/\r\nX: y", "http://hôst/"],
)  # fmt: skip
def test_other_schemes_and_broken_urls_are_refused(url: str) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be called"):
        check_url(url)


def test_credentials_in_a_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(InvalidArgumentError, match="user name or a password") as refused:
        check_url("https://anna:secret@host/x")
    assert "secret" not in str(refused.value)
