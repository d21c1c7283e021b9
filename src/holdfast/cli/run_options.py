"""The options of a run on the command line, as its spec declares them."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar

import typer

from holdfast.cli.options import (
    REPEATED,
    Base64,
    OptionGroup,
    declared,
    key_of_argument,
    parameter,
    raw_bytes,
)
from holdfast.cli.positions import parse_position
from holdfast.flows.options import options_of
from holdfast.flows.run_specs import (
    Coordinate,
    Milliseconds,
    OffsetRange,
    RunSpec,
    parse_json_filter,
)

Spec = TypeVar("Spec", bound=RunSpec)
ValueFile = Annotated[
    Path | None, typer.Option(help="Another value, from a file.", exists=True, dir_okay=False)
]


class SpecOptions(OptionGroup, Generic[Spec]):
    """All options of a kind of run; `spec` has their values."""

    kind: ClassVar[type[RunSpec]]

    def __init__(self, **values: Any) -> None:
        parsed = {
            field.name: _FORMS[field.type].parse(values, field.name)
            for field, _ in options_of(self.kind)
        }
        self.spec: Spec = self.kind(**parsed)  # type: ignore[assignment]

    @classmethod
    def parameters(cls) -> Iterator[Parameter]:
        for field, option in options_of(cls.kind):
            form = _FORMS[field.type]
            shown = declared(field, option, hint=form.hint)
            default = field.default if form.type in (bool, str) else None
            yield parameter(field.name, Annotated[form.type, shown], default)
            yield from form.more


class _Form(NamedTuple):
    """How typer reads an option of one type, and how that becomes its value."""

    type: Any
    parse: Callable[[Mapping[str, Any], str], Any] = lambda values, name: values[name]
    hint: str = ""
    more: tuple[Parameter, ...] = ()
    """Further parameters, which `parse` takes into account."""


def _listed(parse: Callable[[str], Any]) -> _Form:
    return _Form(
        list[str] | None,
        lambda values, name: tuple(map(parse, values[name] or ())),
        hint=REPEATED,
    )


def _keys(values: Mapping[str, Any], name: str) -> tuple[bytes, ...]:
    return tuple(key_of_argument(text, values["base64"]) for text in values[name] or ())


def _value(values: Mapping[str, Any], name: str) -> bytes | None:
    value, file = values[name], values["value_file"]
    if value is not None and file is not None:
        raise typer.BadParameter("give --value or --value-file, not both")
    if file is not None:
        content: bytes = file.read_bytes()
        return content
    return None if value is None else raw_bytes(value)


def _milliseconds(values: Mapping[str, Any], name: str) -> int | None:
    """A time, or a duration ago."""
    text, option = values[name], f"--{name}"
    if text is None:
        return None
    time = parse_position(text, option)
    if isinstance(time, timedelta):
        time = datetime.now(UTC) - time
    if not isinstance(time, datetime):
        raise typer.BadParameter(
            f"{text!r} is not a time: write 2026-01-31T12:00, or 2h for 2 hours ago",
            param_hint=option,
        )
    return round(time.timestamp() * 1000)


def _absolute(path: str) -> str:
    """The absolute path, because the pipeline runs in another folder."""
    return path if "://" in path else str(Path(path).absolute())


_FORMS: dict[Any, _Form] = {
    bool: _Form(bool),
    str: _Form(str),
    int | None: _Form(int | None),
    float | None: _Form(float | None),
    Milliseconds: _Form(str | None, _milliseconds, " A time, or 2h for 2 hours ago."),
    tuple[str, ...]: _listed(_absolute),
    tuple[OffsetRange, ...]: _listed(OffsetRange.parse),
    tuple[Coordinate, ...]: _listed(Coordinate.parse),
    tuple[tuple[str, str], ...]: _listed(parse_json_filter),
    tuple[bytes, ...]: _Form(
        list[str] | None, _keys, REPEATED, more=(parameter("base64", Base64, False),)
    ),
    bytes | None: _Form(str | None, _value, more=(parameter("value_file", ValueFile, None),)),
}
