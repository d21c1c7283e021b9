"""Kafka's layouts of the records of consumer groups in `__consumer_offsets`.

A group has a record of its epoch, one of the epoch of its target, three for each member
(subscription, target, present partitions), and one for each regular expression.
"""

from typing import NamedTuple
from uuid import UUID

from holdfast.broker.groups.consumer.assignment import Assignment
from holdfast.broker.groups.consumer.member import ClassicSide, ConsumerMember, MemberState
from holdfast.broker.groups.consumer.storing import Kind
from holdfast.broker.groups.requests import Offer
from holdfast.wire.protocol.generated import (
    consumer_group_current_member_assignment_key as current_key,
)
from holdfast.wire.protocol.generated import (
    consumer_group_current_member_assignment_value as current_value,
)
from holdfast.wire.protocol.generated import consumer_group_member_metadata_key as member_key
from holdfast.wire.protocol.generated import consumer_group_member_metadata_value as member_value
from holdfast.wire.protocol.generated import consumer_group_metadata_key as group_key
from holdfast.wire.protocol.generated import consumer_group_metadata_value as group_value
from holdfast.wire.protocol.generated import consumer_group_regular_expression_key as pattern_key
from holdfast.wire.protocol.generated import (
    consumer_group_regular_expression_value as pattern_value,
)
from holdfast.wire.protocol.generated import (
    consumer_group_target_assignment_member_key as target_key,
)
from holdfast.wire.protocol.generated import (
    consumer_group_target_assignment_member_value as target_value,
)
from holdfast.wire.protocol.generated import (
    consumer_group_target_assignment_metadata_key as epoch_key,
)
from holdfast.wire.protocol.generated import (
    consumer_group_target_assignment_metadata_value as epoch_value,
)

_VERSION = 0


class ConsumerKey(NamedTuple):
    """The key of a record of a consumer group."""

    group_id: str
    kind: Kind
    name: str
    """A member id or a regular expression; empty for a record of the group itself."""


def encode_key(group_id: str, kind: Kind, name: str) -> bytes:
    match kind:
        case Kind.GROUP:
            return group_key.pack(group_key.ConsumerGroupMetadataKey(group_id))
        case Kind.TARGET_EPOCH:
            return epoch_key.pack(epoch_key.ConsumerGroupTargetAssignmentMetadataKey(group_id))
        case Kind.MEMBER:
            return member_key.pack(member_key.ConsumerGroupMemberMetadataKey(group_id, name))
        case Kind.TARGET:
            return target_key.pack(
                target_key.ConsumerGroupTargetAssignmentMemberKey(group_id, name)
            )
        case Kind.CURRENT:
            return current_key.pack(
                current_key.ConsumerGroupCurrentMemberAssignmentKey(group_id, name)
            )
        case Kind.PATTERN:
            return pattern_key.pack(pattern_key.ConsumerGroupRegularExpressionKey(group_id, name))
    raise ValueError(f"{kind} is no kind of a consumer group")


def decode_key(record_type: int, key: bytes) -> ConsumerKey | None:
    """The key; None for a kind that is not of a consumer group. Raises MalformedMessage."""
    if record_type == group_key.RECORD_TYPE:
        return ConsumerKey(group_key.unpack(key).group_id, Kind.GROUP, "")
    if record_type == epoch_key.RECORD_TYPE:
        return ConsumerKey(epoch_key.unpack(key).group_id, Kind.TARGET_EPOCH, "")
    if record_type == member_key.RECORD_TYPE:
        member = member_key.unpack(key)
        return ConsumerKey(member.group_id, Kind.MEMBER, member.member_id)
    if record_type == target_key.RECORD_TYPE:
        target = target_key.unpack(key)
        return ConsumerKey(target.group_id, Kind.TARGET, target.member_id)
    if record_type == current_key.RECORD_TYPE:
        current = current_key.unpack(key)
        return ConsumerKey(current.group_id, Kind.CURRENT, current.member_id)
    if record_type == pattern_key.RECORD_TYPE:
        pattern = pattern_key.unpack(key)
        return ConsumerKey(pattern.group_id, Kind.PATTERN, pattern.regular_expression)
    return None


def encode_group(epoch: int, fingerprint: int) -> bytes:
    return group_value.pack(_VERSION, group_value.ConsumerGroupMetadataValue(epoch, fingerprint))


def decode_group(value: bytes) -> tuple[int, int]:
    """The epoch and the fingerprint of the topics."""
    group = group_value.unpack(value)[1]
    return group.epoch, group.metadata_hash


def encode_target_epoch(epoch: int) -> bytes:
    return epoch_value.pack(_VERSION, epoch_value.ConsumerGroupTargetAssignmentMetadataValue(epoch))


def decode_target_epoch(value: bytes) -> int:
    return epoch_value.unpack(value)[1].assignment_epoch


def encode_member(member: ConsumerMember) -> bytes:
    classic = None
    if member.classic is not None:
        classic = member_value.ClassicMemberMetadata(
            member.classic.session_timeout_ms,
            [member_value.ClassicProtocol(*offer) for offer in member.classic.offers],
        )
    return member_value.pack(
        _VERSION,
        member_value.ConsumerGroupMemberMetadataValue(
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topics),
            subscribed_topic_regex=member.pattern,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            server_assignor=member.assignor,
            classic_member_metadata=classic,
        ),
    )


def decode_member(member_id: str, value: bytes) -> ConsumerMember:
    """The member without its partitions."""
    record = member_value.unpack(value)[1]
    classic = record.classic_member_metadata
    return ConsumerMember(
        member_id=member_id,
        instance_id=record.instance_id,
        rack_id=record.rack_id,
        client_id=record.client_id,
        client_host=record.client_host,
        topics=frozenset(record.subscribed_topic_names),
        pattern=record.subscribed_topic_regex,
        rebalance_timeout_ms=record.rebalance_timeout_ms,
        assignor=record.server_assignor,
        classic=None
        if classic is None
        else ClassicSide(
            classic.session_timeout_ms,
            tuple(Offer(each.name, each.metadata) for each in classic.supported_protocols),
        ),
    )


class CurrentRecord(NamedTuple):
    """The present partitions of a member."""

    epoch: int
    previous_epoch: int
    state: MemberState
    assigned: Assignment
    revoking: Assignment


def encode_current(member: ConsumerMember) -> bytes:
    kind = current_value.TopicPartitions
    return current_value.pack(
        _VERSION,
        current_value.ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=member.state,
            assigned_partitions=[kind(*each) for each in _listed(member.assigned)],
            partitions_pending_revocation=[kind(*each) for each in _listed(member.revoking)],
        ),
    )


def decode_current(value: bytes) -> CurrentRecord:
    record = current_value.unpack(value)[1]
    return CurrentRecord(
        record.member_epoch,
        record.previous_member_epoch,
        MemberState(record.state),
        {each.topic_id: frozenset(each.partitions) for each in record.assigned_partitions},
        {
            each.topic_id: frozenset(each.partitions)
            for each in record.partitions_pending_revocation
        },
    )


def encode_target(target: Assignment) -> bytes:
    return target_value.pack(
        _VERSION,
        target_value.ConsumerGroupTargetAssignmentMemberValue(
            [target_value.TopicPartition(*each) for each in _listed(target)]
        ),
    )


def decode_target(value: bytes) -> Assignment:
    listed = target_value.unpack(value)[1].topic_partitions
    return {each.topic_id: frozenset(each.partitions) for each in listed}


def encode_pattern(topics: frozenset[str], now_ms: int) -> bytes:
    return pattern_value.pack(
        _VERSION, pattern_value.ConsumerGroupRegularExpressionValue(sorted(topics), 0, now_ms)
    )


def decode_pattern(value: bytes) -> frozenset[str]:
    return frozenset(pattern_value.unpack(value)[1].topics)


def _listed(assignment: Assignment) -> list[tuple[UUID, list[int]]]:
    return [(topic, sorted(partitions)) for topic, partitions in assignment.items()]
