"""Health: the broker, the pipeline of every flow, this process."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from holdfast.client.cluster import Cluster, describe_cluster
from holdfast.dashboard.looks import Look, flow_look, health_look
from holdfast.dashboard.visit import Viewing, Visit
from holdfast.errors import HoldfastError
from holdfast.views.flow_view import FlowView
from holdfast.views.health import PartHealth


@dataclass(frozen=True, slots=True)
class PartLine:
    """One part of a flow's pipeline."""

    name: str
    part: PartHealth
    look: Look


@dataclass(frozen=True, slots=True)
class FlowHealth:
    """A flow's pipeline with its parts."""

    flow: str
    look: Look
    reason: str
    parts: tuple[PartLine, ...]
    steps: int
    """How many steps its gate has taken, over all partitions."""
    control: int
    """How far it is in the control log."""


@dataclass(frozen=True, slots=True)
class HealthPage:
    """The page."""

    cluster: Cluster | None
    trouble: str
    """Why the broker could not be asked, or views stand still; empty if all is well."""
    ready: bool
    flows: tuple[FlowHealth, ...]

    @property
    def says_why(self) -> bool:
        """Whether any part has something to say about its state."""
        return any(flow.reason or any(p.part.reason for p in flow.parts) for flow in self.flows)


def add(router: APIRouter) -> None:
    @router.get("/health")
    def page(visit: Viewing) -> Response:
        return visit.page("health.html", here="/health", page=_health(visit), stream=visit.live())

    @router.get("/health/fragments/health")
    def part(visit: Viewing) -> Response:
        return visit.fragment("health_body.html", page=_health(visit))


def _health(visit: Visit) -> HealthPage:
    views = visit.services.views
    cluster, trouble = None, views.trouble
    try:
        cluster = describe_cluster(visit.services.connection)
    except HoldfastError as error:
        trouble = str(error)
    flows = sorted(map(_flow, views.flows()), key=lambda flow: (flow.look.rank, flow.flow))
    return HealthPage(cluster, trouble, views.ready, tuple(flows))


def _flow(view: FlowView) -> FlowHealth:
    health = view.health()
    positions = view.positions().values()
    parts = tuple(
        PartLine(name, part, health_look(part.state)) for name, part in health.parts.items()
    )
    return FlowHealth(
        view.name,
        flow_look(view.summary()),
        health.reason,
        parts,
        sum(position.step for position in positions),
        min((position.control for position in positions), default=0),
    )
