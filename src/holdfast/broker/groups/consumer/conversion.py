"""A live group from one protocol to the other.

A classic group becomes a consumer group when the first consumer member joins; the classic members
stay, with their partitions. It becomes a classic group again when the last consumer member is gone.
Each conversion is one batch of the log: after a crash the group is one or the other.
"""

from holdfast.broker.groups.budget import LARGEST_GROUP
from holdfast.broker.groups.consumer.classic_members import by_id, by_name
from holdfast.broker.groups.consumer.group import ConsumerGroup, ConsumerRuntime
from holdfast.broker.groups.consumer.member import ClassicSide, ConsumerMember
from holdfast.broker.groups.consumer.storing import Kind
from holdfast.broker.groups.consumer_protocol import (
    Unreadable,
    read_assignment,
    read_subscription,
    write_assignment,
)
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.records import GroupRecord, MemberRecord
from holdfast.broker.groups.roster import CONSUMER_PROTOCOL


def to_consumer_group(
    group: Group | None, group_id: str, runtime: ConsumerRuntime
) -> ConsumerGroup:
    """A consumer group with the members of a classic one; raises Unreadable if it cannot be one.

    The classic group still works afterwards if this fails, and is to be retired if not.
    """
    converted = ConsumerGroup(group_id, runtime)
    if group is None:
        return converted
    converted.epoch = converted.assignment_epoch = group.generation
    members = [_converted(group, each.member_id, runtime) for each in group.roster]
    if members and (group.protocol_type != CONSUMER_PROTOCOL or len(members) >= LARGEST_GROUP):
        raise Unreadable("it is not a group of consumers, or it is full")
    group.retire()
    if group.protocol_type:
        converted.storage.changed(Kind.CLASSIC)
    for member in members:
        converted.put(member)
        converted.extend_session(member)
        converted.targets[member.member_id] = member.assigned
        converted.storage.changed(Kind.TARGET, member.member_id)
    converted.storage.changed(Kind.GROUP)
    converted.storage.changed(Kind.TARGET_EPOCH)
    return converted


def _converted(group: Group, member_id: str, runtime: ConsumerRuntime) -> ConsumerMember:
    member = group.roster.get(member_id)
    assert member is not None
    first = next((offer.metadata for offer in member.offers), b"")
    subscription = read_subscription(member.metadata(group.roster.protocol) or first)
    return ConsumerMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=subscription.topics,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic=ClassicSide(member.session_timeout_ms, member.offers),
        epoch=group.generation,
        previous_epoch=group.generation,
        assigned=by_id(read_assignment(member.assignment), runtime.topics),
    )


def to_classic_record(group: ConsumerGroup, now_ms: int) -> GroupRecord:
    """A classic group with the members of a consumer group, all of which are classic ones."""
    members = list(group.members.values())
    shared = set.intersection(
        *({offer.protocol for offer in _classic(member).offers} for member in members)
    )
    protocol = next(
        offer.protocol for offer in _classic(members[0]).offers if offer.protocol in shared
    )
    return GroupRecord(
        protocol_type=CONSUMER_PROTOCOL,
        generation=group.epoch,
        protocol=protocol,
        leader=members[0].member_id,
        since_ms=now_ms,
        members=tuple(_classic_record(group, member, protocol) for member in members),
    )


def _classic_record(group: ConsumerGroup, member: ConsumerMember, protocol: str) -> MemberRecord:
    classic = _classic(member)
    metadata = next(offer.metadata for offer in classic.offers if offer.protocol == protocol)
    return MemberRecord(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=classic.session_timeout_ms,
        subscription=metadata,
        assignment=write_assignment(by_name(member.assigned, group.runtime.topics), metadata),
    )


def _classic(member: ConsumerMember) -> ClassicSide:
    assert member.classic is not None
    return member.classic
