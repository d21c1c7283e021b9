"""`/flows`: list, create, describe, change."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.api.flow_bodies import FlowChange, FlowOptionsOut, NewFlow
from holdfast.api.models import HoldOut, Model, Moment, Seconds
from holdfast.api.parameters import Admin, ServicesOf, View, Viewer
from holdfast.control.problems import problems
from holdfast.control.records import ROLES, topic_of
from holdfast.errors import UnavailableError
from holdfast.flows.registry import FlowDefinition
from holdfast.views.flow_view import FlowSummary
from holdfast.views.health import HealthState

router = APIRouter(tags=["flows"])

_SEEN_SECONDS = 10.0


class PartOut(Model):
    """One part of a flow's pipeline."""

    state: HealthState
    reason: str = Field(examples=[""])
    at: Moment = Field(description="When it last spoke.")
    batch_seconds: float | None = Field(description="Mean time of a batch, lately.")
    latency_seconds: float | None = Field(description="Mean time from event to commit, lately.")
    files: int | None = Field(description="Files in the raw zone's table, if it is known.")
    lands_within: float | None = Field(
        description="Most seconds between two commits of the raw zone, while events arrive."
    )


class HealthOut(Model):
    """The health of the flow's pipeline, as it reports it."""

    state: HealthState = Field(examples=[HealthState.RUNNING])
    reason: str = Field(description="Why it is not well: what happened, and what to do.")
    parts: dict[str, PartOut]


class SampleOut(Model):
    """One second of a flow; rates are events a second."""

    at: Moment
    incoming: float = Field(examples=[1000.0])
    outgoing: float = Field(examples=[992.0])
    held: float = Field(examples=[8.0])
    dead: float = Field(examples=[0.0])
    lag: int = Field(description="Events that the gate has yet to take.", examples=[120])
    held_keys: int
    held_events: int
    held_bytes: int


class FlowOut(FlowOptionsOut):  # type: ignore[misc]
    """A flow: its definition and its state."""

    name: str = Field(examples=["orders"])
    created_at: Moment
    topics: dict[str, str] = Field(examples=[{"events": "orders.events"}])
    held_keys: int
    draining_keys: int
    pending_commands: int = Field(description="Requested, and not effective yet.")
    held_events: int
    held_bytes: int
    now: SampleOut | None = Field(description="The newest rates and lag.")
    health: HealthOut
    pauses: list[HoldOut] = Field(description="The flow takes no events while there is one.")
    is_guard: bool = Field(description="A guard: its output is a handler.")
    failing_keys: int = Field(description="Of a guard: keys whose first event has failed.")
    circuit_open: bool = Field(description="Of a guard: what is behind its handler is down.")

    @classmethod
    def of(cls, summary: FlowSummary) -> "FlowOut":
        flow = summary.definition
        names = cls.model_fields.keys() - {"flow_schema", "limits", "topics"}
        fields: dict[str, Any] = {
            name: getattr(flow if hasattr(flow, name) else summary, name) for name in names
        }
        fields |= {"schema": flow.schema, "limits": asdict(flow.limits), "topics": topics_of(flow)}
        return cls(**fields)


class FlowsOut(Model):
    flows: list[FlowOut]


class SeriesOut(Model):
    samples: list[SampleOut] = Field(description="A sample a second, oldest first.")


@router.get("/flows", summary="List flows")
def list_flows(services: ServicesOf, _: Viewer) -> FlowsOut:
    flows = services.ready_views().flows()
    return FlowsOut(flows=[FlowOut.of(view.summary()) for view in flows])


@router.post("/flows", status_code=201, summary="Create a flow", responses=problems(409))
async def create_flow(
    _: Admin, options: NewFlow, services: ServicesOf, response: Response
) -> FlowOut:
    """Creates the flow's topics and registers it. A running pipeline picks it up by itself."""
    flow = services.client.flow(options.pop("name"))
    await asyncio.to_thread(flow.create, **options)
    response.headers["Location"] = f"/api/v1/flows/{flow.name}"
    return FlowOut.of(await _once_seen(services, flow.describe()))


@router.get("/flows/{flow}", summary="Describe a flow", responses=problems(404))
def describe_flow(_: Viewer, view: View) -> FlowOut:
    """Its definition, held events, rates, lag, limits, and the health of its pipeline."""
    return FlowOut.of(view.summary())


@router.patch("/flows/{flow}", summary="Change a flow", responses=problems(404))
async def change_flow(_: Admin, changes: FlowChange, view: View, services: ServicesOf) -> FlowOut:
    """Changes options of the flow while it runs."""
    flow = services.client.flow(view.name)
    definition = await asyncio.to_thread(flow.change, **changes)
    return FlowOut.of(await _once_seen(services, definition))


@router.get("/flows/{flow}/series", summary="Rates and lag", responses=problems(404))
def flow_series(
    view: View,
    _: Viewer,
    seconds: Annotated[
        Seconds, Query(ge=1, le=600, description="How far back: seconds, or such as `5m`.")
    ] = 600.0,
) -> SeriesOut:
    """The last ten minutes, one sample per second."""
    return SeriesOut(
        samples=[
            SampleOut.model_validate(sample) for sample in view.series.samples()[-round(seconds) :]
        ]
    )


def topics_of(flow: FlowDefinition) -> dict[str, str]:
    """The flow's topics by their role."""
    return {role: topic_of(flow.names, role) for role in ROLES}


async def _once_seen(services: ServicesOf, definition: FlowDefinition) -> FlowSummary:
    """The flow as this process's view shows it, from which the next request is answered."""
    with services.views.changes.subscribe() as changes:
        deadline = asyncio.get_running_loop().time() + _SEEN_SECONDS
        while (left := deadline - asyncio.get_running_loop().time()) > 0:
            for view in services.views.flows():
                if view.definition == definition:
                    return view.summary()
            await changes.next(within=left)
    raise UnavailableError(
        f"The flow {definition.name!r} was written, but is not seen here yet: look again soon."
    )
