"""Runs, for the API and the dashboard: what somebody may ask for, and what of it he may see."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.access.masks import SEES_ALL, visible_value
from holdfast.access.roles import Actor, Role
from holdfast.api.services import Services
from holdfast.errors import RoleTooLowError
from holdfast.flows.runs import Run, described
from holdfast.flows.work import Backfill, Work

ORDER_CAVEAT = (
    "A redriven event goes behind the newer ones of its key: those have passed already, or wait in "
    "front of it."
)


async def ask_for(
    services: Services, flow: str, work: Work, actor: Actor, run_id: str | None = None
) -> Run:
    """Ask for a run in the actor's name. Returns once the request is acknowledged."""
    if isinstance(work, Backfill) and work.files and not actor.may(Role.ADMIN):
        raise RoleTooLowError(
            "A backfill from files needs the role admin: it reads any file that the pipeline can "
            "read, and shows what is in it as events."
        )
    ask = services.client.runs.ask
    return await asyncio.to_thread(ask, flow, work, actor=actor.name, run_id=run_id)


def visible_run(
    run: Run, masks: Sequence[str], actor: Actor, *, brief: bool = False
) -> dict[str, Any]:
    """All that is known of a run, its sample and its edited value as `actor` may see them.

    `brief`: without what the result lists one by one.
    """
    fields = described(run)
    asked = dict(fields["asked"])
    if masks and not actor.may(SEES_ALL):
        # Filters tell of values, too.
        for name in ("value_base64", "where", "json"):
            asked.pop(name, None)
    result = {
        name: value
        for name, value in fields["result"].items()
        if not (brief and isinstance(value, list))
    }
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
