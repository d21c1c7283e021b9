"""Instances of the web app, over brokers with tokens and without."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from fastapi import FastAPI
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, wait_until
from tests.serving import served

from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.web.app import create_app
from holdfast.web.settings import WebSettings

NOWHERE = Connection(ClientSettings(bootstrap="127.0.0.1:1"))


class Instance(httpx.Client):
    """A client of one instance, which it has at hand."""

    def __init__(self, app: FastAPI, address: str) -> None:
        super().__init__(base_url=address, timeout=DEADLINE_S)
        self.app = app

    def status(self, path: str, *, method: str = "GET", token: str | None = None) -> int:
        """The status alone: what is a stream is not read."""
        with self.stream(method, path, headers=bearing(token) if token else {}) as answer:
            return answer.status_code


@contextmanager
def serving(
    over: BrokerProcess | Connection, settings: WebSettings | None = None
) -> Iterator[Instance]:
    """An instance that is ready, if there is a broker."""
    connection = over if isinstance(over, Connection) else connection_to(over)
    app = create_app(settings or WebSettings(), connection)
    with served(app) as address, Instance(app, address) as client:
        if not isinstance(over, Connection):
            wait_until(lambda: client.get("/readyz").is_success, "an instance that is ready")
        yield client


def connection_to(broker: BrokerProcess) -> Connection:
    return Connection(ClientSettings(bootstrap=broker.bootstrap))


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
