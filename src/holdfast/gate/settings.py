"""The settings that can change while a flow runs: limits, overflow policy, schema; and if a flow is
at its limits."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from holdfast.flows.documents import encode
from holdfast.flows.holds import describe_hold
from holdfast.flows.registry import FlowDefinition, Limits, Overflow
from holdfast.gate.state import PartitionState


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Limits, overflow policy and schema. A change takes effect at a step's boundary, and is
    journalled once in every partition, with that partition's cut."""

    limits: Limits = field(default_factory=Limits)
    overflow: Overflow = "block"
    schema: str | None = None
    document: str = field(init=False, repr=False)
    """The settings as text, for the journal."""
    digest: str = field(init=False, repr=False)
    """Their hash. The position record stores it, to know if these settings were journalled."""

    def __post_init__(self) -> None:
        limits = self.limits
        document = encode(
            {
                "key_events": limits.key_events,
                "key_bytes": limits.key_bytes,
                "flow_events": limits.flow_events,
                "flow_bytes": limits.flow_bytes,
                "overflow": self.overflow,
                "schema": self.schema,
            }
        )
        object.__setattr__(self, "document", document.decode())
        object.__setattr__(self, "digest", sha256(document).hexdigest()[:16])

    @classmethod
    def of(cls, flow: FlowDefinition) -> "GateSettings":
        return cls(flow.limits, flow.overflow, flow.schema)


def flow_is_over(states: Iterable[PartitionState], limits: Limits) -> bool:
    """Returns True if the flow is at its limit of held events or bytes."""
    events = size = 0
    for state in states:
        events += state.events
        size += state.bytes
    return events >= limits.flow_events or size >= limits.flow_bytes


def blocked(states: Iterable[PartitionState], settings: GateSettings) -> str | None:
    """A sentence about why a batch may not start now; None if it may.

    Checked only before a batch, so a flow exceeds its limit by at most one batch.
    """
    if settings.overflow != "block":
        return None
    states = list(states)
    if flow_is_over(states, settings.limits):
        return "The flow has reached its limit of held events: it stops until some are released."
    keys = [key for state in states for key in state.over_limits(settings.limits)]
    if not keys:
        return None
    others = f" and {len(keys) - 1} others have" if len(keys) > 1 else " has"
    return (
        f"The key {min(keys).decode(errors='backslashreplace')!r}{others} reached the limit of "
        "held events of a key: the flow stops until some are released."
    )


def paused(states: Iterable[PartitionState]) -> str | None:
    """A sentence about the pauses of the flow; None if it is not paused."""
    pauses = next((state.pauses for state in states if state.pauses), ())
    if not pauses:
        return None
    return f"The flow is paused by {'; by '.join(map(describe_hold, pauses))}."


def journal_is_due(states: Iterable[PartitionState], settings: GateSettings) -> bool:
    """Returns True if an overflow has begun or ended, or settings have changed, and this is not in
    the journal yet. The keeper then runs a step even without commands, expiries or events;
    otherwise nothing would explain why a flow is blocked."""
    states = list(states)
    over = flow_is_over(states, settings.limits)
    return any(
        state.position.settings != settings.digest
        or state.position.overflow != over
        or state.over_limits(settings.limits) != state.flagged
        for state in states
    )
