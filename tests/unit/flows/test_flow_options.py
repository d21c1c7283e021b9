"""Options of a flow are declared once, in `FlowDefinition` and `Limits`."""

import json
from dataclasses import replace
from typing import Any

import pytest

from holdfast.api.router import api_router
from holdfast.cli.flow import Changes, NewFlow
from holdfast.client.flow import FlowChanges, FlowOptions
from holdfast.errors import InvalidArgumentError
from holdfast.flows.options import options_of
from holdfast.flows.registry import FlowDefinition, Limits, decode_flow, encode_flow

FLOW = FlowDefinition(name="orders", created_at=7)
OPTIONS = {field.name for field, _ in options_of(FlowDefinition)}
CHANGEABLE = {field.name for field, option in options_of(FlowDefinition) if not option.fixed}
LIMITS = {field.name for field, _ in options_of(Limits)}


def test_sdk_takes_every_option() -> None:
    assert FlowOptions.__annotations__.keys() == OPTIONS | {"limits"}
    assert FlowChanges.__annotations__.keys() == CHANGEABLE | {"limits"}


def test_command_line_takes_every_option() -> None:
    assert {each.name for each in NewFlow.parameters()} == OPTIONS | LIMITS
    removals = {"no_schema", "no_masks", "no_event_id", "no_checks"}
    assert {each.name for each in Changes.parameters()} == CHANGEABLE | LIMITS | removals


def test_api_takes_and_shows_every_option() -> None:
    from fastapi import FastAPI

    app = FastAPI()
    app.include_router(api_router())
    schemas = app.openapi()["components"]["schemas"]
    assert schemas["NewFlow"]["properties"].keys() == OPTIONS | {"limits", "name"}
    assert schemas["FlowChange"]["properties"].keys() == CHANGEABLE | {"limits"}
    assert schemas["LimitsChange"]["properties"].keys() == LIMITS
    assert schemas["FlowOut"]["properties"].keys() >= OPTIONS | {"limits", "name"}


def test_options_replace_only_those_that_are_given() -> None:
    changed = FLOW.with_options(
        {"schema": "id INT", "masks": ["$.a"], "limits": {"key_events": 5}, "checks": None}
    )
    assert (changed.schema, changed.masks) == ("id INT", ("$.a",))
    assert changed.limits == Limits(key_events=5)
    again = changed.with_options({"schema": "", "limits": {"key_bytes": 6}})
    assert (again.schema, again.masks) == (None, ("$.a",))
    assert again.limits == Limits(key_events=5, key_bytes=6)


@pytest.mark.parametrize("options", [{"colour": 1}, {"limits": {"events": 1}}, {"start": "now"}])
def test_unknown_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        FLOW.with_options(options)


def test_flow_without_sending_is_stored_as_in_earlier_records() -> None:
    """Earlier builds read and write `no_sending`."""
    key, value = encode_flow(FLOW.with_options({"sending": False}))
    fields = json.loads(value)
    assert fields["no_sending"] is True
    assert "sending" not in fields
    assert not decode_flow(key, value).sending
    assert decode_flow(*encode_flow(FLOW)).sending


def test_guard_refuses_prefixes_and_pauses() -> None:
    with pytest.raises(InvalidArgumentError, match="holds single keys only"):
        replace(FLOW, topic="orders.processed").check_scopes()
    FLOW.check_scopes()
