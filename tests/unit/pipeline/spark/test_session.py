"""Settings of the Spark session, without starting one."""

from pathlib import Path

import pytest

from holdfast.errors import ConfigError
from holdfast.jars import VARIABLE, jars
from holdfast.pipeline.spark.session import _settings, is_local

FOLDER = Path("scratch")


def settings(
    master: str = "local[*]", ui_port: int | None = None, more: dict[str, str] | None = None
) -> dict[str, str]:
    return _settings(FOLDER, master, "1g", ui_port, "text", more or {})


@pytest.mark.parametrize("name", ["spark.speculation", "spark.sql.session.timeZone"])
def test_a_change_of_a_fixed_spark_setting_is_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        settings(more={name: "something else"})


def test_a_fixed_spark_setting_may_be_given_with_its_own_value() -> None:
    assert settings(more={"spark.speculation": "false"})["spark.speculation"] == "false"


def test_user_settings_take_precedence_over_defaults() -> None:
    given = {"spark.sql.shuffle.partitions": "64", "spark.driver.host": "driver.example"}
    assert given.items() <= settings(more=given).items()


def test_local_spark_listens_on_loopback_only_and_forks_no_shell_for_files() -> None:
    local = settings("local[2]")
    assert local["spark.driver.bindAddress"] == "127.0.0.1"
    assert "BareLocalFileSystem" in local["spark.hadoop.fs.file.impl"]
    assert "spark.jars" not in local


def test_executors_of_a_cluster_get_the_jars_and_no_local_file_system() -> None:
    cluster = settings("spark://master:7077")
    assert cluster["spark.jars"].split(",") == [str(jar) for jar in jars("spark")]
    assert "spark.driver.bindAddress" not in cluster
    assert "spark.hadoop.fs.file.impl" not in cluster


def test_the_web_ui_is_off_unless_a_port_is_given() -> None:
    assert settings()["spark.ui.enabled"] == "false"
    assert settings(ui_port=4040)["spark.ui.port"] == "4040"


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[*]", True), ("local-cluster[2,1,1024]", False), ("yarn", False)],
)
def test_local_masters_are_distinguished_from_clusters(master: str, local: bool) -> None:
    assert is_local(master) is local


@pytest.mark.parametrize(
    ("content", "used"), [(None, False), (b"", False), (b"classes", True)],
    ids=["none", "could not be written", "written"],
)  # fmt: skip
def test_the_class_archive_is_used_if_it_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, used: bool
) -> None:
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "some.jar").touch()
    if content is not None:
        (tmp_path / "spark.jsa").write_bytes(content)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    options = settings()["spark.driver.extraJavaOptions"]
    assert (f'"-XX:SharedArchiveFile={tmp_path}/spark.jsa"' in options) is used
