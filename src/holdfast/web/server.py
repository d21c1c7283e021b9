"""The web process: bind, serve, end cleanly."""

import logging
import signal
import socket
import ssl
from time import monotonic, sleep

import uvicorn
from fastapi import FastAPI

from holdfast.access.token_log import TokenLog
from holdfast.addresses import parse_address
from holdfast.client.client import Client
from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.clock import now_ms
from holdfast.errors import ConfigError, UnreachableError
from holdfast.logs import log_to_stderr
from holdfast.web.app import create_app
from holdfast.web.head_limit import protocol_with_head_limit
from holdfast.web.settings import WebSettings

log = logging.getLogger(__name__)

GRACE_SECONDS = 5
"""How long requests may still take after SIGTERM."""
_BACKLOG = 512
_AGAIN_SECONDS = 0.2


def run(settings: WebSettings, client: ClientSettings) -> int:
    """Serves until SIGTERM or Ctrl-C. Returns the exit code."""
    log_to_stderr(form=settings.log_format)
    # Holdfast logs the same errors again, with their context.
    logging.getLogger("holdfast.client.librdkafka").setLevel(logging.CRITICAL)
    _check_tls(settings)
    connection = Connection(client)
    with bind(settings) as listener:
        _wait_for_broker(connection, settings.wait)
        open_to_all = _check_tokens(settings, connection)
        if open_to_all:
            log.warning(
                "Running open: there are no tokens, so whoever is on this machine may do "
                "everything. 'holdfast token create NAME --role admin' ends that."
            )
        server = Server(settings, create_app(settings, connection))
        for number in (signal.SIGTERM, signal.SIGINT):
            # uvicorn has handlers of its own, and repeats the signal for these once it has ended.
            signal.signal(number, lambda *_: None)
        server.run(sockets=[listener])
    log.info("The web process has ended")
    return 0


class Server(uvicorn.Server):
    """uvicorn that ends live streams before it waits for connections to end."""

    def __init__(self, settings: WebSettings, app: FastAPI) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol_with_head_limit(settings.head_seconds),
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # any program on this machine could claim another address
                ws="none",
                backlog=_BACKLOG,
                limit_concurrency=settings.max_connections,
                timeout_graceful_shutdown=GRACE_SECONDS,
                ssl_certfile=settings.tls_cert or None,
                ssl_keyfile=settings.tls_key or None,
            )
        )
        self._app = app
        self._settings = settings

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            print(f"Dashboard at {url(self._settings, listener)}", flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.streams.end_all()
        await super().shutdown(sockets)


def url(settings: WebSettings, listener: socket.socket) -> str:
    """The address for a browser."""
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if settings.tls else 'http'}://{name}:{port}"


def bind(settings: WebSettings) -> socket.socket:
    """A bound socket at the configured address, or ConfigError. It does not listen yet."""
    host, port = parse_address(settings.listen, "listen")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"Cannot listen on {settings.listen}: {error.strerror or error}. "
            "Stop what uses the port, or name another with --listen."
        ) from None
    return listener


def _check_tls(settings: WebSettings) -> None:
    if not settings.tls:
        return
    try:
        ssl.create_default_context().load_cert_chain(settings.tls_cert, settings.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"The certificate {settings.tls_cert} and the key {settings.tls_key} cannot be used: "
            f"{error}."
        ) from None


def _wait_for_broker(connection: Connection, patience: float) -> None:
    deadline = monotonic() + patience
    while True:
        try:
            connection.check()
        except UnreachableError:
            if monotonic() >= deadline:
                raise
            sleep(_AGAIN_SECONDS)
        else:
            return


def _check_tokens(settings: WebSettings, connection: Connection) -> bool:
    """Refuses to start if the address is reachable from other machines and there are no tokens.
    Returns True if the process runs open."""
    tokens = TokenLog(Client(connection)).tokens()
    if settings.loopback:
        return not tokens
    if all(token.expired(now_ms()) for token in tokens):
        raise ConfigError(
            f"{settings.listen} can be reached from other machines, and there is no token: anyone "
            "could hold and release keys. Create one first: 'holdfast token create NAME --role "
            "admin'; or listen on 127.0.0.1."
        )
    if not settings.tls:
        log.warning(
            "Tokens go over the network unencrypted: give --tls-cert and --tls-key, or put a "
            "proxy with TLS in front."
        )
    return False
