"""One pipeline for each kind of broker, shared by the tests here."""

from collections.abc import Iterator

import pytest
from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.integration.runs.stack import Stack


@pytest.fixture(scope="module")
def stack(kafka: BrokerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Over each kind of broker in turn."""
    made = Stack(kafka, tmp_path_factory.mktemp("stack"))
    yield made
    made.kill()


@pytest.fixture(scope="module")
def embedded_stack(
    embedded_broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    made = Stack(embedded_broker, tmp_path_factory.mktemp("stack"))
    yield made
    made.kill()
