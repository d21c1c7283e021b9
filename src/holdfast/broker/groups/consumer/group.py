"""One consumer group: heartbeats in, assignments out. No I/O.

A heartbeat may change the member, then the epoch of the group, then the target assignment, and at
last the member's own partitions (`reconciliation`). Time, the log and threads come from outside
(`ConsumerRuntime`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from holdfast.broker.groups.budget import Budget
from holdfast.broker.groups.consumer import records
from holdfast.broker.groups.consumer.assignment import NOTHING, Assignment, common, count, without
from holdfast.broker.groups.consumer.assignors import (
    ASSIGNORS,
    Subscriber,
    Targets,
    preferred_assignor,
)
from holdfast.broker.groups.consumer.member import (
    AWAY,
    LEFT,
    ConsumerMember,
    MemberState,
    partitions_weight,
)
from holdfast.broker.groups.consumer.reconciliation import reconcile
from holdfast.broker.groups.consumer.requests import (
    ConsumerHeartbeat,
    HeartbeatReply,
    Refused,
    Reply,
)
from holdfast.broker.groups.consumer.storing import Append, Key, Kind, LogRecord, Storage
from holdfast.broker.groups.consumer.subscriptions import Compute, KnownTopics, Subscriptions
from holdfast.broker.groups.group_settings import GroupSettings
from holdfast.broker.groups.rebalance import GroupState, Stored
from holdfast.broker.groups.records import encode_group_key
from holdfast.broker.groups.requests import MemberClaim
from holdfast.broker.groups.roster import CONSUMER_PROTOCOL
from holdfast.broker.patience import CallLater, Cancellable
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.groups.consumer.loading import ConsumerParts

ASSIGNED_ON_LOOP = 2_000
"""Members and partitions together, up to which the target is computed at once: below 10 ms."""
MEMBER_EPOCHS_SINCE = 9
"""The version of OffsetCommit that consumer members must use."""


@dataclass(frozen=True, slots=True)
class ConsumerRuntime:
    """Clock, timers, log, topics and limits that all consumer groups share."""

    clock: Callable[[], int]
    call_later: CallLater
    append: Append
    topics: KnownTopics
    compute: Compute
    settings: GroupSettings
    downgrade: Callable[["ConsumerGroup", Stored], None]
    budget: Budget = field(default_factory=Budget)


class ConsumerGroup:
    """The members of one group. A partition has at most one reader at any time."""

    type = "consumer"
    protocol_type = CONSUMER_PROTOCOL

    def __init__(self, group_id: str, runtime: ConsumerRuntime) -> None:
        self.group_id = group_id
        self.runtime = runtime
        self.epoch = 0
        self.assignment_epoch = 0
        self.members: dict[str, ConsumerMember] = {}
        self.targets: Targets = {}
        self.storage = Storage(runtime.append, self._encode)
        self.subscriptions = Subscriptions(runtime.topics, runtime.compute)
        self._instances: dict[str, str] = {}
        self._readers: dict[tuple[UUID, int], str] = {}
        self._timers: dict[tuple[str, str], Cancellable] = {}
        """By purpose and member id."""
        self._fingerprint = 0
        self._topics_version = -1
        """The topics that `_fingerprint` was made of; -1: it comes from the log."""
        self._is_assigning = False
        self._is_stopped = False
        self._bytes = 0
        """Bytes of all members and partitions that the budget counts."""
        self._partition_bytes = 0

    @classmethod
    def restored(
        cls, group_id: str, parts: "ConsumerParts", runtime: ConsumerRuntime
    ) -> "ConsumerGroup":
        """The group as last recorded. All sessions start again, as the broker was away itself."""
        group = cls(group_id, runtime)
        group.epoch, group._fingerprint = parts.epoch, parts.fingerprint
        group.assignment_epoch = parts.target_epoch
        group.subscriptions.found.update(parts.patterns)
        for member in parts.complete_members():
            group.put(member)
            group.extend_session(member)
            group.time_revocation(member)
        group.targets = {id_: parts.targets.get(id_, NOTHING) for id_ in group.members}
        group.storage = Storage(runtime.append, group._encode)  # all of it is in the log
        return group

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        is_stable = all(
            member.state is MemberState.STABLE and member.epoch == self.assignment_epoch
            for member in self.members.values()
        )
        return GroupState.STABLE if is_stable else GroupState.RECONCILING

    @property
    def is_unused(self) -> bool:
        """Returns True if it has no members."""
        return not self.members

    @property
    def assignor(self) -> str:
        return preferred_assignor(member.assignor for member in self.members.values())

    def subscribed_topics(self) -> frozenset[str]:
        return frozenset(self.subscriptions.names())

    def stop(self) -> None:
        """Stops all timers. The state stays as it is."""
        self._is_stopped = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def retire(self) -> None:
        """Stops, and frees the memory that the budget counts, because another group follows."""
        self.stop()
        self.runtime.budget.members -= len(self.members)
        self._count(-self._bytes)

    # checks

    def check_commit(
        self, claim: MemberClaim, *, transactional: bool, version: int = MEMBER_EPOCHS_SINCE
    ) -> ErrorCode:
        """Returns NONE if offsets may be committed under this claim."""
        if claim.generation < 0 and not self.members:
            return ErrorCode.NONE
        member = self.members.get(claim.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        is_consumer = member.classic is None
        if is_consumer and not transactional and version < MEMBER_EPOCHS_SINCE:
            return ErrorCode.UNSUPPORTED_VERSION
        if claim.generation == member.epoch:
            return ErrorCode.NONE
        is_stale = is_consumer and not transactional
        return ErrorCode.STALE_MEMBER_EPOCH if is_stale else ErrorCode.ILLEGAL_GENERATION

    def check_fetch(self, member_id: str | None, epoch: int) -> ErrorCode:
        """Returns NONE if a client may fetch offsets that says it is this member."""
        if member_id is None and epoch < 0:
            return ErrorCode.NONE
        member = self.members.get(member_id or "")
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if epoch == member.epoch:
            return ErrorCode.NONE
        is_stale = member.classic is None
        return ErrorCode.STALE_MEMBER_EPOCH if is_stale else ErrorCode.ILLEGAL_GENERATION

    def of_instance(self, instance_id: str | None) -> ConsumerMember | None:
        member_id = self._instances.get(instance_id) if instance_id is not None else None
        return None if member_id is None else self.members[member_id]

    def check_instance(self, instance_id: str, member_id: str) -> ConsumerMember:
        """The static member; raises Refused if the id is unknown, or another process has it."""
        member = self.of_instance(instance_id)
        if member is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if member.member_id != member_id:
            raise Refused(
                ErrorCode.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member "
                f"{member.member_id}.",
            )
        return member

    # heartbeats

    def heartbeat(self, request: ConsumerHeartbeat, reply: Reply) -> None:
        try:
            if request.epoch in (LEFT, AWAY):
                self._leave(request, reply)
                return
            response = self._beat(request)
        except Refused as refusal:
            # The group may be a new one that another protocol had before.
            refused = HeartbeatReply(error=refusal.error, message=refusal.message)
            self.storage.flush(lambda error: reply(refused))
            return
        self.storage.flush(lambda error: reply(_unless(error, response)))

    def _beat(self, request: ConsumerHeartbeat) -> HeartbeatReply:
        known, replaced = self._member_of(request)
        member = replace(
            known,
            instance_id=request.instance_id or known.instance_id,
            rack_id=request.rack_id or known.rack_id,
            rebalance_timeout_ms=(
                known.rebalance_timeout_ms
                if request.rebalance_timeout_ms == -1
                else request.rebalance_timeout_ms
            ),
            topics=known.topics if request.topics is None else frozenset(request.topics),
            pattern=known.pattern if request.pattern is None else request.pattern or None,
            assignor=request.assignor or known.assignor,
            client_id=request.client_id,
            client_host=request.client_host,
            classic=None,
        )
        if member.pattern in self.subscriptions.too_costly:
            raise Refused(
                ErrorCode.INVALID_REGULAR_EXPRESSION,
                "SubscribedTopicRegex takes too long. Use a simpler one.",
            )
        self.check_room(member, replaced)
        moved = self.admit(member, replaced, request.owned)
        self.subscriptions.search(moved.pattern, request.may_see, self._pattern_found)
        self.extend_session(moved)
        if moved.epoch != known.epoch or moved.state is not known.state:
            self.time_revocation(moved)
        is_shown = request.is_full or moved.assigned != known.assigned
        return HeartbeatReply(
            member_id=moved.member_id,
            epoch=moved.epoch,
            assignment=moved.assigned if is_shown else None,
        )

    def _member_of(self, request: ConsumerHeartbeat) -> tuple[ConsumerMember, str | None]:
        """The member as it is, or a new one; and the id of the member that it replaces."""
        member_id = request.member_id or str(uuid4())
        if request.instance_id is None:
            member = self.members.get(member_id)
            if member is None and request.epoch != 0:
                raise Refused(
                    ErrorCode.UNKNOWN_MEMBER_ID,
                    f"Member {member_id} is not a member of group {self.group_id}.",
                )
        elif request.epoch == 0:
            member = self.of_instance(request.instance_id)
        else:
            member = self.check_instance(request.instance_id, member_id)
        if member is None:
            return ConsumerMember(member_id=member_id), None
        if request.epoch != 0:
            _check_epoch(member, request)
            return member, None
        is_other = member.member_id != member_id
        if is_other and member.classic is None and member.epoch != AWAY:
            raise Refused(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                f"Static member {member_id} with instance id {request.instance_id} cannot join the "
                f"group because the instance id is owned by {member.member_id} member.",
            )
        return rejoining(member, member_id), member.member_id if is_other else None

    def check_room(self, member: ConsumerMember, replaced: str | None) -> None:
        """Raises Refused if the budget has no room for the member, or for its growth."""
        known = self.members.get(replaced or member.member_id)
        if known is not None and known.described == member.described:
            return
        budget = self.runtime.budget
        has_room = known is not None or budget.has_room(len(self.members))
        size = member.weight() + partitions_weight(self.subscriptions.more_partitions(member))
        error = budget.check_bytes(size, self._bytes, known.weight() if known else 0)
        if not has_room or not self.subscriptions.has_room_for(member.pattern):
            error = ErrorCode.GROUP_MAX_SIZE_REACHED
        if error is not ErrorCode.NONE:
            raise Refused(error, "The consumer group has reached its maximum size.")

    def admit(
        self, member: ConsumerMember, replaced: str | None, owned: Assignment | None
    ) -> ConsumerMember:
        """Adds or changes a member, and moves it towards its target."""
        known = self.members.get(replaced or member.member_id)
        if replaced is not None:
            target = self.targets.get(replaced, NOTHING)
            self.remove(replaced)
            self._set_target(member.member_id, target)
        self.put(member)
        if (
            known is None
            or not member.has_subscription_of(known)
            or known.assignor != member.assignor
        ):
            self.bump()
        self._look_at_topics()
        if self.epoch > self.assignment_epoch:
            self._assign()
        moved = reconcile(
            member,
            self.assignment_epoch,
            self.targets.get(member.member_id, NOTHING),
            owned,
            partial(self._is_free, member.member_id),
        )
        self.put(moved)
        return moved

    def _leave(self, request: ConsumerHeartbeat, reply: Reply) -> None:
        member = (
            self.members.get(request.member_id)
            if request.instance_id is None
            else self.check_instance(request.instance_id, request.member_id)
        )
        if member is None:
            raise Refused(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"Member {request.member_id} is not a member of group {self.group_id}.",
            )
        left = HeartbeatReply(member_id=member.member_id, epoch=request.epoch)

        def then(error: ErrorCode) -> None:
            reply(_unless(error, left))

        if request.epoch == AWAY:  # its session goes on: it may come back until that ends
            self.put(replace(member, epoch=AWAY, revoking=NOTHING, state=MemberState.STABLE))
            self.cancel("revocation", member.member_id)
            self.storage.flush(then)
        else:
            self.expel([member], then)

    def expel(self, members: Iterable[ConsumerMember], then: Stored) -> None:
        """Removes members. If only classic ones are left then, the group becomes a classic one."""
        had_consumer = False
        for member in members:
            had_consumer = had_consumer or member.classic is None
            self.remove(member.member_id)
        self.bump()
        rest = self.members.values()
        if had_consumer and rest and all(member.classic is not None for member in rest):
            self.runtime.downgrade(self, then)
        else:
            self.storage.flush(then)

    def _expire(self, member_id: str) -> None:
        member = self.members.get(member_id)
        if member is not None and not self._is_stopped:
            self.expel([member], lambda error: None)

    # timers

    def extend_session(self, member: ConsumerMember) -> None:
        """Starts the member's session again, because the member is alive."""
        timeout_ms = self.runtime.settings.session_timeout_ms(self.group_id)
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        self.expel_after("session", member.member_id, timeout_ms)

    def time_revocation(self, member: ConsumerMember) -> None:
        """Expels a member that does not give up its partitions in time."""
        if member.classic is None and member.state is MemberState.UNREVOKED:
            self.expel_after("revocation", member.member_id, member.rebalance_timeout_ms)
        else:
            self.cancel("revocation", member.member_id)

    def expel_after(self, purpose: str, member_id: str, timeout_ms: int) -> None:
        self.cancel(purpose, member_id)
        self._timers[purpose, member_id] = self.runtime.call_later(
            max(timeout_ms, 0) / 1000, partial(self._expire, member_id)
        )

    def is_timed(self, purpose: str, member_id: str) -> bool:
        return (purpose, member_id) in self._timers

    def cancel(self, purpose: str, member_id: str) -> None:
        timer = self._timers.pop((purpose, member_id), None)
        if timer is not None:
            timer.cancel()

    # state

    def put(self, member: ConsumerMember) -> None:
        """Stores a member, and notes what has changed of it."""
        known = self.members.get(member.member_id)
        if known == member:
            return
        self._free(known)
        for topic, partitions in (*member.assigned.items(), *member.revoking.items()):
            self._readers.update(((topic, p), member.member_id) for p in partitions)
        self.members[member.member_id] = member
        if known is None or known.described != member.described:
            self.runtime.budget.members += known is None
            self._count(member.weight() - (known.weight() if known else 0))
            self.subscriptions.replace(known, member)
            self._topics_version = -1
            if member.instance_id is not None:
                self._instances[member.instance_id] = member.member_id
            self.storage.changed(Kind.MEMBER, member.member_id)
        self.storage.changed(Kind.CURRENT, member.member_id)

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        self.runtime.budget.members -= 1
        self._count(-member.weight())
        self._free(member)
        self.subscriptions.replace(member, None)
        self._topics_version = -1
        if member.instance_id is not None and self._instances[member.instance_id] == member_id:
            del self._instances[member.instance_id]
        for purpose in ("session", "revocation", "join", "sync"):
            self.cancel(purpose, member_id)
        self.targets.pop(member_id, None)
        if not self.members:
            self._weigh_targets()
        for kind in (Kind.CURRENT, Kind.TARGET, Kind.MEMBER):
            self.storage.changed(kind, member_id)

    def _count(self, growth: int) -> None:
        self._bytes += growth
        self.runtime.budget.bytes += growth

    def _free(self, member: ConsumerMember | None) -> None:
        if member is None:
            return
        for topic, partitions in (*member.assigned.items(), *member.revoking.items()):
            for partition in partitions:
                if self._readers.get((topic, partition)) == member.member_id:
                    del self._readers[topic, partition]

    def _is_free(self, member_id: str, topic: UUID, partition: int) -> bool:
        return self._readers.get((topic, partition), member_id) == member_id

    def waits_for_others(self, member: ConsumerMember) -> bool:
        """Returns True if another member has a partition of this member's target."""
        wanted = without(self.targets.get(member.member_id, NOTHING), member.assigned)
        return any(
            not self._is_free(member.member_id, topic, partition)
            for topic, partitions in wanted.items()
            for partition in partitions
        )

    def bump(self) -> None:
        self.epoch += 1
        self.storage.changed(Kind.GROUP)

    def _look_at_topics(self) -> None:
        """Starts a new epoch if a subscribed topic was created, deleted or got partitions."""
        if self._topics_version == self.runtime.topics.version:
            return
        self._topics_version = self.runtime.topics.version
        fingerprint = self.subscriptions.fingerprint()
        if fingerprint != self._fingerprint:
            self._fingerprint = fingerprint
            self.storage.changed(Kind.GROUP)
            if self.epoch == self.assignment_epoch or self._is_assigning:
                self.bump()
        for pattern in self.subscriptions.unused_patterns():
            self.subscriptions.forget(pattern)
            self.storage.changed(Kind.PATTERN, pattern)

    def _pattern_found(self, pattern: str) -> None:
        """Acts on the topics of a regular expression, when they are known."""
        if self._is_stopped:
            return
        self.storage.changed(Kind.PATTERN, pattern)
        self.bump()
        self._topics_version = -1
        self._look_at_topics()
        self._assign()
        self.storage.flush(lambda error: None)

    # the target

    def _assign(self) -> None:
        """Computes the target of this epoch: at once, or on a thread if it is large. Members keep
        their partitions meanwhile."""
        subscribers = [
            Subscriber(member.member_id, member.instance_id, self.subscriptions.of(member))
            for member in self.members.values()
        ]
        shapes = self.subscriptions.shapes()
        assign = partial(ASSIGNORS[self.assignor], subscribers, shapes, dict(self.targets))
        if len(subscribers) + sum(shape.partitions for shape in shapes.values()) > ASSIGNED_ON_LOOP:
            if not self._is_assigning:
                self._is_assigning = True
                self.runtime.compute(assign, partial(self._assigned_later, self.epoch))
            return
        self._take_targets(self.epoch, assign())

    def _assigned_later(self, epoch: int, targets: Targets) -> None:
        self._is_assigning = False
        if self._is_stopped:
            return
        self._take_targets(epoch, targets)
        if self.epoch > self.assignment_epoch and self.members:
            self._assign()
        self.storage.flush(lambda error: None)

    def _take_targets(self, epoch: int, targets: Targets) -> None:
        self.assignment_epoch = epoch
        self.storage.changed(Kind.TARGET_EPOCH)
        for member_id in self.members:
            self._set_target(member_id, targets.get(member_id, NOTHING))
        self._weigh_targets()

    def _weigh_targets(self) -> None:
        size = partitions_weight(sum(map(count, self.targets.values())))
        self._count(size - self._partition_bytes)
        self._partition_bytes = size

    def _set_target(self, member_id: str, target: Assignment) -> None:
        if member_id not in self.targets or self.targets[member_id] != target:
            self.targets[member_id] = target
            self.storage.changed(Kind.TARGET, member_id)

    # records

    def _encode(self, key: Key) -> LogRecord:
        kind, name = key
        if kind is Kind.CLASSIC:
            return encode_group_key(self.group_id), None
        return records.encode_key(self.group_id, kind, name), self._value(kind, name)

    def _value(self, kind: Kind, name: str) -> bytes | None:
        """The value of a record; None if what it is about is gone."""
        if kind is Kind.GROUP:
            return records.encode_group(self.epoch, self._fingerprint)
        if kind is Kind.TARGET_EPOCH:
            return records.encode_target_epoch(self.assignment_epoch)
        if kind is Kind.PATTERN:
            topics = self.subscriptions.found.get(name)
            return None if topics is None else records.encode_pattern(topics, self.runtime.clock())
        if name not in self.members:
            return None
        if kind is Kind.TARGET:
            return records.encode_target(self.targets.get(name, NOTHING))
        encode = records.encode_member if kind is Kind.MEMBER else records.encode_current
        return encode(self.members[name])

    def tombstones(self) -> list[LogRecord]:
        """Deletes all records of the group."""
        keys: list[Key] = [(Kind.PATTERN, pattern) for pattern in self.subscriptions.found]
        for member_id in self.members:
            keys += [(k, member_id) for k in (Kind.CURRENT, Kind.TARGET, Kind.MEMBER)]
        keys += [(Kind.TARGET_EPOCH, ""), (Kind.GROUP, "")]
        return [(records.encode_key(self.group_id, *key), None) for key in keys]


def rejoining(member: ConsumerMember, member_id: str) -> ConsumerMember:
    """A member that starts again: it has given up everything, and gets back what is still its."""
    return replace(
        member,
        member_id=member_id,
        epoch=0,
        previous_epoch=0,
        state=MemberState.STABLE,
        revoking=NOTHING,
    )


def _check_epoch(member: ConsumerMember, request: ConsumerHeartbeat) -> None:
    """Raises Refused for a member of another epoch. The previous one is accepted if the member has
    no partition that it does not have now: the reply with the present epoch was lost."""
    if request.epoch == member.epoch:
        return
    is_repeated = (
        request.epoch == member.previous_epoch
        and request.epoch < member.epoch
        and request.owned is not None
        and count(common(request.owned, member.assigned)) == count(request.owned)
    )
    if not is_repeated:
        size = "greater" if request.epoch > member.epoch else "smaller"
        raise Refused(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The consumer group member has a {size} member epoch ({request.epoch}) than the one "
            f"known by the group coordinator ({member.epoch}). The member must abandon all its "
            "partitions and rejoin.",
        )


def _unless(error: ErrorCode, reply: HeartbeatReply) -> HeartbeatReply:
    if error is ErrorCode.NONE:
        return reply
    return HeartbeatReply(error=error, message="The change could not be written. Try again.")
