"""What can be changed while a flow runs: limits, overflow policy, schema."""

from dataclasses import dataclass, field
from hashlib import sha256

from holdfast.flows.documents import encode
from holdfast.flows.registry import FlowDefinition, Limits, Overflow
from holdfast.flows.status import Entry


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Limits, overflow policy and schema. A change takes effect at a step's boundary, and is
    journalled once in every partition, with that partition's cut."""

    limits: Limits = field(default_factory=Limits)
    overflow: Overflow = "block"
    schema: str | None = None
    document: str = field(init=False, repr=False)
    """The settings as the journal says them."""
    digest: str = field(init=False, repr=False)
    """What a position record keeps of them, to know whether they were journalled."""

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


def key_is_over(entry: Entry, limits: Limits) -> bool:
    """Whether a key has as much held in this partition as it may."""
    return entry.events >= limits.key_events or entry.bytes >= limits.key_bytes
