"""A broker that serves, and a client that speaks to it frame by frame."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.broker.serving.raw import RawClient, Served, serving


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path) as served:
        served.broker.topics.create("a", 2, {})
        yield served


@pytest.fixture
async def client(served: Served) -> AsyncIterator[RawClient]:
    async with await served.client() as client:
        yield client
