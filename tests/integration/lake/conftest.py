"""One eventful flow on each kind of broker, shared by all tests here."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.integration.lake.history import Story, live_through, pipeline
from tests.integration.pipeline.world import World


def tell(broker: BrokerProcess, spark: SparkSession, folder: Path) -> Story:
    story = Story(World(broker), str(folder / "lake"))
    with pipeline(story, spark, folder) as gate:
        live_through(story.world, gate)
    return story


@pytest.fixture(scope="session")
def story(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Story:
    """A flow with a history. A test that damages it restores it."""
    return tell(embedded_broker, spark, tmp_path_factory.mktemp("story"))
