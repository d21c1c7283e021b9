"""One member of a consumer group."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from holdfast.broker.groups.consumer.assignment import Assignment
from holdfast.broker.groups.requests import Offer

LEFT = -1
"""The epoch of a member that leaves."""
AWAY = -2
"""The epoch of a static member that has stopped. It keeps its partitions until its session ends."""

_OF_A_MEMBER = 1_024
_OF_A_TOPIC = 100
_OF_A_PARTITION = 100


class MemberState(IntEnum):
    """Kafka's numbers."""

    STABLE = 0
    UNREVOKED = 1
    """It has yet to give up partitions."""
    UNRELEASED = 2
    """It waits for partitions that others have yet to give up."""


class ClassicSide(NamedTuple):
    """What a member with the classic protocol has beside."""

    session_timeout_ms: int
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """A member, its subscription and its partitions."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    pattern: str | None = None
    """A regular expression of topic names, beside `topics`."""
    rebalance_timeout_ms: int = -1
    assignor: str | None = None
    classic: ClassicSide | None = None
    """None: it uses the consumer protocol."""

    epoch: int = 0
    previous_epoch: int = 0
    """The member sends it again if the reply with `epoch` was lost."""
    state: MemberState = MemberState.STABLE
    assigned: Assignment = field(default_factory=dict)
    revoking: Assignment = field(default_factory=dict)
    """Partitions that it must give up, and may still read."""

    def weight(self) -> int:
        """Bytes that the budget counts for it."""
        names = (self.member_id, self.instance_id, self.rack_id, self.client_id, self.pattern)
        offers = self.classic.offers if self.classic is not None else ()
        return (
            _OF_A_MEMBER
            + sum(len(name or "") for name in names)
            + sum(_OF_A_TOPIC + len(topic) for topic in self.topics)
            + sum(_OF_A_TOPIC + len(offer.metadata) for offer in offers)
        )

    @property
    def described(self) -> tuple[object, ...]:
        """Everything but its epochs and partitions."""
        return (
            self.member_id,
            self.instance_id,
            self.rack_id,
            self.client_id,
            self.client_host,
            self.topics,
            self.pattern,
            self.rebalance_timeout_ms,
            self.assignor,
            self.classic,
        )

    def has_subscription_of(self, other: "ConsumerMember") -> bool:
        return (self.topics, self.pattern) == (other.topics, other.pattern)


def partitions_weight(partitions: int) -> int:
    """Bytes that the budget counts for partitions in the target of a group."""
    return _OF_A_PARTITION * partitions
