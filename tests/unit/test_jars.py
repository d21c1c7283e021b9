"""The jars are found, and their absence is explained."""

from pathlib import Path

import pytest

from holdfast.errors import ConfigError
from holdfast.jars import VARIABLE, class_path, jars


def test_jars_of_a_profile_in_a_stable_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark").mkdir()
    for name in ("b.jar", "a.jar", "note.txt"):
        (tmp_path / "spark" / name).touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert [jar.name for jar in jars("spark")] == ["a.jar", "b.jar"]
    assert class_path("spark").split(":") == [str(jar) for jar in jars("spark")]


def test_missing_jars_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(ConfigError, match="make jars"):
        jars("kafka")
