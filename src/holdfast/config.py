"""Settings, in order of precedence: flag, `HOLDFAST_*` variable, settings file, default.

A group of settings is a frozen dataclass; `load` fills it. An error names the flag, the variable
and the file.
"""

import dataclasses
import difflib
import os
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from holdfast.errors import ConfigError

FILE_NAME = "holdfast.toml"

T = TypeVar("T")

_FIXED = "fixed"


def fixed(default: T) -> T:
    """A field of a settings class that only code sets, as a constructor argument. No flag, variable
    or file can set it."""
    return dataclasses.field(default=default, metadata={_FIXED: True})


def settings_in(settings: type[Any]) -> dict[str, "dataclasses.Field[Any]"]:
    """The fields of a settings class that users can set, by name."""
    return {f.name: f for f in dataclasses.fields(settings) if _FIXED not in f.metadata}


def load(
    settings: type[T],
    section: str,
    *,
    flags: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> T:
    """Fill the dataclass `settings` from flags, environment, the file's `[section]` and defaults.

    A flag that is None counts as not given. `file` defaults to `holdfast.toml` in the working
    directory, which need not exist; a file that is named explicitly must exist.
    """
    flags = flags or {}
    env = os.environ if env is None else env
    in_file = _read_section(file, section)
    fields = settings_in(settings)
    hints = typing.get_type_hints(settings)
    for name in in_file:
        if name not in fields:
            raise ConfigError(_unknown(name, section, list(fields)))
    values: dict[str, Any] = {}
    for name, field in fields.items():
        variable = f"HOLDFAST_{section}_{name}".upper()
        if flags.get(name) is not None:
            value, origin = flags[name], f"--{name.replace('_', '-')}"
        elif variable in env:
            value, origin = env[variable], variable
        elif name in in_file:
            value, origin = in_file[name], f"[{section}] {name} in {file or FILE_NAME}"
        elif _has_default(field):
            continue
        else:
            raise ConfigError(
                f"The setting {name!r} is missing. Give it as --{name.replace('_', '-')}, as the "
                f"variable {variable}, or as {name!r} under [{section}] in {file or FILE_NAME}."
            )
        values[name] = _convert(value, hints[name], origin)
    return settings(**values)


def _has_default(field: "dataclasses.Field[Any]") -> bool:
    return (
        field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
    )


def _read_section(file: Path | None, section: str) -> dict[str, Any]:
    path = file or Path(FILE_NAME)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if file is None:
            return {}
        raise ConfigError(f"The settings file {file} does not exist.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The settings file {path} is not valid TOML: {error}.") from None
    table = document.get(section, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{section!r} in {path} must be a table: write it as [{section}].")
    return table


def _unknown(name: str, section: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else f" Known there: {', '.join(sorted(known))}."
    return f"There is no setting {name!r} under [{section}].{hint}"


def _convert(value: Any, kind: Any, origin: str) -> Any:
    if isinstance(kind, types.UnionType):  # `X | None`: there is a value, so it is an X
        kind = next(k for k in typing.get_args(kind) if k is not types.NoneType)
    try:
        if kind is bool:
            return _boolean(value)
        if typing.get_origin(kind) is typing.Literal:
            choices = typing.get_args(kind)
            if value not in choices:
                raise ValueError(f"expected one of {', '.join(map(str, choices))}")
            return value
        if isinstance(value, bool):  # Python takes a bool for an int; users do not mean one
            raise ValueError(f"expected {kind.__name__}")
        return kind(value)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{origin} = {value!r} cannot be used: {error}.") from None


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "1": True, "yes": True, "on": True}
    words |= {"false": False, "0": False, "no": False, "off": False}
    try:
        return words[str(value).lower()]
    except KeyError:
        raise ValueError("expected true or false") from None
