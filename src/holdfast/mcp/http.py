"""The streamable HTTP transport: each message is one POST to `/mcp`, answered by JSON.

The server has no token of its own: the token of a request goes to the API as it is. Otherwise
everybody who reaches the port would act with the rights of the person who started it.
"""

import socket
import ssl
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from holdfast.addresses import is_loopback, parse_address
from holdfast.errors import ConfigError
from holdfast.mcp.messages import VERSIONS, Dispatcher
from holdfast.remote.server import Server

PATH = "/mcp"
_MOST_BYTES = 1024 * 1024
_SECONDS = 30.0
"""A client that sends nothing for so long is disconnected."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to listen, and the certificate."""

    address: str = "127.0.0.1:8610"
    certificate: str = ""
    key: str = ""

    @property
    def loopback(self) -> bool:
        return is_loopback(parse_address(self.address, "--http")[0])

    def __post_init__(self) -> None:
        if bool(self.certificate) is not bool(self.key):
            raise ConfigError("TLS needs both --tls-cert and --tls-key, and one is missing.")
        if not self.loopback and not self.certificate:
            raise ConfigError(
                f"{self.address} can be reached by others, who could read the tokens on the way. "
                "Give --tls-cert and --tls-key, or listen on 127.0.0.1."
            )


class McpHttpServer(ThreadingHTTPServer):
    """Answers messages with the token of each request."""

    daemon_threads = True

    def __init__(self, listening: Listening, dispatcher: Dispatcher, api: Server) -> None:
        self.listening = listening
        self.dispatcher = dispatcher
        self.api = api
        host, port = parse_address(listening.address, "--http")
        if ":" in host:
            self.address_family = socket.AF_INET6
        context = _tls(listening) if listening.certificate else None
        super().__init__((host, port), _Handler)
        if context is not None:
            self.socket = context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    @property
    def url(self) -> str:
        scheme = "https" if self.listening.certificate else "http"
        host = parse_address(self.listening.address, "--http")[0]
        shown = f"[{host}]" if ":" in host else host
        return f"{scheme}://{shown}:{self.server_address[1]}{PATH}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that ends early is no error of ours."""


def _tls(listening: Listening) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(listening.certificate, listening.key)
    except OSError as error:
        raise ConfigError(
            f"{listening.certificate} and {listening.key} cannot be used for TLS: {error}."
        ) from None
    return context


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SECONDS
    server: McpHttpServer

    def do_POST(self) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self._answer(*refusal)
            return
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        try:
            api = self._api()
        except ConfigError as error:
            self._answer(400, str(error))
            return
        answer = self.server.dispatcher.answer_text(body, api)
        if answer is None:
            self._answer(202, "")
        else:
            self._answer(200, answer, "application/json")

    def do_GET(self) -> None:
        self._answer(405, "There is no stream here: send messages by POST.", allow="POST")

    do_DELETE = do_GET  # noqa: N815  # there are no sessions to end

    def _refusal(self) -> tuple[int, str] | None:
        """Why the request is not read; None if it is."""
        if self.path.partition("?")[0] != PATH:
            return 404, f"Messages go to {PATH}."
        if not self._from_here():
            return 403, "A page of another site sent this request."
        if not self.server.listening.loopback and not self._token():
            return 401, "Send the token: Authorization: Bearer …"
        if self.headers.get_content_type() != "application/json":
            return 415, "Send Content-Type: application/json."
        version = self.headers.get("MCP-Protocol-Version")
        if version is not None and version not in VERSIONS:
            return 400, f"The protocol version {version[:40]!r} is not known."
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or not length.isascii():
            return 411, "Send Content-Length."
        return (413, "The message is too large.") if int(length) > _MOST_BYTES else None

    def _from_here(self) -> bool:
        """A browser names the page that sends a request. On loopback the host's name counts as
        well: another site may have a name that leads to this machine."""
        origin = self.headers.get("Origin")
        if origin is not None and not _names_loopback(origin):
            return False
        host = self.headers.get("Host", "")
        return not self.server.listening.loopback or _names_loopback(f"//{host}")

    def _token(self) -> str:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    def _api(self) -> Server:
        return replace(self.server.api, token=self._token())

    def _answer(self, status: int, text: str, kind: str = "text/plain", allow: str = "") -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        if allow:
            self.send_header("Allow", allow)
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        if status >= 400:
            self.send_header("Connection", "close")  # the body was not read
            self.close_connection = True
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """The API has its own log of requests."""


def _names_loopback(url: str) -> bool:
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False
