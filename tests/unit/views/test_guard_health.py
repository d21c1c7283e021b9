"""The health of a guard, from the reports of its partitions."""

from typing import Any

import pytest

from holdfast.flows.reports import PartState, Report, partition_part
from holdfast.views.health import (
    SILENT_AFTER_MS,
    WORKERS,
    HealthState,
    PipelineHealth,
    guard_health,
)

NOW = 1_000_000
LONG_AGO = NOW - SILENT_AFTER_MS - 1


def report(partition: int, state: PartState = "running", at: int = NOW, **fields: Any) -> Report:
    return Report(
        flow="billing", part=partition_part(partition), state=state, at=at, process="p", **fields
    )


def health(*reports: Report, partitions: int = 2, circuit_open: bool = False) -> PipelineHealth:
    by_part = {each.part: each for each in reports}
    return guard_health(by_part, partitions=partitions, circuit_open=circuit_open, now=NOW)


@pytest.mark.parametrize(
    ("reports", "state"),
    [
        ([], HealthState.UNKNOWN),
        ([report(0)], HealthState.STARTING),
        ([report(0), report(1)], HealthState.RUNNING),
        ([report(0), report(1, at=LONG_AGO)], HealthState.SILENT),
        ([report(0), report(1, "stopped")], HealthState.RUNNING),
        ([report(0), report(1, "stopped", LONG_AGO)], HealthState.SILENT),
        ([report(0, "stopped", LONG_AGO), report(1, "stopped")], HealthState.STOPPED),
        ([report(0), report(1, "failed", reason="no")], HealthState.FAILED),
        ([report(0), report(1, "waiting", reason="stuck")], HealthState.WAITING),
        ([report(0, "waiting"), report(1, "waiting", blocked=True)], HealthState.BLOCKED),
    ],
)
def test_guard_is_as_well_as_its_worst_partition(reports: list[Report], state: HealthState) -> None:
    assert health(*reports).state is state


def test_partitions_without_a_worker_are_named() -> None:
    found = health(report(0), report(1, at=LONG_AGO), report(2, at=LONG_AGO), partitions=3)
    assert found.reason == "No worker reports on partitions 1, 2. Does one run?"


def test_outage_shows_unless_something_worse_does() -> None:
    assert health(report(0), report(1), circuit_open=True).state is HealthState.WAITING
    assert health(circuit_open=True).state is HealthState.WAITING
    assert health(report(0, "failed"), report(1), circuit_open=True).state is HealthState.FAILED


def test_steps_of_all_partitions_make_one_average() -> None:
    slow, fast = report(0, batches=1, batch_seconds=1.0), report(1, batches=3, batch_seconds=0.2)
    assert health(slow, fast).parts[WORKERS].batch_seconds == pytest.approx(0.3)
