"""Health of the broker, and of the pipeline of every flow."""

from dataclasses import dataclass

from holdfast.client.cluster import Cluster, describe_cluster
from holdfast.dashboard.page_request import PageRequest
from holdfast.dashboard.state_styles import StateStyle, flow_style, health_style
from holdfast.errors import HoldfastError
from holdfast.views.flow_view import FlowView
from holdfast.views.health import PartHealth


@dataclass(frozen=True, slots=True)
class PartLine:
    """One part of a flow's pipeline."""

    name: str
    part: PartHealth
    style: StateStyle


@dataclass(frozen=True, slots=True)
class FlowHealth:
    """A flow's pipeline with its parts."""

    flow: str
    style: StateStyle
    reason: str
    parts: tuple[PartLine, ...]
    steps: int
    """The steps of its gate, over all partitions."""
    control: int
    """Its position in the control log."""


@dataclass(frozen=True, slots=True)
class HealthPage:
    cluster: Cluster | None
    trouble: str
    """Why the broker is unreachable or the views are stale; empty if all is well."""
    ready: bool
    flows: tuple[FlowHealth, ...]

    @property
    def has_reasons(self) -> bool:
        """True if any part reports a reason for its state."""
        return any(flow.reason or any(p.part.reason for p in flow.parts) for flow in self.flows)


def health_page(request: PageRequest) -> HealthPage:
    views = request.services.views
    cluster, trouble = None, views.trouble
    try:
        cluster = describe_cluster(request.services.connection)
    except HoldfastError as error:
        trouble = str(error)
    flows = sorted(map(_flow, views.flows()), key=lambda flow: (flow.style.rank, flow.flow))
    return HealthPage(cluster, trouble, views.ready, tuple(flows))


def _flow(view: FlowView) -> FlowHealth:
    health = view.health()
    positions = view.positions().values()
    parts = tuple(
        PartLine(name, part, health_style(part.state)) for name, part in health.parts.items()
    )
    return FlowHealth(
        view.name,
        flow_style(view.summary()),
        health.reason,
        parts,
        sum(position.step for position in positions),
        min((position.control for position in positions), default=0),
    )
