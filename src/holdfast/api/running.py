"""Runs as somebody may see them: the one place that leaves out what is masked."""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.access.masks import SEES_ALL, visible_value
from holdfast.access.roles import Actor
from holdfast.api.services import Services
from holdfast.flows.runs import Run, described

ORDER_CAVEAT = (
    "A redriven event goes behind the newer ones of its key: those have passed already, or wait in "
    "front of it."
)


def visible_run(run: Run, masks: Sequence[str], actor: Actor) -> dict[str, Any]:
    """All that is known of a run, its sample and its edited value as `actor` may see them."""
    fields = described(run)
    asked = dict(fields["asked"])
    if masks and not actor.may(SEES_ALL):
        # Filters tell of values, too.
        for name in ("value_base64", "where", "json"):
            asked.pop(name, None)
    result = dict(fields["result"])
    if "sample" in result:
        result["sample"] = [_visible(event, masks, actor) for event in result["sample"]]
    return {**fields, "asked": asked, "result": result}


def masks_of(services: Services, flow: str) -> tuple[str, ...]:
    """Of a flow that is not there any more nobody knows what was masked: all is."""
    for view in services.views.flows():
        if view.name == flow:
            return view.definition.masks
    return ("$",)


def _visible(event: Mapping[str, Any], masks: Sequence[str], actor: Actor) -> dict[str, Any]:
    value = event["value"]
    shown = visible_value(None if value is None else value.encode(), masks, actor)
    return {**event, "value": None if shown is None else shown.decode()}
