"""One Spark session for all tests of the gate that need one."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from holdfast.pipeline.session import create_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = create_session(tmp_path_factory.mktemp("spark"), master="local[2]")
    yield session
    session.stop()
