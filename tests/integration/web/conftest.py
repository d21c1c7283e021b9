"""A broker that has a token of each role, and an instance that asks for them."""

from collections.abc import Iterator

import pytest
from tests.brokers import EmbeddedBroker
from tests.integration.web.instances import Instance, connection_to, serving

from holdfast.access.roles import Role
from holdfast.access.token_log import TokenLog
from holdfast.client.client import Client


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
