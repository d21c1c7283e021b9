"""The members of a group: their instance ids, the leader, and their common protocol. No timers."""

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.broker.groups.budget import Budget, weight_of
from holdfast.broker.groups.records import GroupRecord, MemberRecord
from holdfast.broker.groups.requests import (
    Join,
    Joined,
    JoinedMember,
    JoinReply,
    MemberClaim,
    Offer,
    Synced,
    SyncReply,
)
from holdfast.broker.patience import Cancellable
from holdfast.wire.protocol.errors import ErrorCode

CONSUMER_PROTOCOL = "consumer"
"""The protocol type of consumers, which subscribe to topics."""

_VERSION_AND_COUNT = struct.Struct(">hi")
_LENGTH = struct.Struct(">h")


@dataclass(slots=True, kw_only=True)
class Member:
    """A member, and the replies that it waits for."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    offers: tuple[Offer, ...]
    assignment: bytes = b""
    is_new: bool = False
    """Its first join is unanswered: it does not know its id, so it cannot send heartbeats."""
    owes_sync: bool = False
    """It has not requested its assignment of this generation yet."""
    weight: int = 0
    """Bytes that the budget counts for it."""
    waiting_to_join: JoinReply | None = None
    waiting_to_sync: SyncReply | None = None
    session: Cancellable | None = field(default=None, repr=False)

    @property
    def is_waiting(self) -> bool:
        return self.waiting_to_join is not None or self.waiting_to_sync is not None

    def metadata(self, protocol: str | None) -> bytes:
        return next((offer.metadata for offer in self.offers if offer.protocol == protocol), b"")

    def wait_to_join(self, join: Join, reply: JoinReply) -> None:
        """Stores the values of a new join; calls `reply` when the rebalance has its members."""
        # Reply to the earlier request too: its connection may still be open.
        in_progress = ErrorCode.REBALANCE_IN_PROGRESS
        self.answer_join(Joined(error=in_progress, member_id=self.member_id))
        self.offers = join.offers
        self.session_timeout_ms = join.session_timeout_ms
        self.rebalance_timeout_ms = join.rebalance_timeout_ms
        self.waiting_to_join = reply

    def answer_join(self, joined: Joined) -> None:
        """Replies to the waiting join, if there is one."""
        reply, self.waiting_to_join = self.waiting_to_join, None
        if reply is not None:
            reply(joined)

    def answer_sync(self, synced: Synced) -> None:
        """Replies to the waiting sync, if there is one."""
        reply, self.waiting_to_sync = self.waiting_to_sync, None
        if reply is not None:
            reply(synced)

    def end_session(self) -> None:
        if self.session is not None:
            self.session.cancel()
            self.session = None


class Roster:
    """The members of one group. At most one of them has a given instance id."""

    def __init__(self, budget: Budget) -> None:
        self.bytes = 0
        """Bytes that all members take."""
        self._budget = budget
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.pending: dict[str, Cancellable] = {}
        """Ids that were assigned to clients but not used yet, with the timers that expire them."""
        self._members: dict[str, Member] = {}
        self._ids_of_instances: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._members.values()))

    def get(self, member_id: str) -> Member | None:
        return self._members.get(member_id)

    def of_instance(self, instance_id: str | None) -> Member | None:
        member_id = self._ids_of_instances.get(instance_id) if instance_id is not None else None
        return None if member_id is None else self._members[member_id]

    def check(self, claim: MemberClaim) -> ErrorCode:
        """Returns NONE if the claim names a current member. Does not check the generation."""
        if claim.instance_id is not None:
            current = self._ids_of_instances.get(claim.instance_id)
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if current != claim.member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        known = claim.member_id in self._members
        return ErrorCode.NONE if known else ErrorCode.UNKNOWN_MEMBER_ID

    def add(self, member: Member, protocol_type: str) -> None:
        if not self._members:
            self.protocol_type = protocol_type
        self._members[member.member_id] = member
        self._budget.members += 1
        self.weigh(member)
        if member.instance_id is not None:
            self._ids_of_instances[member.instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id

    def expel(self, member: Member) -> None:
        """Removes a member, and replies to its waiting requests with an error."""
        member.end_session()
        member.answer_join(Joined(error=ErrorCode.UNKNOWN_MEMBER_ID))
        member.answer_sync(Synced(error=ErrorCode.UNKNOWN_MEMBER_ID))
        del self._members[member.member_id]
        self._budget.members -= 1
        self._count(member, 0)
        if member.instance_id is not None:
            del self._ids_of_instances[member.instance_id]
        if self.leader == member.member_id:
            self.leader = next(iter(self._members), None)

    def add_pending(self, member_id: str, expiry: Cancellable) -> None:
        self.pending[member_id] = expiry
        self._budget.members += 1

    def drop_pending(self, member_id: str) -> None:
        self.pending.pop(member_id).cancel()
        self._budget.members -= 1

    def weigh(self, member: Member) -> None:
        """Updates the bytes that are counted for a member."""
        self._count(member, weight_of(member, member.assignment))

    def _count(self, member: Member, weight: int) -> None:
        self.bytes += weight - member.weight
        self._budget.bytes += weight - member.weight
        member.weight = weight

    def rename(self, member: Member, member_id: str) -> None:
        """Gives a static member a new id. It keeps its rank and its leadership."""
        old_id = member.member_id
        self._members = {
            (member_id if known == old_id else known): other
            for known, other in self._members.items()
        }
        member.member_id = member_id
        assert member.instance_id is not None
        self._ids_of_instances[member.instance_id] = member_id
        if self.leader == old_id:
            self.leader = member_id

    def elect_joined_leader(self) -> bool:
        """Makes a member that has joined the leader. Returns False if none has."""
        leader = self._members.get(self.leader) if self.leader is not None else None
        if leader is None or leader.waiting_to_join is None:
            leader = next((m for m in self._members.values() if m.waiting_to_join), None)
        self.leader = None if leader is None else leader.member_id
        return leader is not None

    # protocols

    def accepts(self, protocol_type: str, offers: tuple[Offer, ...]) -> bool:
        """Returns True if a member with these offers fits: all members must share a protocol."""
        if not self._members:
            return bool(protocol_type and offers)
        shared = self._shared_protocols()
        return protocol_type == self.protocol_type and any(o.protocol in shared for o in offers)

    def choose_protocol(self) -> str | None:
        """The shared protocol that most members prefer."""
        shared = self._shared_protocols()
        votes = Counter(
            next(offer.protocol for offer in member.offers if offer.protocol in shared)
            for member in self._members.values()
            if shared
        )
        return votes.most_common(1)[0][0] if votes else None

    def _shared_protocols(self) -> set[str]:
        sets = [{offer.protocol for offer in member.offers} for member in self._members.values()]
        return set.intersection(*sets) if sets else set()

    def subscribed_topics(self) -> frozenset[str] | None:
        """All topics that members subscribe to; None if the broker cannot read them."""
        topics: set[str] = set()
        for member in self._members.values():
            subscribed = topics_of(self.protocol_type, member, self.protocol)
            if subscribed is None:
                return None
            topics |= subscribed
        return frozenset(topics)

    def rebalance_timeout_ms(self) -> int:
        return max((m.rebalance_timeout_ms for m in self._members.values()), default=0)

    def joined_members(self) -> tuple[JoinedMember, ...]:
        return tuple(
            JoinedMember(m.member_id, m.instance_id, m.metadata(self.protocol))
            for m in self._members.values()
        )

    # records

    def record(
        self, generation: int, since_ms: int, assignments: Mapping[str, bytes]
    ) -> GroupRecord:
        return GroupRecord(
            protocol_type=self.protocol_type or "",
            generation=generation,
            protocol=self.protocol,
            leader=self.leader,
            since_ms=since_ms,
            members=tuple(
                MemberRecord(
                    member_id=member.member_id,
                    instance_id=member.instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    rebalance_timeout_ms=member.rebalance_timeout_ms,
                    session_timeout_ms=member.session_timeout_ms,
                    subscription=member.metadata(self.protocol),
                    assignment=assignments.get(member.member_id, b""),
                )
                for member in self._members.values()
            ),
        )

    def restore(self, record: GroupRecord) -> None:
        for known in record.members:
            offers = (Offer(record.protocol, known.subscription),) if record.protocol else ()
            member = Member(
                member_id=known.member_id,
                instance_id=known.instance_id,
                client_id=known.client_id,
                client_host=known.client_host,
                session_timeout_ms=known.session_timeout_ms,
                rebalance_timeout_ms=known.rebalance_timeout_ms,
                offers=offers,
                assignment=known.assignment,
            )
            self.add(member, record.protocol_type)
        self.protocol_type = record.protocol_type or None
        self.protocol = record.protocol
        self.leader = record.leader


def topics_of(
    protocol_type: str | None, member: Member, protocol: str | None
) -> frozenset[str] | None:
    """A member's topics under the group's protocol, or under its first one before there is one."""
    if protocol_type != CONSUMER_PROTOCOL or not member.offers:
        return None
    names = [offer.protocol for offer in member.offers]
    return subscribed_topics(member.metadata(protocol if protocol in names else names[0]))


def subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """The topics of a consumer's subscription; None if the bytes are not a subscription.

    Every version begins with its number and the topics. The rest is for the assignor.
    """
    try:
        _, count = _VERSION_AND_COUNT.unpack_from(metadata)
        position = _VERSION_AND_COUNT.size
        topics = []
        for _ in range(count):
            (length,) = _LENGTH.unpack_from(metadata, position)
            position += _LENGTH.size
            if length < 0 or position + length > len(metadata):
                return None
            topics.append(metadata[position : position + length].decode())
            position += length
    except (struct.error, UnicodeDecodeError):
        return None
    return frozenset(topics) if count >= 0 else None
