"""One group's life: joining, agreeing, reading, and losing members again. No I/O.

    EMPTY -> PREPARING (members join) -> COMPLETING (the leader assigns) -> STABLE
      ^          ^----- someone comes, goes or changes -----|-----------------|
      '--- the last one is gone

Time comes from outside (`Surroundings`), and so does the log: an assignment is handed out only
once the log has it. Replies are called in the middle of a step, so they must not call back.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from uuid import uuid4

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
from holdfast.broker.groups.roster import Cancellable, Member, Roster, topics_of
from holdfast.broker.groups.surroundings import GroupState, LeaveReply, Stored, Surroundings
from holdfast.broker.protocol.errors import ErrorCode

LARGEST_GROUP = 1_000
"""Members together with those who were given an id to join with. A member costs memory and a
share of every group record; a client in a loop must not take all of it."""
NEW_MEMBER_JOIN_MS = 300_000
"""How long a new member may wait in its first join, during which it cannot send heartbeats."""


class Group:
    """The members of one group, and the step that they are at."""

    def __init__(self, group_id: str, surroundings: Surroundings) -> None:
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.since_ms = surroundings.clock()
        self.generation = 0
        self.roster = Roster()
        self._surroundings = surroundings
        self._pending: dict[str, Cancellable] = {}
        """Ids that were given to clients to join with."""
        self._not_synced: set[str] = set()
        self._phase_end: Cancellable | None = None
        self._in_initial_delay = False
        self._joined_in_delay = False
        self._assigning = False
        """The leader's assignment of this generation is on its way to the log."""
        self._emptying: list[Stored] | None = None
        """Whom to tell that the emptiness is durable; None if no such record is on its way."""

    @classmethod
    def restored(cls, group_id: str, record: GroupRecord, surroundings: Surroundings) -> "Group":
        """The group as last recorded. Sessions begin anew: the broker's absence is not theirs."""
        group = cls(group_id, surroundings)
        group.generation = record.generation
        group.roster.restore(record)
        group.state = GroupState.STABLE if record.members else GroupState.EMPTY
        group.since_ms = record.since_ms
        return group

    def begin_sessions(self) -> None:
        for member in self.roster:
            self._extend_session(member)

    @property
    def has_pending_members(self) -> bool:
        return bool(self._pending)

    @property
    def is_empty_again(self) -> bool:
        """It had members; without them it is not merely a name under which offsets are kept."""
        return self.state is GroupState.EMPTY and self.roster.protocol_type is not None

    def retire(self) -> None:
        """The group is no longer served here: nobody waits for it any more, and no timer runs."""
        self._become(GroupState.DEAD)
        self._end_phase()
        for expiry in self._pending.values():
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
        member = self.roster.of_instance(join.instance_id)
        is_replacement = join.member_id == NO_MEMBER_ID and member is not None
        if not (is_replacement or self._has_room_for(join.member_id)):
            reply(Joined(error=ErrorCode.GROUP_MAX_SIZE_REACHED))
        elif not self.roster.accepts(join.protocol_type, join.offers):
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            reply(Joined(error=error, member_id=join.member_id))
        elif is_replacement and member is not None:
            self._replace(member, join, reply)
        elif join.member_id == NO_MEMBER_ID:
            self._join_for_the_first_time(join, reply)
        elif join.member_id in self._pending and join.instance_id is None:
            self._pending.pop(join.member_id).cancel()
            self._add(join.member_id, join, reply)
        else:
            self._join_again(join, reply)

    def sync(self, sync: Sync, reply: SyncReply) -> None:
        error = self._check_sync(sync)
        member = self.roster.get(sync.claim.member_id)
        if error is not ErrorCode.NONE or member is None:
            reply(Synced(error=error))
            return
        self._not_synced.discard(member.member_id)
        if not self._not_synced:
            self._end_phase()
        if self.state is GroupState.STABLE:
            self._extend_session(member)
            reply(self._synced(member))
            return
        member.answer_sync(Synced(error=ErrorCode.REBALANCE_IN_PROGRESS))
        member.waiting_to_sync = reply
        if member.member_id == self.roster.leader and not self._assigning:
            self._assign(sync.assignments)

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
        if member is not None and not member.is_new:
            self._extend_session(member)

    def leave(self, leavers: Sequence[Leaver], reply: LeaveReply) -> None:
        """Remove members. The answer waits for the log when that leaves the group empty."""
        size = len(self.roster)
        errors = [self._leave(leaver) for leaver in leavers]
        if len(self.roster) < size or self.state is GroupState.PREPARING:
            self._someone_is_gone()
        if self._emptying is None:
            reply(ErrorCode.NONE, errors)
            return
        self._emptying.append(lambda error: reply(error, errors))

    # joining

    def _has_room_for(self, member_id: str) -> bool:
        if member_id in self._pending or self.roster.get(member_id) is not None:
            return True
        return len(self.roster) + len(self._pending) < LARGEST_GROUP

    def _join_for_the_first_time(self, join: Join, reply: JoinReply) -> None:
        member_id = _new_member_id(join)
        if join.instance_id is not None or not join.must_know_its_id:
            self._add(member_id, join, reply)
            return
        self._pending[member_id] = self._later(
            join.session_timeout_ms, partial(self._pending_is_over, member_id)
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
        self._joined_in_delay = True
        self._extend_session(member, NEW_MEMBER_JOIN_MS)
        self._rebalance()

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
            reply(self._joined(member))
            return
        self._wait_to_join(member, join, reply)
        self._rebalance()

    def _replace(self, member: Member, join: Join, reply: JoinReply) -> None:
        """Another process takes over an instance id: the one before it is fenced from now on."""
        old_id, old_leader = member.member_id, self.roster.leader
        topics = topics_of(self.roster.protocol_type, member, self.roster.protocol)
        fenced = ErrorCode.FENCED_INSTANCE_ID
        member.answer_join(Joined(error=fenced, member_id=old_id))
        member.answer_sync(Synced(error=fenced))
        self.roster.rename(member, _new_member_id(join))
        member.client_id, member.client_host = join.client_id, join.client_host
        if old_id in self._not_synced:
            self._not_synced.remove(old_id)
            self._not_synced.add(member.member_id)
        self._wait_to_join(member, join, reply)
        self._extend_session(member, NEW_MEMBER_JOIN_MS if member.is_new else None)
        if (
            self.state is GroupState.STABLE
            and self.roster.choose_protocol() == self.roster.protocol
            and topics_of(self.roster.protocol_type, member, self.roster.protocol) == topics
        ):
            assignments = {m.member_id: m.assignment for m in self.roster}
            self._store(assignments, partial(self._replaced, member, reply, join, old_leader))
            return
        # The old id may be in the leader's hands: an assignment to it would reach nobody.
        self._rebalance()

    def _replaced(
        self, member: Member, reply: JoinReply, join: Join, old_leader: str | None, error: ErrorCode
    ) -> None:
        if member.waiting_to_join is not reply or self.state is not GroupState.STABLE:
            return  # replaced again, gone, or part of a rebalance that will answer it
        self._extend_session(member)
        if error is not ErrorCode.NONE:
            member.answer_join(Joined(error=error))
            return
        is_leader = member.member_id == self.roster.leader
        member.answer_join(
            Joined(
                member_id=member.member_id,
                generation=self.generation,
                protocol_type=self.roster.protocol_type,
                protocol=self.roster.protocol,
                # An old client that saw itself as leader would assign, which a stable group
                # has no use for: it is told the leader's former id.
                leader=(self.roster.leader if join.can_skip_assignment else old_leader) or "",
                skip_assignment=is_leader and join.can_skip_assignment,
                members=self.roster.joined_members()
                if is_leader and join.can_skip_assignment
                else (),
            ),
        )

    def _wait_to_join(self, member: Member, join: Join, reply: JoinReply) -> None:
        # A request that this one repeats is answered too; its connection may still be there.
        in_progress = ErrorCode.REBALANCE_IN_PROGRESS
        member.answer_join(Joined(error=in_progress, member_id=member.member_id))
        member.update(join)
        member.waiting_to_join = reply

    # rebalancing

    def _rebalance(self) -> None:
        """Begin a rebalance, or go on with the one that has begun."""
        if self.state is GroupState.PREPARING:
            self._complete_join_if_all_are_here()
            return
        if self.state is GroupState.COMPLETING:
            self._cancel_assignment(ErrorCode.REBALANCE_IN_PROGRESS)
        self._not_synced.clear()
        self._end_phase()
        was_empty = self.state is GroupState.EMPTY
        self._become(GroupState.PREPARING)
        delay_ms = self._surroundings.initial_rebalance_delay_ms
        if was_empty and delay_ms > 0:
            self._in_initial_delay, self._joined_in_delay = True, False
            remaining_ms = max(self.roster.rebalance_timeout_ms() - delay_ms, 0)
            self._delay_join(delay_ms, remaining_ms)
        elif was_empty:
            self._complete_join()
        else:
            self._begin_phase(self.roster.rebalance_timeout_ms(), self._complete_join)
            self._complete_join_if_all_are_here()

    def _delay_join(self, delay_ms: int, remaining_ms: int) -> None:
        self._begin_phase(delay_ms, partial(self._delay_is_over, delay_ms, remaining_ms))

    def _delay_is_over(self, delay_ms: int, remaining_ms: int) -> None:
        if self._joined_in_delay and remaining_ms > 0:
            self._joined_in_delay = False
            full_delay_ms = self._surroundings.initial_rebalance_delay_ms
            self._delay_join(min(full_delay_ms, remaining_ms), max(remaining_ms - delay_ms, 0))
        else:
            self._complete_join()

    def _complete_join_if_all_are_here(self) -> None:
        if self._in_initial_delay or self._pending:
            return
        if all(member.waiting_to_join is not None for member in self.roster):
            self._complete_join()

    def _complete_join(self) -> None:
        """End the wait: whoever has not joined is out, but for static members."""
        self._end_phase()
        self._in_initial_delay = False
        for member in self.roster:
            if member.waiting_to_join is None and member.instance_id is None:
                self._drop(member)
        if len(self.roster) and not self.roster.elect_a_joined_leader():
            # Only static members that are away: they come back, or their sessions end.
            self._begin_phase(self.roster.rebalance_timeout_ms(), self._complete_join)
            return
        self.generation += 1
        self._assigning = False
        self.roster.protocol = self.roster.choose_protocol()
        if len(self.roster):
            self._begin_completing()
        else:
            self._become_empty()

    def _begin_completing(self) -> None:
        self._become(GroupState.COMPLETING)
        self._not_synced = {member.member_id for member in self.roster}
        self._begin_phase(self.roster.rebalance_timeout_ms(), self._sync_is_over)
        for member in self.roster:
            member.is_new = False
            self._extend_session(member)
            member.answer_join(self._joined(member))

    def _become_empty(self) -> None:
        self._become(GroupState.EMPTY)
        waiting: list[Stored] = []
        self._emptying = waiting
        self._store({}, partial(self._emptied, waiting))

    def _emptied(self, waiting: list[Stored], error: ErrorCode) -> None:
        if self._emptying is waiting:
            self._emptying = None
        for tell in waiting:
            tell(error)

    def _sync_is_over(self) -> None:
        """Members that did not ask for their assignment in time are out."""
        self._phase_end = None
        for member in self.roster:
            if member.member_id in self._not_synced:
                self._drop(member)
        self._rebalance()

    # assigning

    def _check_sync(self, sync: Sync) -> ErrorCode:
        error = self.check_member(sync.claim)
        if error is not ErrorCode.NONE:
            return error
        if (sync.protocol_type or self.roster.protocol_type) != self.roster.protocol_type or (
            sync.protocol or self.roster.protocol
        ) != self.roster.protocol:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if self.state is GroupState.PREPARING:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def _assign(self, given: Mapping[str, bytes]) -> None:
        assignments = {m.member_id: given.get(m.member_id, b"") for m in self.roster}
        self._assigning = True
        self._store(assignments, partial(self._assigned, self.generation, assignments))

    def _assigned(
        self, generation: int, assignments: Mapping[str, bytes], error: ErrorCode
    ) -> None:
        if self.state is not GroupState.COMPLETING or self.generation != generation:
            return  # someone came or went meanwhile, and a rebalance began
        if error is not ErrorCode.NONE:
            self._cancel_assignment(error)
            self._rebalance()
            return
        self._become(GroupState.STABLE)
        for member in self.roster:
            member.assignment = assignments[member.member_id]
            if member.waiting_to_sync is not None:
                self._extend_session(member)
                member.answer_sync(self._synced(member))

    def _cancel_assignment(self, error: ErrorCode) -> None:
        self._assigning = False
        for member in self.roster:
            member.assignment = b""
            if member.waiting_to_sync is not None:
                self._extend_session(member)
                member.answer_sync(Synced(error=error))

    # leaving

    def _leave(self, leaver: Leaver) -> ErrorCode:
        member_id, instance_id = leaver
        if member_id in self._pending:
            self._pending.pop(member_id).cancel()
            return ErrorCode.NONE
        if member_id == NO_MEMBER_ID:
            member = self.roster.of_instance(instance_id)
            error = ErrorCode.UNKNOWN_MEMBER_ID
        else:
            error = self.roster.check(MemberClaim(member_id, instance_id=instance_id))
            member = self.roster.get(member_id) if error is ErrorCode.NONE else None
        if member is None:
            return error
        self._drop(member)
        return ErrorCode.NONE

    def _someone_is_gone(self) -> None:
        if self.state is not GroupState.EMPTY:
            self._rebalance()

    def _drop(self, member: Member) -> None:
        member.end_session()
        self._not_synced.discard(member.member_id)
        member.answer_join(Joined(error=ErrorCode.UNKNOWN_MEMBER_ID))
        member.answer_sync(Synced(error=ErrorCode.UNKNOWN_MEMBER_ID))
        self.roster.remove(member)

    # sessions and phases

    def _extend_session(self, member: Member, timeout_ms: int | None = None) -> None:
        member.end_session()
        member.session = self._later(
            member.session_timeout_ms if timeout_ms is None else timeout_ms,
            partial(self._session_is_over, member),
        )

    def _session_is_over(self, member: Member) -> None:
        member.session = None
        if member.is_waiting and not member.is_new:
            return  # it waits for us, not we for it; its session begins anew with the answer
        self._drop(member)
        self._someone_is_gone()

    def _pending_is_over(self, member_id: str) -> None:
        del self._pending[member_id]
        if self.state is GroupState.PREPARING:
            self._complete_join_if_all_are_here()

    def _later(self, delay_ms: int, then: Callable[[], None]) -> Cancellable:
        return self._surroundings.call_later(delay_ms / 1000, then)

    def _begin_phase(self, timeout_ms: int, then: Callable[[], None]) -> None:
        self._end_phase()
        self._phase_end = self._later(timeout_ms, then)

    def _end_phase(self) -> None:
        if self._phase_end is not None:
            self._phase_end.cancel()
            self._phase_end = None

    # answers

    def _become(self, state: GroupState) -> None:
        self.state = state
        self.since_ms = self._surroundings.clock()

    def _store(self, assignments: Mapping[str, bytes], stored: Stored) -> None:
        record = self.roster.record(self.generation, self._surroundings.clock(), assignments)
        self._surroundings.store(self.group_id, record, stored)

    def _joined(self, member: Member) -> Joined:
        is_leader = member.member_id == self.roster.leader
        shows_members = is_leader and self.state is GroupState.COMPLETING
        return Joined(
            member_id=member.member_id,
            generation=self.generation,
            protocol_type=self.roster.protocol_type,
            protocol=self.roster.protocol,
            leader=self.roster.leader or "",
            members=self.roster.joined_members() if shows_members else (),
        )

    def _synced(self, member: Member) -> Synced:
        return Synced(
            protocol_type=self.roster.protocol_type,
            protocol=self.roster.protocol,
            assignment=member.assignment,
        )


def _new_member_id(join: Join) -> str:
    return f"{join.instance_id or join.client_id}-{uuid4()}"
