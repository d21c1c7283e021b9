"""How a member moves from its partitions to its target: first it gives up, then it gets. No I/O.

    STABLE -> UNREVOKED (it must give up some) -> UNRELEASED (others must) -> STABLE

A member gets a partition only when no other member has it. So no partition has two readers, and a
member that gives up nothing is never interrupted.
"""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from holdfast.broker.groups.consumer.assignment import (
    NOTHING,
    Assignment,
    common,
    count,
    only,
    union,
    without,
)
from holdfast.broker.groups.consumer.member import ConsumerMember, MemberState


def reconcile(
    member: ConsumerMember,
    target_epoch: int,
    target: Assignment,
    owned: Assignment | None,
    is_free: Callable[[UUID, int], bool],
) -> ConsumerMember:
    """The member after one step, or the same member if it cannot move.

    `owned`: the partitions that it says it has; None if it does not say.
    """
    if member.state is MemberState.STABLE and member.epoch == target_epoch:
        return member
    epoch = member.epoch
    if member.state is MemberState.UNREVOKED:
        if _still_owns(owned, member.revoking):
            return member
        epoch += 1
    kept = common(member.assigned, target)
    revoking = without(member.assigned, target)
    if revoking and _still_owns(owned, revoking):
        return _moved(member, MemberState.UNREVOKED, epoch, kept, revoking)
    wanted = without(target, kept)
    # Partitions that this member gives up with this step are not free for others to see, but they
    # are not in its target either.
    gained = only(wanted, is_free)
    all_free = count(gained) == count(wanted)
    state = MemberState.STABLE if all_free else MemberState.UNRELEASED
    return _moved(member, state, target_epoch, union(kept, gained), NOTHING)


def _still_owns(owned: Assignment | None, partitions: Assignment) -> bool:
    return owned is None or bool(common(owned, partitions))


def _moved(
    member: ConsumerMember,
    state: MemberState,
    epoch: int,
    assigned: Assignment,
    revoking: Assignment,
) -> ConsumerMember:
    return replace(
        member,
        state=state,
        epoch=epoch,
        previous_epoch=member.epoch if epoch != member.epoch else member.previous_epoch,
        assigned=assigned,
        revoking=revoking,
    )
