"""From a change in who is there to an assignment that everybody has. No I/O.

    EMPTY -> PREPARING (members join) -> COMPLETING (the leader assigns) -> STABLE
      ^          ^----- someone comes, goes or changes -----|-----------------|
      '--- the last one is gone

An assignment is handed out only once the log has it.
"""

from collections.abc import Callable, Mapping
from functools import partial

from holdfast.broker.groups.records import GroupRecord
from holdfast.broker.groups.requests import Joined, Synced
from holdfast.broker.groups.roster import Cancellable, Member, Roster
from holdfast.broker.groups.sessions import Sessions
from holdfast.broker.groups.surroundings import GroupState, Stored, Surroundings
from holdfast.wire.protocol.errors import ErrorCode

LOOK_AGAIN_MS = 1_000
"""Shortest time between two looks at a group whose members are all away: their rebalance timeout
is the clients' choice, and may be 0."""


class Rebalance:
    """The step that a group is at, and its generation."""

    def __init__(
        self, group_id: str, roster: Roster, sessions: Sessions, surroundings: Surroundings
    ) -> None:
        self.state = GroupState.EMPTY
        self.since_ms = surroundings.clock()
        self.generation = 0
        self._group_id = group_id
        self._roster = roster
        self._sessions = sessions
        self._surroundings = surroundings
        self._phase_end: Cancellable | None = None
        self._in_initial_delay = False
        self._joined_in_delay = False
        self._assigning = False
        """The leader's assignment of this generation is on its way to the log."""
        self._emptying: list[Stored] | None = None
        """Whom to tell that the emptiness is durable; None if no such record is on its way."""

    def restore(self, record: GroupRecord) -> None:
        self.state = GroupState.STABLE if record.members else GroupState.EMPTY
        self.since_ms = record.since_ms
        self.generation = record.generation

    def stop(self) -> None:
        self._end_phase()

    # joining

    def member_added(self) -> None:
        self._joined_in_delay = True
        self.begin()

    def member_gone(self) -> None:
        if self.state is not GroupState.EMPTY:
            self.begin()

    def begin(self) -> None:
        """Begin a rebalance, or go on with the one that has begun."""
        if self.state is GroupState.PREPARING:
            self.complete_join_if_all_are_here()
            return
        if self.state is GroupState.COMPLETING:
            self._cancel_assignment(ErrorCode.REBALANCE_IN_PROGRESS)
        self._end_phase()
        was_empty = self.state is GroupState.EMPTY
        self._become(GroupState.PREPARING)
        delay_ms = self._surroundings.initial_rebalance_delay_ms
        if was_empty and delay_ms > 0:
            self._in_initial_delay, self._joined_in_delay = True, False
            remaining_ms = max(self._roster.rebalance_timeout_ms() - delay_ms, 0)
            self._delay_join(delay_ms, remaining_ms)
        elif was_empty:
            self._complete_join()
        else:
            self._begin_phase(self._roster.rebalance_timeout_ms(), self._complete_join)
            self.complete_join_if_all_are_here()

    def complete_join_if_all_are_here(self) -> None:
        if self.state is not GroupState.PREPARING or self._in_initial_delay or self._roster.pending:
            return
        if all(member.waiting_to_join is not None for member in self._roster):
            self._complete_join()

    def _delay_join(self, delay_ms: int, remaining_ms: int) -> None:
        self._begin_phase(delay_ms, partial(self._delay_is_over, delay_ms, remaining_ms))

    def _delay_is_over(self, delay_ms: int, remaining_ms: int) -> None:
        if self._joined_in_delay and remaining_ms > 0:
            self._joined_in_delay = False
            full_delay_ms = self._surroundings.initial_rebalance_delay_ms
            self._delay_join(min(full_delay_ms, remaining_ms), max(remaining_ms - delay_ms, 0))
        else:
            self._complete_join()

    def _complete_join(self) -> None:
        """End the wait: whoever has not joined is out, but for static members."""
        self._end_phase()
        self._in_initial_delay = False
        for member in self._roster:
            if member.waiting_to_join is None and member.instance_id is None:
                self._roster.expel(member)
        if len(self._roster) and not self._roster.elect_a_joined_leader():
            # Only static members that are away: they come back, or their sessions end.
            look_again_ms = max(self._roster.rebalance_timeout_ms(), LOOK_AGAIN_MS)
            self._begin_phase(look_again_ms, self._complete_join)
            return
        self.generation += 1
        self._assigning = False
        self._roster.protocol = self._roster.choose_protocol()
        if len(self._roster):
            self._begin_completing()
        else:
            self._become_empty()

    def _begin_completing(self) -> None:
        self._become(GroupState.COMPLETING)
        self._begin_phase(self._roster.rebalance_timeout_ms(), self._sync_is_over)
        for member in self._roster:
            member.is_new, member.owes_sync = False, True
            self._sessions.extend(member)
            member.answer_join(self.joined(member))

    def joined(self, member: Member) -> Joined:
        """What a member is told that joined this generation, or asks again about it."""
        is_leader = member.member_id == self._roster.leader
        shows_members = is_leader and self.state is GroupState.COMPLETING
        return Joined(
            member_id=member.member_id,
            generation=self.generation,
            protocol_type=self._roster.protocol_type,
            protocol=self._roster.protocol,
            leader=self._roster.leader or "",
            members=self._roster.joined_members() if shows_members else (),
        )

    # emptiness

    def when_settled(self, tell: Stored) -> None:
        """Tell once the group's emptiness, if that was just reached, is durable."""
        if self._emptying is None:
            tell(ErrorCode.NONE)
        else:
            self._emptying.append(tell)

    def _become_empty(self) -> None:
        self._become(GroupState.EMPTY)
        waiting: list[Stored] = []
        self._emptying = waiting
        self.store({}, partial(self._emptied, waiting))

    def _emptied(self, waiting: list[Stored], error: ErrorCode) -> None:
        if self._emptying is waiting:
            self._emptying = None
        for tell in waiting:
            tell(error)

    # assigning

    def sync(self, member: Member, given: Mapping[str, bytes]) -> None:
        """A member waits for its assignment, of this generation; the leader gives all of them."""
        member.owes_sync = False
        if not any(other.owes_sync for other in self._roster):
            self._end_phase()
        if self.state is GroupState.STABLE:
            self._sessions.extend(member)
            member.answer_sync(self._synced(member))
        elif member.member_id == self._roster.leader and not self._assigning:
            assignments = {m.member_id: given.get(m.member_id, b"") for m in self._roster}
            self._assigning = True
            self.store(assignments, partial(self._assigned, self.generation, assignments))

    def store(self, assignments: Mapping[str, bytes], stored: Stored) -> None:
        """Write down who is here, and what they were given."""
        record = self._roster.record(self.generation, self._surroundings.clock(), assignments)
        self._surroundings.store(self._group_id, record, stored)

    def _assigned(
        self, generation: int, assignments: Mapping[str, bytes], error: ErrorCode
    ) -> None:
        if self.state is not GroupState.COMPLETING or self.generation != generation:
            return  # someone came or went meanwhile, and a rebalance began
        if error is not ErrorCode.NONE:
            self._cancel_assignment(error)
            self.begin()
            return
        self._become(GroupState.STABLE)
        for member in self._roster:
            member.assignment = assignments[member.member_id]
            if member.waiting_to_sync is not None:
                self._sessions.extend(member)
                member.answer_sync(self._synced(member))

    def _cancel_assignment(self, error: ErrorCode) -> None:
        self._assigning = False
        for member in self._roster:
            member.assignment = b""
            if member.waiting_to_sync is not None:
                self._sessions.extend(member)
                member.answer_sync(Synced(error=error))

    def _sync_is_over(self) -> None:
        """Members that did not ask for their assignment in time are out."""
        self._phase_end = None
        for member in self._roster:
            if member.owes_sync:
                self._roster.expel(member)
        self.begin()

    def _synced(self, member: Member) -> Synced:
        return Synced(
            protocol_type=self._roster.protocol_type,
            protocol=self._roster.protocol,
            assignment=member.assignment,
        )

    # phases

    def _become(self, state: GroupState) -> None:
        self.state = state
        self.since_ms = self._surroundings.clock()

    def _begin_phase(self, timeout_ms: int, then: Callable[[], None]) -> None:
        self._end_phase()
        self._phase_end = self._surroundings.call_later(timeout_ms / 1000, then)

    def _end_phase(self) -> None:
        if self._phase_end is not None:
            self._phase_end.cancel()
            self._phase_end = None
