"""Is it well? One line for every part: broker, web, followers, the parts of each flow, guards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.client.client import Client
from holdfast.client.cluster import describe_cluster
from holdfast.errors import HoldfastError
from holdfast.views.flow_view import FlowView
from holdfast.views.health import GATE, HealthState, PartHealth, PipelineHealth
from holdfast.views.views import Views

_DOWN = frozenset({HealthState.FAILED, HealthState.SILENT, HealthState.STOPPED})
_NO_MEMBERS = ("empty", "dead")
_NO_WORKER = "No worker of this guard runs: start one with `holdfast guard run`."
_AWAY = "The broker does not answer, so it is not known if workers run."


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLine:
    """The health of one part."""

    part: str
    flow: str | None = None
    """The flow that it belongs to; None for a part of the whole."""
    state: HealthState = HealthState.RUNNING
    well: bool = True
    reason: str = ""
    """Why it is not well, and what to do."""


def part_lines(client: Client, views: Views, followers: Mapping[str, str]) -> list[PartLine]:
    """All parts, those of the whole first. `followers` has what each of them lacks, or nothing."""
    broker = broker_line(client)
    groups = _groups(client) if broker.well else None
    flows = [line for view in views.flows() for line in _flow_lines(view, groups)]
    return [broker, *(_follower(*item) for item in followers.items()), *flows]


def broker_line(client: Client) -> PartLine:
    try:
        describe_cluster(client.connection)
    except HoldfastError as error:
        return PartLine(part="broker", state=HealthState.FAILED, well=False, reason=str(error))
    return PartLine(part="broker")


def _groups(client: Client) -> Mapping[str, str] | None:
    try:
        return {group.name: group.state for group in client.groups.list()}
    except HoldfastError:
        return None


def _follower(name: str, trouble: str) -> PartLine:
    state = HealthState.FAILED if trouble else HealthState.RUNNING
    return PartLine(part=name, state=state, well=not trouble, reason=trouble)


def _flow_lines(view: FlowView, groups: Mapping[str, str] | None) -> Iterator[PartLine]:
    health = view.health()
    if view.definition.is_guard:
        yield _guard_line(view, health, groups)
        return
    if GATE not in health.parts:
        yield PartLine(
            part=GATE, flow=view.name, state=health.state, well=False, reason=health.reason
        )
    for name, part in health.parts.items():
        yield _pipeline_line(view.name, name, part, health)


def _pipeline_line(flow: str, name: str, part: PartHealth, health: PipelineHealth) -> PartLine:
    if name != GATE:
        well = part.state not in _DOWN
        return PartLine(part=name, flow=flow, state=part.state, well=well, reason=part.reason)
    paused = health.state is HealthState.PAUSED
    state, reason = (health.state, health.reason) if paused else (part.state, part.reason)
    well = state in (HealthState.RUNNING, HealthState.STARTING)
    return PartLine(part=name, flow=flow, state=state, well=well, reason=reason)


def _guard_line(
    view: FlowView, health: PipelineHealth, groups: Mapping[str, str] | None
) -> PartLine:
    """As its workers report. Those that may not write reports show as members of their group."""
    state, reason = HealthState.RUNNING, ""
    if health.parts:
        state, reason = health.state, health.reason
    elif groups is None:
        state, reason = HealthState.UNKNOWN, _AWAY
    elif groups.get(view.names.group, "empty") in _NO_MEMBERS:
        state, reason = HealthState.STOPPED, _NO_WORKER
    elif health.state is HealthState.WAITING:
        state, reason = health.state, health.reason
    well = state in (HealthState.RUNNING, HealthState.STARTING)
    return PartLine(part="guard", flow=view.name, state=state, well=well, reason=reason)
