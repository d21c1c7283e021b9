"""Settings: a flag wins over a `HOLDFAST_*` variable, that over the file, that over the default.

A group of settings is a frozen dataclass; `load` fills it. An error names the setting in each of
the places where it can be given.
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


def load(
    settings: type[T],
    section: str,
    *,
    flags: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> T:
    """Fill the dataclass `settings` from flags, environment, the file's `[section]` and defaults.

    A flag that is None was not given. `file` defaults to `holdfast.toml` in the working directory,
    and may be absent there; a file that was named must exist.
    """
    flags = flags or {}
    env = os.environ if env is None else env
    in_file = _read_section(file, section)
    fields = {f.name: f for f in dataclasses.fields(settings)}  # type: ignore[arg-type]
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
    if isinstance(kind, types.UnionType):  # `X | None`: the value was given, so it is an X
        kind = next(k for k in typing.get_args(kind) if k is not types.NoneType)
    try:
        if kind is bool:
            return _boolean(value)
        if typing.get_origin(kind) is typing.Literal:
            choices = typing.get_args(kind)
            if value not in choices:
                raise ValueError(f"expected one of {', '.join(map(str, choices))}")
            return value
        if isinstance(value, bool):  # a bool is an int to Python, not to people
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
