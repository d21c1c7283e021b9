"""One group as its members see it: joining, taking over, staying and leaving. No I/O.

Time comes from outside (`Surroundings`), and so does the log. Replies are called in the middle of
a step, so they must not call back.
"""

from collections.abc import Sequence
from functools import partial
from uuid import uuid4

from holdfast.broker.groups.rebalance import Rebalance
from holdfast.broker.groups.records import GroupRecord
from holdfast.broker.groups.requests import (
    NO_MEMBER_ID,
    Join,
    Joined,
    JoinReply,
    Leaver,
    MemberClaim,
    Sync,
    Synced,
    SyncReply,
)
from holdfast.broker.groups.roster import Member, Roster, topics_of
from holdfast.broker.groups.sessions import Sessions
from holdfast.broker.groups.surroundings import GroupState, LeaveReply, Surroundings
from holdfast.wire.protocol.errors import ErrorCode

LARGEST_GROUP = 1_000
"""Members together with those who were given an id to join with. A member costs memory and a
share of every group record; a client in a loop must not take all of it."""


class Group:
    """The members of one group. Each instance id has one of them, and only that one is heard."""

    def __init__(self, group_id: str, surroundings: Surroundings) -> None:
        self.group_id = group_id
        self.roster = Roster()
        self._surroundings = surroundings
        self._sessions = Sessions(surroundings, self._session_is_over)
        self._rebalance = Rebalance(group_id, self.roster, self._sessions, surroundings)

    @classmethod
    def restored(cls, group_id: str, record: GroupRecord, surroundings: Surroundings) -> "Group":
        """The group as last recorded. Sessions begin anew: the broker's absence is not theirs."""
        group = cls(group_id, surroundings)
        group.roster.restore(record)
        group._rebalance.restore(record)
        for member in group.roster:
            group._sessions.extend(member)
        return group

    @property
    def state(self) -> GroupState:
        return self._rebalance.state

    @property
    def generation(self) -> int:
        return self._rebalance.generation

    @property
    def emptied_ms(self) -> int:
        """Since when it is without members; 0 if it never had any, or has some."""
        had_members = self.roster.protocol_type is not None
        is_empty_again = self.state is GroupState.EMPTY and had_members
        return self._rebalance.since_ms if is_empty_again else 0

    def stop(self) -> None:
        """Nobody waits for the group any more, and no timer runs; it stays as it is."""
        self._rebalance.stop()
        for expiry in self.roster.pending.values():
            expiry.cancel()
        for member in self.roster:
            member.end_session()
            member.answer_join(Joined(error=ErrorCode.COORDINATOR_NOT_AVAILABLE))
            member.answer_sync(Synced(error=ErrorCode.COORDINATOR_NOT_AVAILABLE))

    # checks

    def check_member(self, claim: MemberClaim) -> ErrorCode:
        """Whether this is a member of this generation."""
        error = self.roster.check(claim)
        if error is ErrorCode.NONE and claim.generation != self.generation:
            return ErrorCode.ILLEGAL_GENERATION
        return error

    def check_commit(self, claim: MemberClaim, *, transactional: bool) -> ErrorCode:
        """Whether offsets may be committed under this claim.

        Without a claim they may as long as the group has no members; in a transaction always, for
        old clients have no way to say who they are there.
        """
        if self.state is GroupState.EMPTY and claim.generation < 0:
            return ErrorCode.NONE
        if not claim.is_blank:
            error = self.check_member(claim)
            if error is not ErrorCode.NONE:
                return error
        elif not transactional:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if self.state is GroupState.COMPLETING and not transactional:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    # what members do

    def join(self, join: Join, reply: JoinReply) -> None:
        is_unknown = join.member_id == NO_MEMBER_ID
        replaced = self.roster.of_instance(join.instance_id) if is_unknown else None
        if replaced is None and not self._has_room_for(join.member_id):
            reply(Joined(error=ErrorCode.GROUP_MAX_SIZE_REACHED))
        elif not self.roster.accepts(join.protocol_type, join.offers):
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            reply(Joined(error=error, member_id=join.member_id))
        elif replaced is not None:
            self._replace(replaced, join, reply)
        elif is_unknown:
            self._join_for_the_first_time(join, reply)
        elif join.member_id in self.roster.pending and join.instance_id is None:
            self.roster.pending.pop(join.member_id).cancel()
            self._add(join.member_id, join, reply)
        else:
            self._join_again(join, reply)

    def sync(self, sync: Sync, reply: SyncReply) -> None:
        error = self._check_sync(sync)
        member = self.roster.get(sync.claim.member_id)
        if error is not ErrorCode.NONE or member is None:
            reply(Synced(error=error))
            return
        # A request that this one repeats is answered too; its connection may still be there.
        member.answer_sync(Synced(error=ErrorCode.REBALANCE_IN_PROGRESS))
        member.waiting_to_sync = reply
        self._rebalance.sync(member, sync.assignments)

    def heartbeat(self, claim: MemberClaim) -> ErrorCode:
        error = self.check_member(claim)
        if error is not ErrorCode.NONE:
            return error
        self.keep_alive(claim.member_id)
        if self.state is GroupState.PREPARING:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def keep_alive(self, member_id: str) -> None:
        """The member, if it is one, showed that it lives."""
        member = self.roster.get(member_id)
        if member is not None:
            self._sessions.extend(member)

    def leave(self, leavers: Sequence[Leaver], reply: LeaveReply) -> None:
        """Remove members. The answer waits for the log when that leaves the group empty."""
        size = len(self.roster)
        errors = [self._leave(leaver) for leaver in leavers]
        if len(self.roster) < size:
            self._rebalance.member_gone()
        else:
            self._rebalance.complete_join_if_all_are_here()
        self._rebalance.when_settled(lambda error: reply(error, errors))

    # joining

    def _has_room_for(self, member_id: str) -> bool:
        if member_id in self.roster.pending or self.roster.get(member_id) is not None:
            return True
        return len(self.roster) + len(self.roster.pending) < LARGEST_GROUP

    def _join_for_the_first_time(self, join: Join, reply: JoinReply) -> None:
        member_id = _new_member_id(join)
        if join.instance_id is not None or not join.must_know_its_id:
            self._add(member_id, join, reply)
            return
        self.roster.pending[member_id] = self._surroundings.call_later(
            join.session_timeout_ms / 1000, partial(self._pending_is_over, member_id)
        )
        reply(Joined(error=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id))

    def _add(self, member_id: str, join: Join, reply: JoinReply) -> None:
        member = Member(
            member_id=member_id,
            instance_id=join.instance_id,
            client_id=join.client_id,
            client_host=join.client_host,
            session_timeout_ms=join.session_timeout_ms,
            rebalance_timeout_ms=join.rebalance_timeout_ms,
            offers=join.offers,
            is_new=True,
            waiting_to_join=reply,
        )
        self.roster.add(member, join.protocol_type)
        self._sessions.extend(member)
        self._rebalance.member_added()

    def _join_again(self, join: Join, reply: JoinReply) -> None:
        error = self.roster.check(MemberClaim(join.member_id, instance_id=join.instance_id))
        member = self.roster.get(join.member_id)
        if error is not ErrorCode.NONE or member is None:
            reply(Joined(error=error, member_id=join.member_id))
            return
        # A leader that joins a stable group wants a new assignment: topics may have changed.
        is_unchanged = member.offers == join.offers and (
            self.state is GroupState.COMPLETING
            or (self.state is GroupState.STABLE and member.member_id != self.roster.leader)
        )
        if is_unchanged:  # its answer was lost
            reply(self._rebalance.joined(member))
            return
        member.wait_to_join(join, reply)
        self._rebalance.begin()

    # taking over

    def _replace(self, member: Member, join: Join, reply: JoinReply) -> None:
        """Another process takes over an instance id: the one before it is fenced from now on."""
        old_id, old_leader = member.member_id, self.roster.leader
        topics = topics_of(self.roster.protocol_type, member, self.roster.protocol)
        fenced = ErrorCode.FENCED_INSTANCE_ID
        member.answer_join(Joined(error=fenced, member_id=old_id))
        member.answer_sync(Synced(error=fenced))
        self.roster.rename(member, _new_member_id(join))
        member.client_id, member.client_host = join.client_id, join.client_host
        member.wait_to_join(join, reply)
        self._sessions.extend(member)
        if (
            self.state is GroupState.STABLE
            and self.roster.choose_protocol() == self.roster.protocol
            and topics_of(self.roster.protocol_type, member, self.roster.protocol) == topics
        ):
            assignments = {m.member_id: m.assignment for m in self.roster}
            told_leader = self.roster.leader if join.can_skip_assignment else old_leader
            replaced = partial(self._replaced, member, reply, told_leader or NO_MEMBER_ID)
            self._rebalance.store(assignments, replaced)
        else:
            # The old id may be in the leader's hands: an assignment to it would reach nobody.
            self._rebalance.begin()

    def _replaced(self, member: Member, reply: JoinReply, leader: str, error: ErrorCode) -> None:
        """The replacement is durable, or failed. `leader` is whom the new process is told to be
        led by: an old client that saw itself there would assign, which a stable group has no use
        for, so it is told the leader's former id."""
        if member.waiting_to_join is not reply or self.state is not GroupState.STABLE:
            return  # replaced again, gone, or part of a rebalance that will answer it
        self._sessions.extend(member)
        if error is not ErrorCode.NONE:
            member.answer_join(Joined(error=error))
            return
        leads = member.member_id == leader
        member.answer_join(
            Joined(
                member_id=member.member_id,
                generation=self.generation,
                protocol_type=self.roster.protocol_type,
                protocol=self.roster.protocol,
                leader=leader,
                skip_assignment=leads,
                members=self.roster.joined_members() if leads else (),
            )
        )

    # syncing and leaving

    def _check_sync(self, sync: Sync) -> ErrorCode:
        error = self.check_member(sync.claim)
        if error is not ErrorCode.NONE:
            return error
        if sync.protocol_type not in (None, self.roster.protocol_type) or sync.protocol not in (
            None,
            self.roster.protocol,
        ):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if self.state is GroupState.PREPARING:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def _leave(self, leaver: Leaver) -> ErrorCode:
        member_id, instance_id = leaver
        if member_id in self.roster.pending:
            self.roster.pending.pop(member_id).cancel()
            return ErrorCode.NONE
        if member_id == NO_MEMBER_ID:
            member = self.roster.of_instance(instance_id)
            error = ErrorCode.UNKNOWN_MEMBER_ID
        else:
            error = self.roster.check(MemberClaim(member_id, instance_id=instance_id))
            member = self.roster.get(member_id) if error is ErrorCode.NONE else None
        if member is None:
            return error
        self.roster.expel(member)
        return ErrorCode.NONE

    def _session_is_over(self, member: Member) -> None:
        self.roster.expel(member)
        self._rebalance.member_gone()

    def _pending_is_over(self, member_id: str) -> None:
        del self.roster.pending[member_id]
        self._rebalance.complete_join_if_all_are_here()


def _new_member_id(join: Join) -> str:
    return f"{join.instance_id or join.client_id}-{uuid4()}"
