"""Members of a consumer group that still use the classic protocol.

They join, sync and send classic heartbeats. The broker assigns for them: a join gets no members to
assign for, and the next sync gets the partitions. Their generation is their member epoch.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from holdfast.broker.groups.consumer.assignment import Assignment
from holdfast.broker.groups.consumer.group import ConsumerGroup, rejoining
from holdfast.broker.groups.consumer.member import ClassicSide, ConsumerMember, MemberState
from holdfast.broker.groups.consumer.requests import Refused
from holdfast.broker.groups.consumer.subscriptions import KnownTopics
from holdfast.broker.groups.consumer_protocol import (
    Owned,
    Subscription,
    Unreadable,
    read_subscription,
    write_assignment,
)
from holdfast.broker.groups.requests import (
    NO_MEMBER_ID,
    Join,
    Joined,
    JoinReply,
    Leaver,
    LeaveReply,
    MemberClaim,
    Sync,
    Synced,
    SyncReply,
)
from holdfast.broker.groups.roster import CONSUMER_PROTOCOL
from holdfast.wire.protocol.errors import ErrorCode


def join(group: ConsumerGroup, request: Join, reply: JoinReply) -> None:
    """Adds a classic member, or moves it one step towards its target."""
    try:
        subscription = _check_protocols(group, request)
        is_first = request.member_id == NO_MEMBER_ID
        if is_first and request.instance_id is None and request.must_know_its_id:
            required = ErrorCode.MEMBER_ID_REQUIRED
            reply(Joined(error=required, member_id=str(uuid4())))
            return
        known, replaced = _member_of(group, request)
        member = replace(
            known,
            instance_id=request.instance_id or known.instance_id,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            assignor=None,
            topics=subscription.topics,
            pattern=None,
            client_id=request.client_id,
            client_host=request.client_host,
            classic=ClassicSide(request.session_timeout_ms, request.offers),
        )
        group.check_room(member, replaced)
    except Refused as refusal:
        reply(Joined(error=refusal.error, member_id=request.member_id))
        return
    moved = group.admit(member, replaced, by_id(subscription.owned, group.runtime.topics))
    group.cancel("join", moved.member_id)
    group.cancel("revocation", moved.member_id)
    group.extend_session(moved)
    group.expel_after("sync", moved.member_id, request.rebalance_timeout_ms)
    joined = Joined(
        member_id=moved.member_id,
        generation=moved.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol=request.offers[0].protocol,
    )

    def then(error: ErrorCode) -> None:
        reply(joined if error is ErrorCode.NONE else Joined(error=error))

    if all(other.classic is not None for other in group.members.values()):
        group.runtime.downgrade(group, then)  # it has replaced the last consumer member
    else:
        group.storage.flush(then)


def sync(group: ConsumerGroup, request: Sync, reply: SyncReply) -> None:
    """Replies with the member's partitions."""
    try:
        member = _check_member(group, request.claim)
        assert member.classic is not None
        chosen = member.classic.offers[0]
        if request.protocol_type not in (None, CONSUMER_PROTOCOL) or request.protocol not in (
            None,
            chosen.protocol,
        ):
            raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
        if group.epoch > member.epoch and member.state is not MemberState.UNREVOKED:
            _await_join(group, member)
            raise Refused(ErrorCode.REBALANCE_IN_PROGRESS, "")
    except Refused as refusal:
        reply(Synced(error=refusal.error))
        return
    group.cancel("sync", member.member_id)
    group.extend_session(member)
    synced = Synced(
        protocol_type=CONSUMER_PROTOCOL,
        protocol=chosen.protocol,
        assignment=write_assignment(
            by_name(member.assigned, group.runtime.topics), chosen.metadata
        ),
    )
    group.storage.flush(
        lambda error: reply(synced if error is ErrorCode.NONE else Synced(error=error))
    )


def heartbeat(group: ConsumerGroup, claim: MemberClaim) -> ErrorCode:
    """Keeps the member alive. REBALANCE_IN_PROGRESS: it must join again to move on."""
    try:
        member = _check_member(group, claim)
    except Refused as refusal:
        return refusal.error
    group.extend_session(member)
    is_behind = (
        member.epoch < group.epoch
        or member.state is MemberState.UNREVOKED
        or (member.state is MemberState.UNRELEASED and not group.waits_for_others(member))
    )
    if not is_behind:
        return ErrorCode.NONE
    _await_join(group, member)
    return ErrorCode.REBALANCE_IN_PROGRESS


def leave(group: ConsumerGroup, leavers: Sequence[Leaver], reply: LeaveReply) -> None:
    """Removes classic members. Consumer members leave by a heartbeat."""
    errors, leaving = [], {}
    for leaver in leavers:
        member = (
            group.members.get(leaver.member_id)
            if leaver.instance_id is None
            else group.of_instance(leaver.instance_id)
        )
        error = ErrorCode.NONE
        if member is None or member.classic is None:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        elif leaver.member_id not in (NO_MEMBER_ID, member.member_id):
            error = ErrorCode.FENCED_INSTANCE_ID
        else:
            leaving[member.member_id] = member
        errors.append(error)
    if leaving:
        group.expel(leaving.values(), lambda error: reply(error, errors))
    else:
        reply(ErrorCode.NONE, errors)


def by_id(owned: Owned, topics: KnownTopics) -> Assignment:
    """Partitions by topic id. Topics that are gone are left out."""
    found = ((topics.get(name), partitions) for name, partitions in owned.items())
    return {topic.id: partitions for topic, partitions in found if topic is not None}


def by_name(assignment: Assignment, topics: KnownTopics) -> Owned:
    """Partitions by topic name. Topics that are gone are left out."""

    def name_of(topic_id: UUID) -> str | None:
        topic = topics.by_id(topic_id)
        return None if topic is None else topic.name

    named = ((name_of(topic_id), partitions) for topic_id, partitions in assignment.items())
    return {name: partitions for name, partitions in named if name is not None}


def _check_protocols(group: ConsumerGroup, request: Join) -> Subscription:
    """The member's subscription; raises Refused if the classic members share no protocol."""
    inconsistent = Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
    if request.protocol_type != CONSUMER_PROTOCOL or not request.offers:
        raise inconsistent
    shared = {offer.protocol for offer in request.offers}
    for member in group.members.values():
        if member.classic is not None and member.member_id != request.member_id:
            shared &= {offer.protocol for offer in member.classic.offers}
    try:
        subscription = read_subscription(request.offers[0].metadata)
    except Unreadable:
        raise inconsistent from None
    if not shared:
        raise inconsistent
    return subscription


def _member_of(group: ConsumerGroup, request: Join) -> tuple[ConsumerMember, str | None]:
    """The member as it is, or a new one; and the id of the member that it replaces."""
    if request.instance_id is None:
        member_id = request.member_id or str(uuid4())
        known = group.members.get(member_id)
        return known or ConsumerMember(member_id=member_id), None
    if request.member_id != NO_MEMBER_ID:
        return group.check_instance(request.instance_id, request.member_id), None
    member_id = f"{request.instance_id}-{uuid4()}"
    known = group.of_instance(request.instance_id)
    if known is None:
        return ConsumerMember(member_id=member_id), None
    return rejoining(known, member_id), known.member_id


def _check_member(group: ConsumerGroup, claim: MemberClaim) -> ConsumerMember:
    """The classic member of a claim; raises Refused."""
    if claim.instance_id is not None:
        member: ConsumerMember | None = group.check_instance(claim.instance_id, claim.member_id)
    else:
        member = group.members.get(claim.member_id)
    if member is None or member.classic is None:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "")
    if claim.generation != member.epoch:
        raise Refused(ErrorCode.ILLEGAL_GENERATION, "")
    return member


def _await_join(group: ConsumerGroup, member: ConsumerMember) -> None:
    if not group.is_timed("join", member.member_id):
        group.expel_after("join", member.member_id, member.rebalance_timeout_ms)
