"""Sources of settings, and errors about unusable ones."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from holdfast.config import fixed, load, settings_in
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


def test_precedence_is_flag_variable_file_default(tmp_path: Path) -> None:
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
def test_an_unusable_value_names_its_origin(name: str, value: str) -> None:
    env = {"HOLDFAST_SOME_NEEDED": "x", f"HOLDFAST_SOME_{name}": value}
    with pytest.raises(ConfigError) as caught:
        load(Some, "some", env=env)
    assert f"HOLDFAST_SOME_{name}" in str(caught.value)
    assert value in str(caught.value)


def test_a_boolean_is_not_taken_for_a_number(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="port"):
        load(Some, "some", env={}, file=file_with(tmp_path, '[some]\nneeded="x"\nport = true\n'))


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("OFF", False), ("1", True)])
def test_boolean_words_are_accepted(text: str, value: bool) -> None:
    env = {"HOLDFAST_SOME_NEEDED": "x", "HOLDFAST_SOME_LOUD": text}
    assert load(Some, "some", env=env).loud is value


def test_optional_path_is_a_path() -> None:
    settings = load(Some, "some", flags={"needed": "x", "folder": "data"}, env={})
    assert settings.folder == Path("data")


def test_fixed_field_cannot_be_set(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Partly:
        size: int = 1
        limit: int = fixed(2)

    assert set(settings_in(Partly)) == {"size"}
    assert Partly(limit=3).limit == 3
    assert load(Partly, "broker", env={"HOLDFAST_BROKER_LIMIT": "3"}).limit == 2
    file = tmp_path / "holdfast.toml"
    file.write_text("[broker]\nlimit = 3\n")
    with pytest.raises(ConfigError, match="no setting 'limit'"):
        load(Partly, "broker", env={}, file=file)


def test_an_explicit_settings_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load(Some, "some", env={}, file=tmp_path / "elsewhere.toml")


def test_a_settings_file_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not valid TOML"):
        load(Some, "some", env={}, file=file_with(tmp_path, "[some\n"))
