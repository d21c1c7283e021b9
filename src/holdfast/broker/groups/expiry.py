"""When committed offsets are forgotten."""

from holdfast.broker.groups.group import Group
from holdfast.broker.groups.offsets import OffsetStore
from holdfast.broker.groups.records import CommittedOffset, TopicPartition
from holdfast.broker.groups.surroundings import GroupState


def expired_offsets(
    group: Group, offsets: OffsetStore, now_ms: int, retention_ms: int
) -> list[TopicPartition]:
    """The partitions whose offsets nobody has needed for long enough.

    Of a group with members: the topics that none of them reads any more. Of an empty one: all,
    counted from the day when it became empty. Of one that only ever stored offsets: from the
    commit. Never those that an open transaction is about to change.
    """
    kept_topics: frozenset[str] = frozenset()
    if group.state is not GroupState.EMPTY:
        subscribed = group.roster.subscribed_topics()
        if group.state is not GroupState.STABLE or subscribed is None:
            return []
        kept_topics = subscribed
    unstable = offsets.unstable(group.group_id)
    # What an administrator commits for an empty group is as new as the commit.
    return [
        at
        for at, committed in offsets.of(group.group_id)
        if at.topic not in kept_topics
        and at not in unstable
        and _is_expired(committed, max(group.emptied_ms, committed.commit_ms), now_ms, retention_ms)
    ]


def _is_expired(committed: CommittedOffset, since_ms: int, now_ms: int, retention_ms: int) -> bool:
    if committed.expire_ms >= 0:
        return now_ms >= committed.expire_ms
    return now_ms - since_ms >= retention_ms
