"""Settings of the pipeline."""

from pathlib import Path

import pytest

from holdfast import config
from holdfast.errors import ConfigError
from holdfast.pipeline.process.settings import PipelineSettings


def test_a_lake_folder_becomes_absolute_and_a_url_stays_unchanged() -> None:
    assert PipelineSettings(lake="some/lake").lake_root == str(Path.cwd() / "some/lake")
    assert PipelineSettings(lake="s3://bucket/lake").lake_root == "s3://bucket/lake"


@pytest.mark.parametrize("url", ["file:///a/my%20lake", "file:/a/my%20lake"])
def test_a_file_url_becomes_a_folder(url: str) -> None:
    assert PipelineSettings(lake=url).lake_root == "/a/my lake"


@pytest.mark.parametrize("hours", [0.5, 0.0, -1.0, float("nan")])
def test_a_history_that_would_take_files_from_readers_is_refused(hours: float) -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        PipelineSettings(raw_zone_history_hours=hours)


def test_accept_loss_is_a_list_of_flow_names() -> None:
    assert PipelineSettings(accept_loss="a, b,").loss_accepted == {"a", "b"}
    assert PipelineSettings().loss_accepted == frozenset()


def test_settings_come_from_variables_and_flags() -> None:
    env = {"HOLDFAST_PIPELINE_RAW_ZONE": "off", "HOLDFAST_PIPELINE_SPARK_MASTER": "yarn"}
    found = config.load(PipelineSettings, "pipeline", flags={"spark_master": "local"}, env=env)
    assert (found.raw_zone, found.spark_master) == (False, "local")
