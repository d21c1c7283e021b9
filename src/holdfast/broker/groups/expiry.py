"""Committed offsets that have outlived their retention."""

from holdfast.broker.groups.consumer.group import ConsumerGroup
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.offsets import OffsetStore
from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.groups.records import CommittedOffset, TopicPartition


def expired_offsets(
    group: Group | ConsumerGroup, offsets: OffsetStore, now_ms: int, retention_ms: int
) -> list[TopicPartition]:
    """The partitions whose committed offsets have outlived their retention.

    In a group with members: partitions of topics that no member subscribes to. In an empty classic
    group: all, counted from the day when it became empty. In an empty consumer group and one that
    never had members: counted from the commit. Never those that an open transaction may change.
    """
    kept_topics: frozenset[str] = frozenset()
    if group.state is not GroupState.EMPTY:
        subscribed = group.subscribed_topics()
        is_settled = isinstance(group, ConsumerGroup) or group.state is GroupState.STABLE
        if not is_settled or subscribed is None:
            return []
        kept_topics = subscribed
    emptied_ms = group.emptied_ms if isinstance(group, Group) else 0
    unstable = offsets.unstable(group.group_id)
    # An administrator's commit for an empty group counts from the commit.
    return [
        at
        for at, committed in offsets.of(group.group_id)
        if at.topic not in kept_topics
        and at not in unstable
        and _is_expired(committed, max(emptied_ms, committed.commit_ms), now_ms, retention_ms)
    ]


def _is_expired(committed: CommittedOffset, since_ms: int, now_ms: int, retention_ms: int) -> bool:
    if committed.expire_ms >= 0:
        return now_ms >= committed.expire_ms
    return now_ms - since_ms >= retention_ms
