"""A client of each kind of broker."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.brokers import BrokerProcess, EmbeddedBroker

import holdfast


@pytest.fixture
def client(kafka: BrokerProcess) -> Iterator[holdfast.Client]:
    with holdfast.connect(kafka.bootstrap) as client:
        yield client


@pytest.fixture
def flow_name(topic: str) -> str:
    """A name for a flow that no other test uses."""
    return topic.lower()


@pytest.fixture
def fresh_broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    """A broker that the test may kill; of one kind, because only the client is looked at."""
    with EmbeddedBroker(tmp_path / "broker") as broker:
        yield broker
