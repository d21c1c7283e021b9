"""One group: its members join, sync, send heartbeats and leave. No I/O.

Time and the log come from outside (`GroupRuntime`). Replies are called in the middle of a step, so
they must not call the group.
"""

from collections.abc import Sequence
from functools import partial
from uuid import uuid4

from holdfast.broker.groups.budget import GROUP_BYTES, weight_of
from holdfast.broker.groups.rebalance import GroupRuntime, GroupState, Rebalance, Sessions
from holdfast.broker.groups.records import GroupRecord
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
from holdfast.broker.groups.roster import Member, Roster, topics_of
from holdfast.wire.protocol.errors import ErrorCode


class Group:
    """The members of one group. Each instance id belongs to one member; others are fenced."""

    type = "classic"

    def __init__(self, group_id: str, runtime: GroupRuntime) -> None:
        self.group_id = group_id
        self.roster = Roster(runtime.budget)
        self._runtime = runtime
        self._sessions = Sessions(runtime, self._session_expired)
        self._rebalance = Rebalance(group_id, self.roster, self._sessions, runtime)

    @classmethod
    def restored(cls, group_id: str, record: GroupRecord, runtime: GroupRuntime) -> "Group":
        """The group as last recorded. All sessions start again, as the broker was away itself."""
        group = cls(group_id, runtime)
        group.roster.restore(record)
        group._rebalance.restore(record)
        for member in group.roster:
            group._sessions.extend(member)
        return group

    @property
    def state(self) -> GroupState:
        return self._rebalance.state

    @property
    def protocol_type(self) -> str | None:
        """None until it has had a member."""
        return self.roster.protocol_type

    @property
    def is_unused(self) -> bool:
        """Returns True if it has no members, and no clients that got an id to join with."""
        return self.state is GroupState.EMPTY and not self.roster.pending

    def subscribed_topics(self) -> frozenset[str] | None:
        return self.roster.subscribed_topics()

    @property
    def generation(self) -> int:
        return self._rebalance.generation

    @property
    def emptied_ms(self) -> int:
        """When its last member left; 0 if it has members or never had any."""
        had_members = self.roster.protocol_type is not None
        is_empty_again = self.state is GroupState.EMPTY and had_members
        return self._rebalance.since_ms if is_empty_again else 0

    def stop(self) -> None:
        """Replies to all waiting members and stops all timers. The state stays as it is."""
        self._rebalance.stop()
        for member_id in list(self.roster.pending):
            self.roster.drop_pending(member_id)
        for member in self.roster:
            member.end_session()
            member.answer_join(Joined(error=ErrorCode.COORDINATOR_NOT_AVAILABLE))
            member.answer_sync(Synced(error=ErrorCode.COORDINATOR_NOT_AVAILABLE))

    def retire(self) -> None:
        """Stops for good, because another group takes the members over. They must join again."""
        for member in self.roster:
            member.answer_join(
                Joined(error=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.member_id)
            )
            member.answer_sync(Synced(error=ErrorCode.REBALANCE_IN_PROGRESS))
        self.stop()
        for member in self.roster:
            self.roster.expel(member)
        self._rebalance.state = GroupState.DEAD

    def rebalance(self) -> None:
        """Asks all members to join again."""
        self._rebalance.begin()

    # checks

    def check_member(self, claim: MemberClaim) -> ErrorCode:
        """Returns NONE if the claim names a member of this generation."""
        error = self.roster.check(claim)
        if error is ErrorCode.NONE and claim.generation != self.generation:
            return ErrorCode.ILLEGAL_GENERATION
        return error

    def check_commit(
        self, claim: MemberClaim, *, transactional: bool, version: int = 0
    ) -> ErrorCode:
        """Returns NONE if offsets may be committed under this claim.

        A blank claim may commit while the group has no members. In a transaction it always may,
        because old clients cannot name their member there.
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

    # requests of members

    def join(self, join: Join, reply: JoinReply) -> None:
        is_unknown = join.member_id == NO_MEMBER_ID
        replaced = self.roster.of_instance(join.instance_id) if is_unknown else None
        error = self._check_budget(join, replaced or self.roster.get(join.member_id))
        if error is not ErrorCode.NONE:
            reply(Joined(error=error))
        elif not self.roster.accepts(join.protocol_type, join.offers):
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            reply(Joined(error=error, member_id=join.member_id))
        elif replaced is not None:
            self._replace(replaced, join, reply)
        elif is_unknown:
            self._join_first_time(join, reply)
        elif join.member_id in self.roster.pending and join.instance_id is None:
            self.roster.drop_pending(join.member_id)
            self._add(join.member_id, join, reply)
        else:
            self._join_again(join, reply)

    def sync(self, sync: Sync, reply: SyncReply) -> None:
        error = self._check_sync(sync)
        member = self.roster.get(sync.claim.member_id)
        if error is not ErrorCode.NONE or member is None:
            reply(Synced(error=error))
            return
        if self.roster.bytes + sum(map(len, sync.assignments.values())) > GROUP_BYTES:
            reply(Synced(error=ErrorCode.INVALID_REQUEST))
            return
        # Reply to the earlier request too: its connection may still be open.
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
        """Starts the session of a member again, if there is a member with this id."""
        member = self.roster.get(member_id)
        if member is not None:
            self._sessions.extend(member)

    def leave(self, leavers: Sequence[Leaver], reply: LeaveReply) -> None:
        """Removes members. If the group is then empty, the reply waits until that is durable."""
        size = len(self.roster)
        errors = [self._leave(leaver) for leaver in leavers]
        if len(self.roster) < size:
            self._rebalance.member_gone()
        else:
            self._rebalance.complete_join_if_all_joined()
        self._rebalance.when_settled(lambda error: reply(error, errors))

    # joining

    def _check_budget(self, join: Join, known: Member | None) -> ErrorCode:
        """Returns NONE if there is room for the member."""
        budget = self._runtime.budget
        is_new = known is None and join.member_id not in self.roster.pending
        if is_new and not budget.has_room(len(self.roster) + len(self.roster.pending)):
            return ErrorCode.GROUP_MAX_SIZE_REACHED
        known_bytes = 0 if known is None else known.weight
        return budget.check_bytes(weight_of(join), self.roster.bytes, known_bytes)

    def _join_first_time(self, join: Join, reply: JoinReply) -> None:
        member_id = _new_member_id(join)
        if join.instance_id is not None or not join.must_know_its_id:
            self._add(member_id, join, reply)
            return
        expiry = self._runtime.call_later(
            join.session_timeout_ms / 1000, partial(self._pending_expired, member_id)
        )
        self.roster.add_pending(member_id, expiry)
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
        # A leader that joins a stable group requests a new assignment: topics may have changed.
        is_unchanged = member.offers == join.offers and (
            self.state is GroupState.COMPLETING
            or (self.state is GroupState.STABLE and member.member_id != self.roster.leader)
        )
        if is_unchanged:  # the client did not get the reply
            reply(self._rebalance.joined(member))
            return
        member.wait_to_join(join, reply)
        self.roster.weigh(member)
        self._rebalance.begin()

    # replacing

    def _replace(self, member: Member, join: Join, reply: JoinReply) -> None:
        """Gives an instance id to another process, and fences the process that had it."""
        old_id, old_leader = member.member_id, self.roster.leader
        topics = topics_of(self.roster.protocol_type, member, self.roster.protocol)
        fenced = ErrorCode.FENCED_INSTANCE_ID
        member.answer_join(Joined(error=fenced, member_id=old_id))
        member.answer_sync(Synced(error=fenced))
        self.roster.rename(member, _new_member_id(join))
        member.client_id, member.client_host = join.client_id, join.client_host
        member.wait_to_join(join, reply)
        self.roster.weigh(member)
        self._sessions.extend(member)
        if (
            self.state is GroupState.STABLE
            and self.roster.choose_protocol() == self.roster.protocol
            and topics_of(self.roster.protocol_type, member, self.roster.protocol) == topics
        ):
            assignments = {m.member_id: m.assignment for m in self.roster}
            leader = self.roster.leader if join.can_skip_assignment else old_leader
            replaced = partial(self._replaced, member, reply, leader or NO_MEMBER_ID)
            self._rebalance.store(assignments, replaced)
        else:
            # The leader may know the old id only: an assignment to it would be lost.
            self._rebalance.begin()

    def _replaced(self, member: Member, reply: JoinReply, leader: str, error: ErrorCode) -> None:
        """Replies when the replacement is durable, or has failed.

        `leader` is the leader's id in the reply. For an old client it is the former id: a client
        that sees itself as leader would send an assignment, which a stable group does not need.
        """
        if member.waiting_to_join is not reply or self.state is not GroupState.STABLE:
            return  # replaced again, gone, or a rebalance will reply
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
            self.roster.drop_pending(member_id)
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

    def _session_expired(self, member: Member) -> None:
        self.roster.expel(member)
        self._rebalance.member_gone()

    def _pending_expired(self, member_id: str) -> None:
        self.roster.drop_pending(member_id)
        self._rebalance.complete_join_if_all_joined()


def _new_member_id(join: Join) -> str:
    return f"{join.instance_id or join.client_id}-{uuid4()}"
