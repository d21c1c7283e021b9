"""The web app behind a real server, in a thread of the test's process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from fastapi import FastAPI
from tests.clients import wait_until

from holdfast.web.server import Server, bind, url
from holdfast.web.settings import WebSettings


@contextmanager
def served(app: FastAPI, **more: Any) -> Iterator[str]:
    """Serve the app on a free port of loopback, whatever its own settings say. -> its address

    `more` are settings of the server.
    """
    here = WebSettings(listen="127.0.0.1:0", **more)
    with bind(here) as listener:
        server = Server(here, app)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="web", daemon=True)
        thread.start()
        try:
            wait_until(lambda: server.started, "a server that listens")
            yield url(here, listener)
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive(), "a server that does not end"
