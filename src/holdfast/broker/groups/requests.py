"""What members ask of a group and what they are told, without the wire's versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.wire.protocol.errors import ErrorCode

NO_MEMBER_ID = ""
NO_GENERATION = -1


class MemberClaim(NamedTuple):
    """Who a request says it is from. A group checks it before it acts."""

    member_id: str = NO_MEMBER_ID
    generation: int = NO_GENERATION
    instance_id: str | None = None

    @property
    def is_blank(self) -> bool:
        """Nothing is claimed: a client that stores offsets without being a member."""
        return self.generation < 0 and self.member_id == NO_MEMBER_ID and self.instance_id is None


class Offer(NamedTuple):
    """An assignment protocol that a member can follow, and what it has to say under it."""

    protocol: str
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    offers: tuple[Offer, ...]
    must_know_its_id: bool
    """A new dynamic member is first given an id, and joins with it (version 4 on)."""
    can_skip_assignment: bool
    """The client understands that a leader need not assign anew (version 9 on)."""


class JoinedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The answer to a join."""

    error: ErrorCode = ErrorCode.NONE
    member_id: str = NO_MEMBER_ID
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = NO_MEMBER_ID
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()
    """Everybody, for the leader alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    claim: MemberClaim
    protocol_type: str | None
    protocol: str | None
    assignments: Mapping[str, bytes] = field(default_factory=dict)
    """By member id; the leader's alone counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """The answer to a sync."""

    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class Leaver(NamedTuple):
    """Who is to leave: a member by its id, or, asked by an administrator, by its instance id."""

    member_id: str
    instance_id: str | None


JoinReply = Callable[[Joined], None]
SyncReply = Callable[[Synced], None]
