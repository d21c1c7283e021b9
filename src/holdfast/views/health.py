"""How the pipeline says it is, and what its silence means."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from holdfast.flows.reports import Report

GATE = "gate"
SILENT_AFTER_MS = 30_000
"""The pipeline speaks of each part every ten seconds, whatever happens: after three times that,
something is wrong with it."""


class HealthState(StrEnum):
    """From well to unwell."""

    RUNNING = "running"
    STARTING = "starting"
    WAITING = "waiting"
    """It runs, but something keeps it from going on just now."""
    BLOCKED = "blocked"
    """As much is held as may be, and the flow takes no more events until there is room."""
    STOPPED = "stopped"
    """It was told to end."""
    FAILED = "failed"
    """It has stopped itself, or cannot start; it tries again."""
    SILENT = "silent"
    """It has said nothing for so long that it does not run."""
    UNKNOWN = "unknown"
    """It has never said anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHealth:
    """One part of a flow's pipeline: its gate, or its raw zone."""

    state: HealthState
    reason: str = ""
    at: int | None = None
    """When it last spoke."""
    batch_seconds: float | None = None
    """How long its batches took lately, on average."""
    latency_seconds: float | None = None
    """From an event's timestamp to its commit, lately, on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineHealth:
    """The flow's pipeline as a whole: as well as its gate is."""

    state: HealthState
    reason: str = ""
    parts: Mapping[str, PartHealth]

    @property
    def well(self) -> bool:
        return self.state in (HealthState.RUNNING, HealthState.STARTING)


def health_of(reports: Mapping[str, Report], *, now: int) -> PipelineHealth:
    """What the newest reports of a flow's parts come to."""
    parts = {part: _part(report, now) for part, report in sorted(reports.items())}
    gate = parts.get(GATE)
    if gate is None:
        return PipelineHealth(
            state=HealthState.UNKNOWN,
            reason="No pipeline has ever run for this flow: start one with `holdfast pipeline`.",
            parts=parts,
        )
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
        reason = "It has said nothing for a while. Is the pipeline running?"
        state = HealthState.SILENT
    elif state is HealthState.STOPPED and not reason:
        reason = "It was told to end. Nothing goes on until it is started again."
    batches = report.batches
    return PartHealth(
        state=state,
        reason=reason,
        at=report.at,
        batch_seconds=report.batch_seconds / batches if batches else None,
        latency_seconds=report.latency_seconds / batches if batches else None,
    )
