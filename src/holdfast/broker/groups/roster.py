"""Who is in a group: members, their instance ids, the leader, and what they agree on. No timers."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

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
from holdfast.broker.groups.subscription import CONSUMER_PROTOCOL, subscribed_topics
from holdfast.wire.protocol.errors import ErrorCode


class Cancellable(Protocol):
    """A timer that has not fired yet."""

    def cancel(self) -> None: ...


@dataclass(slots=True, kw_only=True)
class Member:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    offers: tuple[Offer, ...]
    assignment: bytes = b""
    is_new: bool = False
    """It has never been through a rebalance: it cannot send heartbeats, not knowing its id."""
    owes_sync: bool = False
    """It has not asked for its assignment of this generation yet."""
    waiting_to_join: JoinReply | None = None
    waiting_to_sync: SyncReply | None = None
    session: Cancellable | None = field(default=None, repr=False)

    @property
    def is_waiting(self) -> bool:
        return self.waiting_to_join is not None or self.waiting_to_sync is not None

    def metadata(self, protocol: str | None) -> bytes:
        return next((offer.metadata for offer in self.offers if offer.protocol == protocol), b"")

    def wait_to_join(self, join: Join, reply: JoinReply) -> None:
        """Take over what the member says now; `reply` when the others are there too."""
        # A request that this one repeats is answered too; its connection may still be there.
        in_progress = ErrorCode.REBALANCE_IN_PROGRESS
        self.answer_join(Joined(error=in_progress, member_id=self.member_id))
        self.offers = join.offers
        self.session_timeout_ms = join.session_timeout_ms
        self.rebalance_timeout_ms = join.rebalance_timeout_ms
        self.waiting_to_join = reply

    def answer_join(self, joined: Joined) -> None:
        """Answer the join that waits, if one does."""
        reply, self.waiting_to_join = self.waiting_to_join, None
        if reply is not None:
            reply(joined)

    def answer_sync(self, synced: Synced) -> None:
        """Answer the sync that waits, if one does."""
        reply, self.waiting_to_sync = self.waiting_to_sync, None
        if reply is not None:
            reply(synced)

    def end_session(self) -> None:
        if self.session is not None:
            self.session.cancel()
            self.session = None


class Roster:
    """The members of one group. At most one of them has a given instance id."""

    def __init__(self) -> None:
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.pending: dict[str, Cancellable] = {}
        """Ids that were given to clients to join with, and the timers that take them back."""
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
        """Whether the claimed member is the one in the group; generations are not looked at."""
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
        if member.instance_id is not None:
            self._ids_of_instances[member.instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id

    def expel(self, member: Member) -> None:
        """The member is none any more, and hears so if it waits for anything."""
        member.end_session()
        member.answer_join(Joined(error=ErrorCode.UNKNOWN_MEMBER_ID))
        member.answer_sync(Synced(error=ErrorCode.UNKNOWN_MEMBER_ID))
        del self._members[member.member_id]
        if member.instance_id is not None:
            del self._ids_of_instances[member.instance_id]
        if self.leader == member.member_id:
            self.leader = next(iter(self._members), None)

    def rename(self, member: Member, member_id: str) -> None:
        """Give a static member another id, in its old place and with its leadership."""
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

    def elect_a_joined_leader(self) -> bool:
        """Make sure that the leader is someone who joined; False if nobody did."""
        leader = self._members.get(self.leader) if self.leader is not None else None
        if leader is None or leader.waiting_to_join is None:
            leader = next((m for m in self._members.values() if m.waiting_to_join), None)
        self.leader = None if leader is None else leader.member_id
        return leader is not None

    # protocols

    def accepts(self, protocol_type: str, offers: tuple[Offer, ...]) -> bool:
        """Whether someone with these offers can be in the group: all must share a protocol."""
        if not self._members:
            return bool(protocol_type and offers)
        shared = self._shared_protocols()
        return protocol_type == self.protocol_type and any(o.protocol in shared for o in offers)

    def choose_protocol(self) -> str | None:
        """The shared protocol that most members put first."""
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
        """All topics that members subscribe to; None if that cannot be known."""
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
    """What a member subscribes to under the group's protocol (before the first: its own first)."""
    if protocol_type != CONSUMER_PROTOCOL or not member.offers:
        return None
    names = [offer.protocol for offer in member.offers]
    return subscribed_topics(member.metadata(protocol if protocol in names else names[0]))
