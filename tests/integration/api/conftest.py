"""One stack for all tests of the API: a broker, a pipeline, and two instances side by side."""

from collections.abc import Iterator

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.conftest import unique_name
from tests.integration.api.served import PATIENCE_S, Api, Pipeline, serving

import holdfast
from holdfast.client.client import Client


@pytest.fixture(scope="session")
def api_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """Nobody else's: who makes a token here closes it to all."""
    with EmbeddedBroker(tmp_path_factory.mktemp("api-broker")) as broker:
        yield broker


@pytest.fixture(scope="module")
def pipeline(
    api_broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pipeline]:
    """For one file: one may stop it, and others need flows that no pipeline runs for."""
    started = Pipeline(api_broker, tmp_path_factory.mktemp("api-pipeline"))
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="session")
def kafka_client(api_broker: EmbeddedBroker) -> Iterator[Client]:
    with holdfast.connect(api_broker.bootstrap) as client:
        yield client


@pytest.fixture(scope="session")
def api(api_broker: EmbeddedBroker) -> Iterator[Api]:
    with serving(api_broker) as instance:
        yield instance


@pytest.fixture(scope="session")
def other(api_broker: EmbeddedBroker) -> Iterator[Api]:
    """A second instance beside the first."""
    with serving(api_broker) as instance:
        yield instance


@pytest.fixture(scope="module")
def idle(api: Api) -> str:
    """A flow that no pipeline runs for."""
    name = unique_name("idle").lower()
    api.asked("flows", {"name": name, "partitions": 3})
    return name


@pytest.fixture(scope="module")
def orders(api: Api, pipeline: Pipeline) -> str:
    """A flow whose gate runs."""
    name = unique_name("orders").lower()
    api.asked("flows", {"name": name, "partitions": 2, "masks": ["$.card.number"]})

    def runs() -> bool:
        health = api.found(f"flows/{name}")["health"]
        return bool(health["state"] == "running")

    try:
        wait_until(runs, "a gate that runs", PATIENCE_S)
    except AssertionError as late:
        raise AssertionError(f"{late}\n{pipeline.said()[-3000:]}") from None
    return name
