"""A group's state: from a change of its members to the next assignment. No I/O.

    EMPTY -> PREPARING (members join) -> COMPLETING (the leader assigns) -> STABLE
      ^          ^---- a member joins, leaves or changes ---|-----------------|
      '--- the last member is gone

Members get an assignment only when it is durable.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from holdfast.broker.groups.budget import Budget
from holdfast.broker.groups.records import GroupRecord
from holdfast.broker.groups.requests import Joined, Synced
from holdfast.broker.groups.roster import Member, Roster
from holdfast.broker.patience import CallLater, Cancellable
from holdfast.wire.protocol.errors import ErrorCode

NEW_MEMBER_JOIN_MS = 300_000
"""How long a new member may wait in its first join. It cannot send heartbeats meanwhile."""
LOOK_AGAIN_MS = 1_000
"""Minimum time between two checks of a group whose members are all away. Clients choose the
rebalance timeout, and it may be 0."""

Stored = Callable[[ErrorCode], None]
"""Called once: with NONE when the record is durable, or with the error if it never will be."""


class GroupState(Enum):
    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    ASSIGNING = "Assigning"
    """A consumer group has no target for its members yet."""
    RECONCILING = "Reconciling"
    """Members of a consumer group move towards their target."""
    STABLE = "Stable"
    DEAD = "Dead"
    """Reported for a group that does not exist."""


@dataclass(frozen=True, slots=True)
class GroupRuntime:
    """Clock, timers, log and limits that all groups share."""

    clock: Callable[[], int]
    call_later: CallLater
    store: Callable[[str, GroupRecord, Stored], None]
    initial_rebalance_delay_ms: int = 0
    budget: Budget = field(default_factory=Budget)


class Sessions:
    """One timer per member. Calls `on_expiry` with a member whose session has expired."""

    def __init__(self, runtime: GroupRuntime, on_expiry: Callable[[Member], None]) -> None:
        self._call_later = runtime.call_later
        self._on_expiry = on_expiry

    def extend(self, member: Member) -> None:
        """Starts the member's session again, because the member is alive."""
        member.end_session()
        timeout_ms = NEW_MEMBER_JOIN_MS if member.is_new else member.session_timeout_ms
        member.session = self._call_later(timeout_ms / 1000, partial(self._expire, member))

    def _expire(self, member: Member) -> None:
        member.session = None
        if member.is_waiting and not member.is_new:
            return  # the member waits for the group; the reply starts its session again
        self._on_expiry(member)


class Rebalance:
    """The state of one group, and its generation."""

    def __init__(
        self, group_id: str, roster: Roster, sessions: Sessions, runtime: GroupRuntime
    ) -> None:
        self.state = GroupState.EMPTY
        self.since_ms = runtime.clock()
        self.generation = 0
        self._group_id = group_id
        self._roster = roster
        self._sessions = sessions
        self._runtime = runtime
        self._phase_end: Cancellable | None = None
        self._in_initial_delay = False
        self._joined_in_delay = False
        self._assigning = False
        """The leader's assignment of this generation is being written to the log."""
        self._emptying: list[Stored] | None = None
        """Callbacks that wait for the record of the empty group; None if none is being written."""

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
        """Starts a rebalance, or continues the one in progress."""
        if self.state is GroupState.PREPARING:
            self.complete_join_if_all_joined()
            return
        if self.state is GroupState.COMPLETING:
            self._cancel_assignment(ErrorCode.REBALANCE_IN_PROGRESS)
        self._end_phase()
        was_empty = self.state is GroupState.EMPTY
        self._become(GroupState.PREPARING)
        delay_ms = self._runtime.initial_rebalance_delay_ms
        if was_empty and delay_ms > 0:
            self._in_initial_delay, self._joined_in_delay = True, False
            remaining_ms = max(self._roster.rebalance_timeout_ms() - delay_ms, 0)
            self._delay_join(delay_ms, remaining_ms)
        elif was_empty:
            self._complete_join()
        else:
            self._begin_phase(self._roster.rebalance_timeout_ms(), self._complete_join)
            self.complete_join_if_all_joined()

    def complete_join_if_all_joined(self) -> None:
        if self.state is not GroupState.PREPARING or self._in_initial_delay or self._roster.pending:
            return
        if all(member.waiting_to_join is not None for member in self._roster):
            self._complete_join()

    def _delay_join(self, delay_ms: int, remaining_ms: int) -> None:
        self._begin_phase(delay_ms, partial(self._delay_timeout, delay_ms, remaining_ms))

    def _delay_timeout(self, delay_ms: int, remaining_ms: int) -> None:
        if self._joined_in_delay and remaining_ms > 0:
            self._joined_in_delay = False
            full_delay_ms = self._runtime.initial_rebalance_delay_ms
            self._delay_join(min(full_delay_ms, remaining_ms), max(remaining_ms - delay_ms, 0))
        else:
            self._complete_join()

    def _complete_join(self) -> None:
        """Ends the wait: removes dynamic members that have not joined."""
        self._end_phase()
        self._in_initial_delay = False
        for member in self._roster:
            if member.waiting_to_join is None and member.instance_id is None:
                self._roster.expel(member)
        if len(self._roster) and not self._roster.elect_joined_leader():
            # All members are static and away: they return, or their sessions expire.
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
        self._begin_phase(self._roster.rebalance_timeout_ms(), self._sync_timeout)
        for member in self._roster:
            member.is_new, member.owes_sync = False, True
            self._sessions.extend(member)
            member.answer_join(self.joined(member))

    def joined(self, member: Member) -> Joined:
        """The reply to a member that joined this generation, or repeats its request."""
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

    # the empty group

    def when_settled(self, callback: Stored) -> None:
        """Calls back when the record of the empty group is durable, or at once if none is due."""
        if self._emptying is None:
            callback(ErrorCode.NONE)
        else:
            self._emptying.append(callback)

    def _become_empty(self) -> None:
        self._become(GroupState.EMPTY)
        callbacks: list[Stored] = []
        self._emptying = callbacks
        self.store({}, partial(self._emptied, callbacks))

    def _emptied(self, callbacks: list[Stored], error: ErrorCode) -> None:
        if self._emptying is callbacks:
            self._emptying = None
        for callback in callbacks:
            callback(error)

    # assigning

    def sync(self, member: Member, assignments: Mapping[str, bytes]) -> None:
        """Handles a member's request for its assignment. The leader's request has all of them."""
        member.owes_sync = False
        if not any(other.owes_sync for other in self._roster):
            self._end_phase()
        if self.state is GroupState.STABLE:
            self._sessions.extend(member)
            member.answer_sync(self._synced(member))
        elif member.member_id == self._roster.leader and not self._assigning:
            complete = {m.member_id: assignments.get(m.member_id, b"") for m in self._roster}
            self._assigning = True
            self.store(complete, partial(self._assigned, self.generation, complete))

    def store(self, assignments: Mapping[str, bytes], stored: Stored) -> None:
        """Writes a record of the members and their assignments."""
        record = self._roster.record(self.generation, self._runtime.clock(), assignments)
        self._runtime.store(self._group_id, record, stored)

    def _assigned(
        self, generation: int, assignments: Mapping[str, bytes], error: ErrorCode
    ) -> None:
        if self.state is not GroupState.COMPLETING or self.generation != generation:
            return  # the members changed meanwhile, and a rebalance started
        if error is not ErrorCode.NONE:
            self._cancel_assignment(error)
            self.begin()
            return
        self._become(GroupState.STABLE)
        for member in self._roster:
            member.assignment = assignments[member.member_id]
            self._roster.weigh(member)
            if member.waiting_to_sync is not None:
                self._sessions.extend(member)
                member.answer_sync(self._synced(member))

    def _cancel_assignment(self, error: ErrorCode) -> None:
        self._assigning = False
        for member in self._roster:
            member.assignment = b""
            self._roster.weigh(member)
            if member.waiting_to_sync is not None:
                self._sessions.extend(member)
                member.answer_sync(Synced(error=error))

    def _sync_timeout(self) -> None:
        """Removes members that did not request their assignment in time."""
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
        self.since_ms = self._runtime.clock()

    def _begin_phase(self, timeout_ms: int, then: Callable[[], None]) -> None:
        self._end_phase()
        self._phase_end = self._runtime.call_later(timeout_ms / 1000, then)

    def _end_phase(self) -> None:
        if self._phase_end is not None:
            self._phase_end.cancel()
            self._phase_end = None
