"""The jars are found, and their absence is explained."""

from pathlib import Path

import pytest

from holdfast import jars as module
from holdfast.errors import ConfigError
from holdfast.jars import SPARK, VARIABLE, class_path, jars, listed


def test_jars_of_a_profile_have_a_stable_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark").mkdir()
    for name in ("b.jar", "a.jar", "note.txt"):
        (tmp_path / "spark" / name).touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert [jar.name for jar in jars("spark")] == ["a.jar", "b.jar"]
    assert class_path("spark").split(":") == [str(jar) for jar in jars("spark")]


@pytest.mark.parametrize(("profile", "command"), [("kafka", "make jars"), (SPARK, "holdfast jars")])
def test_the_error_for_missing_jars_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str, command: str
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(ConfigError, match=f"`{command}`"):
        jars(profile)


def test_outside_of_a_clone_the_cache_gives_the_listed_jars_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "__file__", str(tmp_path / "site-packages" / "holdfast" / "j.py"))
    folder = tmp_path / "holdfast" / "jars" / SPARK
    folder.mkdir(parents=True)
    for jar in listed()[1:]:
        (folder / jar.name).touch()
    (folder / "kafka-clients-1.0.0.jar").touch()  # of another version of Holdfast
    with pytest.raises(ConfigError, match="holdfast jars"):
        jars(SPARK)
    (folder / listed()[0].name).touch()
    assert {jar.name for jar in jars(SPARK)} == {jar.name for jar in listed()}
