"""Is it well? The line of a guard."""

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.control.health import PartLine, _flow_lines
from holdfast.views.health import WORKERS, HealthState, PartHealth, PipelineHealth

STABLE = {"holdfast.billing": "stable"}


def line(health: PipelineHealth, groups: dict[str, str] | None) -> PartLine:
    view: Any = SimpleNamespace(
        name="billing",
        definition=SimpleNamespace(is_guard=True),
        names=SimpleNamespace(group="holdfast.billing"),
        health=lambda: health,
    )
    [found] = _flow_lines(view, groups)
    return found


def reported(state: HealthState) -> PipelineHealth:
    parts = {WORKERS: PartHealth(state=state, reason="why")}
    return PipelineHealth(state=state, reason="why", parts=parts)


@pytest.mark.parametrize("state", HealthState)
def test_guard_is_as_well_as_its_workers_report(state: HealthState) -> None:
    well = state in (HealthState.RUNNING, HealthState.STARTING)
    for groups in (STABLE, {}, None):  # a user without rights sees no groups
        found = line(reported(state), groups)
        assert (found.state, found.well, found.reason) == (state, well, "why")


@pytest.mark.parametrize(
    ("groups", "state"),
    [
        (STABLE, HealthState.RUNNING),
        ({}, HealthState.STOPPED),
        ({"holdfast.billing": "empty"}, HealthState.STOPPED),
        (None, HealthState.UNKNOWN),
    ],
)
def test_guard_without_reports_runs_if_its_group_has_members(
    groups: dict[str, str] | None, state: HealthState
) -> None:
    health = PipelineHealth(state=HealthState.UNKNOWN, reason="", parts={})
    assert line(health, groups).state is state
