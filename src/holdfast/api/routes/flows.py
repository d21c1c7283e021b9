"""`/flows`: list, create, describe, change."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.access.masks import parse_mask
from holdfast.api.models import Body, Model, Moment, example, moment
from holdfast.api.parameters import Admin, ServicesOf, View, Viewer, ready
from holdfast.api.problems import problems
from holdfast.errors import UnavailableError
from holdfast.flows.checks import MAX_CHECKS
from holdfast.flows.registry import MAX_MASKS, MAX_PARTITIONS, FlowDefinition, Limits
from holdfast.views.flow_view import FlowSummary
from holdfast.views.health import HealthState, PartHealth, PipelineHealth
from holdfast.views.series import Sample

router = APIRouter(tags=["flows"])

_SEEN_S = 10.0
_MASK = Annotated[str, Field(max_length=500)]
_CHECK = Annotated[str, Field(max_length=500)]
_EVENT_ID = "The field that names an event: two with the same are one in the tables."
_CHECKS = (
    "Checks of quality, a line each: `required FIELD`, `range FIELD LOW..HIGH`, "
    "`unique FIELD ...`, `fresh 10m`, `volume LOW..HIGH DAYS`."
)


class LimitsModel(Body):
    """How much may be held."""

    key_events: int = Field(default=Limits().key_events, ge=1, le=2**53)
    key_bytes: int = Field(default=Limits().key_bytes, ge=1, le=2**53)
    flow_events: int = Field(default=Limits().flow_events, ge=1, le=2**53)
    flow_bytes: int = Field(default=Limits().flow_bytes, ge=1, le=2**53)


class PartOut(Model):
    """One part of a flow's pipeline."""

    state: HealthState
    reason: str = Field(examples=[""])
    at: Moment | None = Field(description="When it last spoke.")
    batch_seconds: float | None = Field(description="Mean time of a batch, lately.")
    latency_seconds: float | None = Field(description="Mean time from event to commit, lately.")

    @classmethod
    def of(cls, part: PartHealth) -> "PartOut":
        return cls(
            state=part.state,
            reason=part.reason,
            at=moment(part.at),
            batch_seconds=part.batch_seconds,
            latency_seconds=part.latency_seconds,
        )


class HealthOut(Model):
    """How the flow's pipeline is, as it says itself."""

    state: HealthState = Field(examples=[HealthState.RUNNING])
    reason: str = Field(description="Why it is not well: what happened, and what to do.")
    parts: dict[str, PartOut]

    @classmethod
    def of(cls, health: PipelineHealth) -> "HealthOut":
        parts = {name: PartOut.of(part) for name, part in health.parts.items()}
        return cls(state=health.state, reason=health.reason, parts=parts)


class SampleOut(Model):
    """One second of a flow; rates are events a second."""

    at: Moment | None
    incoming: float = Field(examples=[1000.0])
    outgoing: float = Field(examples=[992.0])
    held: float = Field(examples=[8.0])
    dead: float = Field(examples=[0.0])
    lag: int = Field(description="Events that the gate has yet to take.", examples=[120])
    held_keys: int
    held_events: int
    held_bytes: int

    @classmethod
    def of(cls, sample: Sample) -> "SampleOut":
        return cls(
            at=moment(sample.at),
            incoming=sample.incoming,
            outgoing=sample.outgoing,
            held=sample.held,
            dead=sample.dead,
            lag=sample.lag,
            held_keys=sample.held_keys,
            held_events=sample.held_events,
            held_bytes=sample.held_bytes,
        )


class FlowOut(Model):
    """A flow: what it is, and how it is."""

    name: str = Field(examples=["orders"])
    partitions: int = Field(examples=[6])
    created_at: Moment | None
    start: Literal["earliest", "latest"]
    overflow: Literal["block", "dead-letter"]
    limits: LimitsModel
    flow_schema: str | None = Field(alias="schema", description="Spark DDL over JSON values.")
    masks: list[str] = Field(description="JSON paths that viewers do not see.")
    event_id: str | None = Field(description=_EVENT_ID, examples=["order.id"])
    checks: list[str] = Field(description=_CHECKS, examples=[["required order.id"]])
    topics: dict[str, str] = Field(examples=[{"events": "orders.events"}])
    held_keys: int
    draining_keys: int
    pending_commands: int = Field(description="Requested, and not effective yet.")
    held_events: int
    held_bytes: int
    now: SampleOut | None = Field(description="The newest rates and lag.")
    health: HealthOut

    @classmethod
    def of(cls, summary: FlowSummary) -> "FlowOut":
        flow = summary.definition
        return cls(
            name=flow.name,
            partitions=flow.partitions,
            created_at=moment(flow.created_at),
            start=flow.start,
            overflow=flow.overflow,
            limits=_limits_out(flow.limits),
            schema=flow.schema,
            masks=list(flow.masks),
            event_id=flow.event_id,
            checks=list(flow.checks),
            topics=topics_of(flow),
            held_keys=summary.held_keys,
            draining_keys=summary.draining_keys,
            pending_commands=summary.pending_commands,
            held_events=summary.held_events,
            held_bytes=summary.held_bytes,
            now=SampleOut.of(summary.now) if summary.now else None,
            health=HealthOut.of(summary.health),
        )


class FlowsOut(Model):
    flows: list[FlowOut]


class NewFlow(Body):
    """A flow to be made."""

    model_config = example(
        name="orders", partitions=6, masks=["$.card.number"], checks=["required order.id"]
    )

    name: str = Field(pattern=r"^[a-z0-9-]{1,100}$", examples=["orders"])
    partitions: int = Field(default=6, ge=1, le=MAX_PARTITIONS)
    start: Literal["earliest", "latest"] = "earliest"
    overflow: Literal["block", "dead-letter"] = "block"
    limits: LimitsModel = LimitsModel()
    masks: list[_MASK] = Field(default=[], max_length=MAX_MASKS, examples=[["$.card.number"]])
    event_id: str | None = Field(
        default=None, max_length=500, description=_EVENT_ID, examples=["order.id"]
    )
    checks: list[_CHECK] = Field(
        default=[], max_length=MAX_CHECKS, description=_CHECKS, examples=[["required order.id"]]
    )


class FlowChange(Body):
    """What may change of a flow while it runs; what is left out stays."""

    model_config = example(overflow="dead-letter")

    overflow: Literal["block", "dead-letter"] | None = None
    limits: LimitsModel | None = None
    masks: list[_MASK] | None = Field(default=None, max_length=MAX_MASKS)
    event_id: str | None = Field(
        default=None, max_length=500, description=f"{_EVENT_ID} Empty: none does."
    )
    checks: list[_CHECK] | None = Field(default=None, max_length=MAX_CHECKS, description=_CHECKS)


class SeriesOut(Model):
    samples: list[SampleOut] = Field(description="A sample a second, oldest first.")


@router.get("/flows", summary="List flows")
def list_flows(services: ServicesOf, _: Viewer) -> FlowsOut:
    ready(services)
    return FlowsOut(flows=[FlowOut.of(view.summary()) for view in services.views.flows()])


@router.post("/flows", status_code=201, summary="Create a flow", responses=problems(409))
async def create_flow(_: Admin, new: NewFlow, services: ServicesOf, response: Response) -> FlowOut:
    """Makes the flow's topics, and registers it. A running pipeline picks it up by itself."""
    for mask in new.masks:
        parse_mask(mask)
    flow = services.client.flow(new.name)
    limits = Limits(**new.limits.model_dump())
    await asyncio.to_thread(
        flow.create,
        partitions=new.partitions,
        start=new.start,
        overflow=new.overflow,
        limits=limits,
        masks=new.masks,
        event_id=new.event_id,
        checks=new.checks,
    )
    response.headers["Location"] = f"/api/v1/flows/{new.name}"
    return FlowOut.of(await _once_seen(services, flow.describe()))


@router.get("/flows/{flow}", summary="Describe a flow", responses=problems(404))
def describe_flow(_: Viewer, view: View) -> FlowOut:
    """Its definition, what is held, rates, lag, limits, and how its pipeline is."""
    return FlowOut.of(view.summary())


@router.patch("/flows/{flow}", summary="Change a flow", responses=problems(404))
async def change_flow(_: Admin, change: FlowChange, view: View, services: ServicesOf) -> FlowOut:
    """Its limits, what happens at them, its masks, what names an event, and its checks."""
    for mask in change.masks or []:
        parse_mask(mask)
    definition = await asyncio.to_thread(
        services.client.flow(view.name).change,
        overflow=change.overflow,
        limits=Limits(**change.limits.model_dump()) if change.limits else None,
        masks=change.masks,
        event_id=change.event_id,
        checks=change.checks,
    )
    return FlowOut.of(await _once_seen(services, definition))


@router.get("/flows/{flow}/series", summary="Rates and lag", responses=problems(404))
def flow_series(
    view: View, _: Viewer, seconds: Annotated[int, Query(ge=1, le=600)] = 600
) -> SeriesOut:
    """Of the last ten minutes, a sample a second."""
    return SeriesOut(samples=[SampleOut.of(sample) for sample in view.series.samples()[-seconds:]])


def topics_of(flow: FlowDefinition) -> dict[str, str]:
    """The flow's topics by their role."""
    roles = ("events", "control", "journal", "status", "held", "processed", "dlq")
    return {role: getattr(flow.names, role) for role in roles}


def _limits_out(limits: Limits) -> LimitsModel:
    return LimitsModel(
        key_events=limits.key_events,
        key_bytes=limits.key_bytes,
        flow_events=limits.flow_events,
        flow_bytes=limits.flow_bytes,
    )


async def _once_seen(services: ServicesOf, definition: FlowDefinition) -> FlowSummary:
    """The flow as our own view shows it, which is what the next request will be answered from."""
    with services.views.changes.subscribe() as changes:
        deadline = asyncio.get_running_loop().time() + _SEEN_S
        while (left := deadline - asyncio.get_running_loop().time()) > 0:
            for view in services.views.flows():
                if view.definition == definition:
                    return view.summary()
            await changes.next(within=left)
    raise UnavailableError(
        f"The flow {definition.name!r} was written, but is not seen here yet: look again soon."
    )
