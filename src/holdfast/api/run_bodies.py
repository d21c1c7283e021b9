"""The bodies of requests for runs, as the spec of each kind of run declares its options."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from fastapi import Depends
from pydantic import BaseModel, ConfigDict, Field, create_model

from holdfast.api.models import GivenKey, GivenTime, decoded, given_key, milliseconds
from holdfast.flows.options import options_of
from holdfast.flows.run_specs import (
    Coordinate,
    Milliseconds,
    OffsetRange,
    RunSpec,
    parse_json_filter,
)

_Id = Annotated[
    str | None,
    Field(
        pattern=r"^[A-Za-z0-9_.-]{1,64}$",
        description="The same id twice is one run. A new one unless given.",
    ),
]


class Requested(NamedTuple):
    """A run that a request's body describes."""

    spec: RunSpec
    id: str | None


def body_of(kind: type[RunSpec], config: ConfigDict) -> Any:
    """The dependency of a route that takes the options of a kind of run as its body."""
    fields: dict[str, Any] = {}
    for field, option in options_of(kind):
        form, example = _FORMS[field.type], option.example
        limits: dict[str, Any] = dict(option.limits)
        default: Any = field.default
        shown = Field(
            default=list(default) if form.listed else default,
            description=option.help,
            examples=example and [[example] if form.listed else example],
            **limits,
        )
        fields |= {field.name: (form.type, shown), **form.more}
    fields["id"] = (_Id, None)
    model = create_model(f"{kind.__name__}Body", __config__=config, __doc__=kind.__doc__, **fields)

    def read(body: BaseModel) -> Requested:
        options = {o.name: _FORMS[o.type].parse(body, o.name) for o, _ in options_of(kind)}
        return Requested(kind(**options), body.id)  # type: ignore[attr-defined]

    read.__annotations__["body"] = model
    return Depends(read)


class _Form(NamedTuple):
    """An option of one type in JSON, and how that becomes its value."""

    type: Any
    parse: Callable[[BaseModel, str], Any] = getattr
    listed: bool = False
    more: Mapping[str, Any] = MappingProxyType({})
    """Further fields, which `parse` takes into account."""


def _list(of: Any, parse: Callable[[Any], Any]) -> _Form:
    return _Form(list[of], lambda body, name: tuple(map(parse, getattr(body, name))), listed=True)


def _value(body: BaseModel, name: str) -> bytes | None:
    text, base64 = getattr(body, name), body.value_base64  # type: ignore[attr-defined]
    if base64 is not None:
        return decoded(base64, "value_base64")
    return None if text is None else text.encode()


_BASE64 = Field(
    default=None, max_length=1024 * 1024, description="`value` as base64, if it is not text."
)
_FORMS: dict[Any, _Form] = {
    bool: _Form(bool),
    str: _Form(str),
    int | None: _Form(int | None),
    float | None: _Form(float | None),
    Milliseconds: _Form(GivenTime | None, lambda body, name: milliseconds(getattr(body, name))),
    tuple[str, ...]: _list(Annotated[str, Field(max_length=1_000)], str),
    tuple[OffsetRange, ...]: _list(str, OffsetRange.parse),
    tuple[Coordinate, ...]: _list(str, Coordinate.parse),
    tuple[tuple[str, str], ...]: _list(str, parse_json_filter),
    tuple[bytes, ...]: _list(GivenKey, given_key),
    bytes | None: _Form(str | None, _value, more={"value_base64": (str | None, _BASE64)}),
}
