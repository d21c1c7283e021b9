"""A guard for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.brokers import BrokerProcess
from tests.conftest import unique_name
from tests.integration.guard.stage import Stage


@pytest.fixture
def stage(kafka: BrokerProcess, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """With `indirect`: the number of partitions."""
    made = Stage(kafka, unique_name("guard"), tmp_path, getattr(request, "param", 2))
    yield made
    made.stop()
    if getattr(request.node, "failed", True):
        print(made.worker_log()[-6000:] if made.workers else "")
