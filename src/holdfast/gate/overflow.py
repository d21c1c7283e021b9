"""When a flow holds as much as it may, in all partitions together."""

from collections.abc import Iterable

from holdfast.flows.registry import Limits
from holdfast.gate.settings import GateSettings
from holdfast.gate.state import PartitionState


def flow_is_over(states: Iterable[PartitionState], limits: Limits) -> bool:
    """Whether the flow is at its limit of events or bytes."""
    events = size = 0
    for state in states:
        events += state.events
        size += state.bytes
    return events >= limits.flow_events or size >= limits.flow_bytes


def blocked(states: Iterable[PartitionState], settings: GateSettings) -> str | None:
    """Why a batch may not begin now, in words; None if it may.

    Looked at before a batch alone, so the overshoot is at most one batch.
    """
    if settings.overflow != "block":
        return None
    states = list(states)
    if flow_is_over(states, settings.limits):
        return "The flow holds as much as it may: it takes no more events until some are released."
    keys = [key for state in states for key in state.over_limits(settings.limits)]
    if not keys:
        return None
    others = f" and {len(keys) - 1} others hold" if len(keys) > 1 else " holds"
    return (
        f"The key {min(keys).decode(errors='backslashreplace')!r}{others} as much as a key may: "
        "the flow takes no more events until some are released."
    )


def journal_is_due(states: Iterable[PartitionState], settings: GateSettings) -> bool:
    """Whether an overflow has begun or ended, or settings have changed, and the journal does not
    say so yet: a step is due then, though nothing was asked, nothing has expired and no event has
    come. A flow that is blocked would else not say why."""
    states = list(states)
    over = flow_is_over(states, settings.limits)
    return any(
        state.position.settings != settings.digest
        or state.position.overflow != over
        or state.over_limits(settings.limits) != state.flagged
        for state in states
    )
