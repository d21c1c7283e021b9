"""The options of a flow in requests and answers, as its definition declares them."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Depends
from pydantic import BaseModel, ConfigDict, Field, create_model

from holdfast.access.masks import parse_mask
from holdfast.api.models import Body, Model, example
from holdfast.flows.options import options_of
from holdfast.flows.registry import FlowDefinition, Limits

_NAMES = {"schema": "flow_schema"}  # a method of every model has this name
_LISTED = list[Annotated[str, Field(max_length=500)]]


def _fields(kind: type[Any], *, change: bool = False) -> dict[str, Any]:
    return dict(_each_field(kind, change))


def _each_field(kind: type[Any], change: bool) -> Iterator[tuple[str, Any]]:
    for field, option in options_of(kind):
        if change and option.fixed:
            continue
        listed = field.type == tuple[str, ...]
        type_: Any = _LISTED if listed else field.type
        default: Any = field.default
        limits: dict[str, Any] = dict(option.limits)
        shown = Field(
            default=None if change else list(default) if listed else default,
            description=option.help,
            examples=option.example and [[option.example] if listed else option.example],
            alias=field.name,
            **limits,
        )
        name = _NAMES.get(field.name, field.name)
        yield name, (type_ | None if change else type_, shown)


def _model(name: str, doc: str, fields: dict[str, Any], config: ConfigDict | None = None) -> Any:
    return create_model(name, __config__=config or Body.model_config, __doc__=doc, **fields)


LimitsModel = _model("LimitsModel", "Limits of held events.", _fields(Limits))
_LimitsChange = _model(
    "LimitsChange",
    "Limits to change. Those that are left out stay as they are.",
    _fields(Limits, change=True),
)
_NewFlow = _model(
    "NewFlow",
    "A new flow.",
    {
        "name": (str, Field(pattern=r"^[a-z0-9-]{1,100}$", examples=["orders"])),
        **_fields(FlowDefinition),
        "limits": (LimitsModel, LimitsModel()),
    },
    example(name="orders", partitions=6, masks=["$.card.number"], checks=["required order.id"]),
)
_FlowChange = _model(
    "FlowChange",
    "Changes of a flow while it runs. Fields that are left out stay; an empty `schema` or "
    "`event_id` removes it.",
    {**_fields(FlowDefinition, change=True), "limits": (_LimitsChange | None, None)},
    example(overflow="dead-letter"),
)
FlowOptionsOut: Any = create_model(
    "FlowOptionsOut", __base__=Model, **_fields(FlowDefinition), limits=(LimitsModel, ...)
)
"""The options of a flow in an answer."""


def _body(model: Any) -> Any:
    """The dependency of a route that takes options of a flow as its body, for the SDK."""

    def read(body: BaseModel) -> dict[str, Any]:
        options = body.model_dump(by_alias=True, exclude_none=True)
        for mask in options.get("masks", ()):
            parse_mask(mask)
        return options

    read.__annotations__["body"] = model
    return Depends(read)


NewFlow = Annotated[dict[str, Any], _body(_NewFlow)]
FlowChange = Annotated[dict[str, Any], _body(_FlowChange)]
