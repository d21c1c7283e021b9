"""Instances of the web process's app, served for real, over brokers with tokens and without."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import httpx
import pytest
from fastapi import FastAPI
from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.clients import wait_until

from holdfast.access.roles import Role
from holdfast.access.token_log import TokenLog
from holdfast.client.client import Client
from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.web.app import create_app
from holdfast.web.server import Server, bind, url
from holdfast.web.settings import WebSettings

NOWHERE = Connection(ClientSettings(bootstrap="127.0.0.1:1"))


class Instance(httpx.Client):
    """A client of one instance, which it has at hand."""

    def __init__(self, app: FastAPI, address: str) -> None:
        super().__init__(base_url=address, timeout=60)
        self.app = app

    def status(self, path: str, *, method: str = "GET", token: str | None = None) -> int:
        """The status alone: what is a stream is not read."""
        with self.stream(method, path, headers=bearing(token) if token else {}) as answer:
            return answer.status_code


def connection_to(broker: BrokerProcess) -> Connection:
    return Connection(ClientSettings(bootstrap=broker.bootstrap))


@contextmanager
def serving(
    over: BrokerProcess | Connection, settings: WebSettings | None = None
) -> Iterator[Instance]:
    """An instance on a free port of loopback, whatever the settings say of its address."""
    connection = over if isinstance(over, Connection) else connection_to(over)
    app = create_app(settings or WebSettings(), connection)
    here = WebSettings(listen="127.0.0.1:0")
    with bind(here) as listener:
        server = Server(here, app)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        with Instance(app, url(here, listener)) as client:
            wait_until(lambda: server.started, "a server that has started")
            if not isinstance(over, Connection):
                wait_until(lambda: client.get("/readyz").is_success, "an instance that is ready")
            yield client
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def guarded_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """With tokens, so nobody else's: tokens are the cluster's."""
    with EmbeddedBroker(tmp_path_factory.mktemp("guarded")) as broker:
        yield broker


@pytest.fixture(scope="session")
def token_log(guarded_broker: EmbeddedBroker) -> TokenLog:
    return TokenLog(Client(connection_to(guarded_broker)))


@pytest.fixture(scope="session")
def tokens(token_log: TokenLog) -> dict[Role, str]:
    """The text of a token of each role."""
    return {
        role: token_log.create(f"the-{role.label}", role, created_by="tests")[1] for role in Role
    }


@pytest.fixture(scope="session")
def guarded(guarded_broker: EmbeddedBroker, tokens: dict[Role, str]) -> Iterator[Instance]:
    """An instance that asks for tokens."""
    with serving(guarded_broker) as client:
        yield client


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
