"""The health of a pipeline, from its reports and from their absence.

The time of a report is that of its arrival: a pipeline with a wrong clock must not look silent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from holdfast.flows.reports import Report, partition_part

GATE = "gate"
WORKERS = "workers"
"""The one part of a guard."""
_NAMED_PARTITIONS = 10
SILENT_AFTER_MS = 30_000
"""The pipeline reports on each part at least every ten seconds."""


class HealthState(StrEnum):
    """From healthy to unhealthy."""

    RUNNING = "running"
    STARTING = "starting"
    WAITING = "waiting"
    """It runs, but waits for something."""
    PAUSED = "paused"
    """A command has paused the flow; it takes no events until it is resumed."""
    BLOCKED = "blocked"
    """The limit of held events is reached; the flow takes no events until there is room."""
    STOPPED = "stopped"
    """It was stopped."""
    FAILED = "failed"
    """It has failed or cannot start; it is retried."""
    SILENT = "silent"
    """It has not reported for so long that it is not running."""
    UNKNOWN = "unknown"
    """It has never reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHealth:
    """One part of a flow's pipeline: its gate, or its raw zone."""

    state: HealthState
    reason: str = ""
    at: int | None = None
    """The time of its last report."""
    batch_seconds: float | None = None
    """The average duration of its recent batches."""
    latency_seconds: float | None = None
    """The average time from an event's timestamp to its commit, recently."""
    files: int | None = None
    """The number of files in the raw zone's table, if it is known."""
    lands_within: float | None = None
    """The most seconds between two commits of a raw zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineHealth:
    """The health of a flow's pipeline as a whole, which follows its gate."""

    state: HealthState
    reason: str = ""
    parts: Mapping[str, PartHealth]

    @property
    def well(self) -> bool:
        return self.state in (HealthState.RUNNING, HealthState.STARTING)


_NO_PIPELINE = "No pipeline has ever run for this flow: start one with `holdfast pipeline`."
_NO_WORKER = "No worker has ever run for this guard: start one with `holdfast guard run`."
_OUTAGE = (
    "The circuit is open: events of many keys have failed, so what is behind the handler is down. "
    "One event at a time is tried; the first success closes it."
)


def guard_health(
    reports: Mapping[str, Report], *, partitions: int, circuit_open: bool, now: int
) -> PipelineHealth:
    """The health of a guard according to the newest reports of its partitions. A guard has one
    part, its workers. Its circuit is in the positions of its partitions."""
    owned = {
        number: _part(reports[part], now)
        for number in range(partitions)
        if (part := partition_part(number)) in reports
    }
    if not owned and circuit_open:  # its workers may not write reports
        return PipelineHealth(state=HealthState.WAITING, reason=_OUTAGE, parts={})
    if not owned:
        return PipelineHealth(state=HealthState.UNKNOWN, reason=_NO_WORKER, parts={})
    state, reason = _state_of_workers(owned, now)
    if state is HealthState.RUNNING and len(owned) < partitions:
        state, reason = HealthState.STARTING, "Some partitions have not been reported on yet."
    if state is HealthState.RUNNING and circuit_open:
        state, reason = HealthState.WAITING, _OUTAGE
    steps = sum(reports[partition_part(number)].batches for number in owned)
    seconds = sum(reports[partition_part(number)].batch_seconds for number in owned)
    workers = PartHealth(
        state=state,
        reason=reason,
        at=max(part.at or 0 for part in owned.values()),
        batch_seconds=seconds / steps if steps else None,
    )
    return PipelineHealth(state=state, reason=reason, parts={WORKERS: workers})


def _state_of_workers(owned: Mapping[int, PartHealth], now: int) -> tuple[HealthState, str]:
    """The most unhealthy state of a partition, and why."""
    if all(part.state is HealthState.STOPPED for part in owned.values()):
        return HealthState.STOPPED, "Its workers were stopped: no events are handled."
    idle = [number for number, part in owned.items() if _has_no_worker(part, now)]
    failed = [part for part in owned.values() if part.state is HealthState.FAILED]
    if failed:
        return HealthState.FAILED, failed[0].reason
    if idle:
        numbers = ", ".join(map(str, idle[:_NAMED_PARTITIONS]))
        numbers += ", …" if len(idle) > _NAMED_PARTITIONS else ""
        which = f"partition {numbers}" if len(idle) == 1 else f"partitions {numbers}"
        return HealthState.SILENT, f"No worker reports on {which}. Does one run?"
    for state in (HealthState.BLOCKED, HealthState.WAITING):
        for part in owned.values():
            if part.state is state:
                return state, part.reason
    return HealthState.RUNNING, ""


def _has_no_worker(part: PartHealth, now: int) -> bool:
    """Returns False during the moments in which a partition changes its owner."""
    if part.state is HealthState.STOPPED:
        return now - (part.at or 0) > SILENT_AFTER_MS
    return part.state is HealthState.SILENT


def health_of(reports: Mapping[str, Report], *, now: int) -> PipelineHealth:
    """The health according to the newest reports of a flow's parts."""
    parts = {part: _part(report, now) for part, report in sorted(reports.items())}
    gate = parts.get(GATE)
    if gate is None:
        return PipelineHealth(state=HealthState.UNKNOWN, reason=_NO_PIPELINE, parts=parts)
    if gate.state is not HealthState.RUNNING:
        return PipelineHealth(state=gate.state, reason=gate.reason, parts=parts)
    for name, part in parts.items():
        if part.state in (HealthState.FAILED, HealthState.SILENT):
            return PipelineHealth(
                state=part.state, reason=f"The {name}: {part.reason}", parts=parts
            )
    return PipelineHealth(state=HealthState.RUNNING, parts=parts)


def _part(report: Report, now: int) -> PartHealth:
    state, reason = HealthState(report.state), report.reason
    if report.blocked:
        state = HealthState.BLOCKED
    if state is not HealthState.STOPPED and now - report.at > SILENT_AFTER_MS:
        reason = "It has not reported for a while. Is the pipeline running?"
        state = HealthState.SILENT
    elif state is HealthState.STOPPED and not reason:
        reason = "It was stopped. No events are processed until it is started again."
    batches = report.batches
    return PartHealth(
        state=state,
        reason=reason,
        at=report.at,
        batch_seconds=report.batch_seconds / batches if batches else None,
        latency_seconds=report.latency_seconds / batches if batches else None,
        files=report.files or None,
        lands_within=report.lands_within or None,
    )
