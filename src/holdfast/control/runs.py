"""Runs for the API and the dashboard: what an actor may request and see."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.access.masks import SEES_ALL, visible_value
from holdfast.access.roles import Actor, Role
from holdfast.control.services import Services
from holdfast.errors import RoleTooLowError
from holdfast.flows.run_specs import Backfill, Redrive, RunSpec
from holdfast.flows.runs import Run, described


async def request_run(
    services: Services, flow: str, spec: RunSpec, actor: Actor, run_id: str | None = None
) -> Run:
    """Requests a run in the actor's name. Returns when the request is acknowledged."""
    if isinstance(spec, Backfill) and spec.files and not actor.may(Role.ADMIN):
        raise RoleTooLowError(
            "A backfill from files needs the role admin: it reads any file that the pipeline can "
            "read, and shows what is in it as events."
        )
    if isinstance(spec, Redrive) and spec.value is not None:
        services.ready_views().flow(flow).definition.check_value(spec.value)
    ask = services.client.runs.ask
    return await asyncio.to_thread(ask, flow, spec, actor=actor.signature, run_id=run_id)


def visible_run(
    run: Run, masks: Sequence[str], actor: Actor, *, brief: bool = False
) -> dict[str, Any]:
    """The fields of a run, with its sample and its edited value as `actor` may see them.

    `brief` leaves out the lists of the result.
    """
    fields = described(run)
    options = dict(fields["options"])
    if masks and not actor.may(SEES_ALL):
        # Filters reveal values as well.
        for name in ("value_base64", "where", "json_filters"):
            options.pop(name, None)
    result = {
        name: value
        for name, value in fields["result"].items()
        if not (brief and isinstance(value, list))
    }
    if "sample" in result:
        result["sample"] = [_visible(event, masks, actor) for event in result["sample"]]
    return {**fields, "options": options, "result": result}


def masks_of(services: Services, flow: str) -> tuple[str, ...]:
    """The masks of a flow. The masks of a deleted flow are unknown, so everything is masked."""
    for view in services.views.flows():
        if view.name == flow:
            return view.definition.masks
    return ("$",)


def _visible(event: Mapping[str, Any], masks: Sequence[str], actor: Actor) -> dict[str, Any]:
    value = event["value"]
    shown = visible_value(None if value is None else value.encode(), masks, actor)
    return {**event, "value": None if shown is None else shown.decode()}
