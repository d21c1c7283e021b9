"""Requests of members to a group and the replies, independent of protocol versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.wire.protocol.errors import ErrorCode

NO_MEMBER_ID = ""
NO_GENERATION = -1


class MemberClaim(NamedTuple):
    """The member that a request claims to come from. A group checks the claim first."""

    member_id: str = NO_MEMBER_ID
    generation: int = NO_GENERATION
    instance_id: str | None = None

    @property
    def is_blank(self) -> bool:
        """Returns True for a client that stores offsets without being a member."""
        return self.generation < 0 and self.member_id == NO_MEMBER_ID and self.instance_id is None


class Offer(NamedTuple):
    """An assignment protocol that a member supports, and its metadata for it."""

    protocol: str
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """A request to join."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    offers: tuple[Offer, ...]
    must_know_its_id: bool
    """A new dynamic member first gets an id, and joins again with it (version 4 and later)."""
    can_skip_assignment: bool
    """The client understands a reply without a new assignment (version 9 and later)."""


class JoinedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The reply to a join."""

    error: ErrorCode = ErrorCode.NONE
    member_id: str = NO_MEMBER_ID
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = NO_MEMBER_ID
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()
    """All members; only the leader gets them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """A request for an assignment."""

    claim: MemberClaim
    protocol_type: str | None
    protocol: str | None
    assignments: Mapping[str, bytes] = field(default_factory=dict)
    """By member id; only the leader's request has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """The reply to a sync."""

    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class Leaver(NamedTuple):
    """A member to remove, by its id, or by its instance id if an administrator removes it."""

    member_id: str
    instance_id: str | None


JoinReply = Callable[[Joined], None]
SyncReply = Callable[[Synced], None]
LeaveReply = Callable[[ErrorCode, list[ErrorCode]], None]
