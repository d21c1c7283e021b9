"""Settings of the pipeline."""

from pathlib import Path

import pytest

from holdfast import config
from holdfast.pipeline.settings import PipelineSettings


def test_a_folder_becomes_absolute_and_a_url_stays_as_it_is() -> None:
    assert PipelineSettings(lake="some/lake").lake_root == str(Path.cwd() / "some/lake")
    assert PipelineSettings(lake="s3://bucket/lake").lake_root == "s3://bucket/lake"


@pytest.mark.parametrize("url", ["file:///a/my%20lake", "file:/a/my%20lake"])
def test_a_url_of_a_file_is_a_folder(url: str) -> None:
    assert PipelineSettings(lake=url).lake_root == "/a/my lake"


def test_checkpoints_are_with_the_scratch_files_unless_given() -> None:
    assert PipelineSettings(data_dir=Path("d")).checkpoint_root == str(Path.cwd() / "d/checkpoints")
    assert PipelineSettings(checkpoints="s3://b/c").checkpoint_root == "s3://b/c"


def test_a_loss_is_accepted_by_the_name_of_the_flow() -> None:
    assert PipelineSettings(accept_loss="a, b,").loss_accepted == {"a", "b"}
    assert PipelineSettings().loss_accepted == frozenset()


def test_settings_come_from_variables_and_flags() -> None:
    env = {"HOLDFAST_PIPELINE_RAW_ZONE": "off", "HOLDFAST_PIPELINE_SPARK_MASTER": "yarn"}
    found = config.load(PipelineSettings, "pipeline", flags={"spark_master": "local"}, env=env)
    assert (found.raw_zone, found.spark_master) == (False, "local")
