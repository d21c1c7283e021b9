"""Java is found as Spark finds it, and what is wrong with it is said."""

from pathlib import Path

import pytest

from holdfast.errors import ConfigError
from holdfast.java import Java, require_java


def java(folder: Path, said: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("said", "version"),
    [('openjdk version "17.0.15" 2025-04-15', 17), ('openjdk version "21" 2023-09-19 LTS', 21)],
)
def test_a_java_that_spark_can_use_is_found_by_its_home_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, version: int
) -> None:
    other = java(tmp_path / "other", 'openjdk version "11.0.2"')
    monkeypatch.setenv("PATH", str(other.parent))
    program = java(tmp_path / "home", said)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert require_java() == Java(str(program), version)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is Java 11"),
        ('java version "1.8.0_202"', "is Java 8"),
        ("nonsense", "does not tell its version"),
    ],
)
def test_a_java_that_is_too_old_is_named_with_how_to_get_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, why: str
) -> None:
    java(tmp_path, said)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=rf"{why}.*apt-get install openjdk-17"):
        require_java()


def test_missing_java_error_names_the_searched_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ConfigError, match=r"none on the path\. Install JDK 17"):
        require_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=f"JAVA_HOME is {tmp_path}, but there is no"):
        require_java()
