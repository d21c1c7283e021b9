"""Where settings come from, and what is said when they cannot be used."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from holdfast.config import load
from holdfast.errors import ConfigError


@dataclass(frozen=True)
class Some:
    needed: str
    port: int = 1
    share: float = 0.5
    loud: bool = False
    mode: Literal["a", "b"] = "a"
    folder: Path | None = None


def file_with(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "holdfast.toml"
    path.write_text(text)
    return path


def test_flag_wins_over_variable_over_file_over_default(tmp_path: Path) -> None:
    file = file_with(tmp_path, '[some]\nneeded = "file"\nport = 2\nshare = 0.25\n')
    env = {"HOLDFAST_SOME_NEEDED": "variable", "HOLDFAST_SOME_PORT": "3"}
    settings = load(Some, "some", flags={"needed": "flag", "port": None}, env=env, file=file)
    assert settings == Some(needed="flag", port=3, share=0.25)


def test_missing_setting_names_flag_variable_and_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(Some, "some", env={}, file=file_with(tmp_path, ""))
    for place in ("--needed", "HOLDFAST_SOME_NEEDED", "[some]", "holdfast.toml"):
        assert place in str(caught.value)


def test_unknown_setting_in_the_file_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'port'"):
        load(Some, "some", env={}, file=file_with(tmp_path, "[some]\nprot = 1\n"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "many"), ("SHARE", "half"), ("LOUD", "perhaps"), ("MODE", "c")],
)
def test_unusable_value_names_where_it_was_given(name: str, value: str) -> None:
    env = {"HOLDFAST_SOME_NEEDED": "x", f"HOLDFAST_SOME_{name}": value}
    with pytest.raises(ConfigError) as caught:
        load(Some, "some", env=env)
    assert f"HOLDFAST_SOME_{name}" in str(caught.value)
    assert value in str(caught.value)


def test_a_boolean_is_not_taken_for_a_number(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="port"):
        load(Some, "some", env={}, file=file_with(tmp_path, '[some]\nneeded="x"\nport = true\n'))


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("OFF", False), ("1", True)])
def test_words_for_booleans(text: str, value: bool) -> None:
    env = {"HOLDFAST_SOME_NEEDED": "x", "HOLDFAST_SOME_LOUD": text}
    assert load(Some, "some", env=env).loud is value


def test_optional_path_is_a_path() -> None:
    settings = load(Some, "some", flags={"needed": "x", "folder": "data"}, env={})
    assert settings.folder == Path("data")


def test_file_that_was_named_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load(Some, "some", env={}, file=tmp_path / "elsewhere.toml")


def test_file_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not valid TOML"):
        load(Some, "some", env={}, file=file_with(tmp_path, "[some\n"))
