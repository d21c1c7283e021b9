"""A client of each kind of broker."""

from collections.abc import Iterator

import pytest
from tests.brokers import BrokerProcess

import holdfast


@pytest.fixture
def client(kafka: BrokerProcess) -> Iterator[holdfast.Client]:
    with holdfast.connect(kafka.bootstrap) as client:
        yield client


@pytest.fixture
def flow_name(topic: str) -> str:
    """A name for a flow that no other test uses."""
    return topic.lower()
