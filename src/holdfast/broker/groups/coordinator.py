"""All groups of this broker: their members, their offsets, and the log that remembers both."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from holdfast.broker.groups.expiry import expired_offsets
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.journal import Journal
from holdfast.broker.groups.loading import load_state
from holdfast.broker.groups.offsets import OffsetStore
from holdfast.broker.groups.records import (
    CommittedOffset,
    GroupRecord,
    TopicPartition,
    encode_group,
    encode_group_key,
    encode_offset,
    encode_offset_key,
)
from holdfast.broker.groups.requests import (
    NO_MEMBER_ID,
    Join,
    Joined,
    Leaver,
    MemberClaim,
    Sync,
    Synced,
)
from holdfast.broker.groups.roster import Cancellable
from holdfast.broker.groups.surroundings import GroupState, Stored, Surroundings
from holdfast.broker.settings import BrokerSettings
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.state_log import StateLog

log = logging.getLogger(__name__)

T = TypeVar("T")
Tombstones = list[tuple[bytes, None]]


class Left(NamedTuple):
    error: ErrorCode
    members: list[ErrorCode]
    """One for each that was to leave."""


class GroupCoordinator:
    """Serves every group. What it acknowledges, and what it shows of offsets, is durable."""

    def __init__(
        self,
        state: "StateLog",
        settings: BrokerSettings,
        clock: Callable[[], int],
        call_later: Callable[[float, Callable[[], None]], Cancellable],
    ) -> None:
        self._state = state
        self._settings = settings
        self._clock = clock
        self._journal = Journal(state)
        self._offsets = OffsetStore()
        self._groups: dict[str, Group] = {}
        self._is_closed = False
        self._surroundings = Surroundings(
            clock, call_later, self._store_group, settings.group_initial_rebalance_delay_ms
        )

    def load(self) -> None:
        """Be as the log says. Members' sessions begin anew."""
        loaded = load_state(self._state)
        self._journal.next_position = loaded.next_position
        self._offsets = loaded.offsets
        for group_id, record in loaded.groups.items():
            self._groups[group_id] = Group.restored(group_id, record, self._surroundings)
        for group_id in loaded.offsets.groups():
            self._group(group_id)

    def close(self) -> None:
        """Answer everybody who waits, and let nobody wait any more: clients look for the
        coordinator until it is back, and find their groups as they are now."""
        self._is_closed = True
        for group in self._groups.values():
            group.stop()

    # membership

    async def join(self, group_id: str, join: Join) -> Joined:
        """Waits until the group has agreed on who is in it."""
        group = self._groups.get(group_id)
        error = self._check_join(group_id, join)
        if error is ErrorCode.NONE and group is None and join.member_id != NO_MEMBER_ID:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        if error is not ErrorCode.NONE:
            return Joined(error=error, member_id=join.member_id)
        answer: asyncio.Future[Joined] = asyncio.get_running_loop().create_future()
        self._group(group_id).join(join, _resolver(answer))
        return await answer

    async def sync(self, group_id: str, sync: Sync) -> Synced:
        """Waits for the leader's assignment, and until that is durable."""
        group, error = self._find(group_id)
        if group is None:
            return Synced(error=error)
        answer: asyncio.Future[Synced] = asyncio.get_running_loop().create_future()
        group.sync(sync, _resolver(answer))
        return await answer

    def heartbeat(self, group_id: str, claim: MemberClaim) -> ErrorCode:
        group, error = self._find(group_id)
        return error if group is None else group.heartbeat(claim)

    async def leave(self, group_id: str, leavers: Sequence[Leaver]) -> Left:
        group, error = self._find(group_id)
        if group is None:
            if error is ErrorCode.UNKNOWN_MEMBER_ID:
                return Left(ErrorCode.NONE, [error] * len(leavers))
            return Left(error, [])
        answer: asyncio.Future[Left] = asyncio.get_running_loop().create_future()
        resolve = _resolver(answer)
        group.leave(leavers, lambda error, members: resolve(Left(error, members)))
        return await answer

    # offsets

    async def commit(
        self,
        group_id: str,
        claim: MemberClaim,
        offsets: Mapping[TopicPartition, CommittedOffset],
        *,
        if_unknown: ErrorCode = ErrorCode.ILLEGAL_GENERATION,
    ) -> ErrorCode:
        """Waits until the offsets are durable, and visible. `if_unknown`: the error for a member of
        a group that does not exist."""
        group = self._groups.get(group_id)
        error = self._check_commit(group, claim, if_unknown, transactional=False)
        if error is not ErrorCode.NONE:
            return error
        if group is not None and group.state is not GroupState.COMPLETING:
            group.keep_alive(claim.member_id)
        if not offsets:
            return ErrorCode.NONE
        position = self._journal.next_position
        self._offsets.announce(group_id, offsets)

        def committed() -> None:
            self._offsets.recall(group_id, offsets)
            self._offsets.commit(group_id, offsets, position)
            self._group(group_id)

        def failed() -> None:
            self._offsets.recall(group_id, offsets)

        return await self._append(_offset_records(group_id, offsets), committed, failed)

    async def commit_in_transaction(
        self,
        group_id: str,
        claim: MemberClaim,
        producer: tuple[int, int],
        offsets: Mapping[TopicPartition, CommittedOffset],
        *,
        verify: Callable[[], ErrorCode | None],
    ) -> ErrorCode:
        """Waits until the offsets are durable. They become visible when the transaction commits;
        until it ends, their partitions are unstable, from this call on.

        The claim is the fence against members that were replaced, under whatever transactional id
        they come. It is looked at first, and then `verify` at the transaction: one that was
        replaced hears that, and not that its successor ended its transaction.
        """
        if not group_id:
            return ErrorCode.INVALID_GROUP_ID
        unknown = ErrorCode.ILLEGAL_GENERATION
        group = self._groups.get(group_id)
        error = self._check_commit(group, claim, unknown, transactional=True)
        if error is ErrorCode.NONE:
            error = verify() or ErrorCode.NONE
        if error is not ErrorCode.NONE:
            return error
        position, producer_id = self._journal.next_position, producer[0]
        self._offsets.hold(producer_id, group_id, offsets, position)

        def committed() -> None:
            self._offsets.settle(producer_id, group_id, offsets, position)
            self._group(group_id)

        def failed() -> None:
            self._offsets.withdraw(producer_id, group_id, offsets, position)

        records = _offset_records(group_id, offsets)
        return await self._append(records, committed, failed, producer=producer)

    def complete_transaction(self, producer_id: int, commit: bool) -> None:
        """The marker of the producer's transaction is durable."""
        self._offsets.complete(producer_id, commit)

    def fetch(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None,
        *,
        require_stable: bool = False,
    ) -> dict[TopicPartition, CommittedOffset | ErrorCode | None]:
        """The offset of each partition (None: all that there are): None where there is none, and
        UNSTABLE_OFFSET_COMMIT where it is about to change, if that matters to the asker."""
        unstable = self._offsets.unstable(group_id) if require_stable else set()
        if partitions is None:
            partitions = unstable.union(at for at, _ in self._offsets.of(group_id))
        return {
            at: ErrorCode.UNSTABLE_OFFSET_COMMIT
            if at in unstable
            else self._offsets.get(group_id, at)
            for at in partitions
        }

    # administration

    def groups(self) -> list[Group]:
        return list(self._groups.values())

    def get(self, group_id: str) -> Group | None:
        return self._groups.get(group_id)

    async def delete_group(self, group_id: str) -> ErrorCode:
        """Waits until the group and its offsets are durably gone."""
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if group.state is not GroupState.EMPTY:
            return ErrorCode.NON_EMPTY_GROUP
        partitions = self._offsets.partitions(group_id)
        tombstones = _tombstones(group_id, partitions, with_group=True)
        gone = self._deletion(group_id, partitions, with_group=True)
        return await self._append(tombstones, gone)

    async def delete_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> tuple[ErrorCode, dict[TopicPartition, ErrorCode]]:
        """Waits until the offsets are durably gone: an error for the group, or one for each."""
        if not group_id:
            return ErrorCode.INVALID_GROUP_ID, {}
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND, {}
        subscribed = group.roster.subscribed_topics()
        if group.state is not GroupState.EMPTY and subscribed is None:
            return ErrorCode.NON_EMPTY_GROUP, {}
        errors = dict.fromkeys(partitions, ErrorCode.NONE)
        for at in errors:
            if subscribed is not None and at.topic in subscribed:
                errors[at] = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        present = self._offsets.partitions(group_id)
        to_delete = [at for at in errors if errors[at] is ErrorCode.NONE and at in present]
        tombstones = _tombstones(group_id, to_delete)
        return await self._append(tombstones, self._deletion(group_id, to_delete)), errors

    # housekeeping

    def expire(self, now_ms: int) -> None:
        """Forget offsets past their retention, and groups that have nothing left."""
        retention_ms = self._settings.offsets_retention_minutes * 60_000
        for group in self.groups():
            expired = expired_offsets(group, self._offsets, now_ms, retention_ms)
            is_over = (
                group.state is GroupState.EMPTY
                and not group.roster.pending
                and self._offsets.partitions(group.group_id) == set(expired)
            )
            if expired or is_over:
                log.info(
                    "Group %s: %d offsets expired%s",
                    group.group_id,
                    len(expired),
                    ", and the group with them" if is_over else "",
                )
                self._forget(group.group_id, expired, with_group=is_over)

    def topic_deleted(self, name: str) -> None:
        """Forget how far anyone had read it: a topic of the same name will be another one."""
        for group_id in self._offsets.groups():
            partitions = [at for at in self._offsets.partitions(group_id) if at.topic == name]
            if partitions:
                self._forget(group_id, partitions)

    # inside

    def _find(self, group_id: str) -> tuple[Group | None, ErrorCode]:
        """The group, or the error for a member that speaks of it."""
        if not group_id:
            return None, ErrorCode.INVALID_GROUP_ID
        if self._is_closed:
            return None, ErrorCode.COORDINATOR_NOT_AVAILABLE
        return self._groups.get(group_id), ErrorCode.UNKNOWN_MEMBER_ID

    def _group(self, group_id: str) -> Group:
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = Group(group_id, self._surroundings)
        return group

    def _check_join(self, group_id: str, join: Join) -> ErrorCode:
        if not group_id:
            return ErrorCode.INVALID_GROUP_ID
        if self._is_closed:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        shortest = self._settings.group_min_session_timeout_ms
        if not shortest <= join.session_timeout_ms <= self._settings.group_max_session_timeout_ms:
            return ErrorCode.INVALID_SESSION_TIMEOUT
        return ErrorCode.NONE

    def _check_commit(
        self, group: Group | None, claim: MemberClaim, if_unknown: ErrorCode, *, transactional: bool
    ) -> ErrorCode:
        if group is not None:
            return group.check_commit(claim, transactional=transactional)
        return ErrorCode.NONE if claim.generation < 0 else if_unknown

    def _forget(
        self, group_id: str, partitions: Collection[TopicPartition], *, with_group: bool = False
    ) -> None:
        gone = self._deletion(group_id, partitions, with_group=with_group)
        tombstones = _tombstones(group_id, partitions, with_group=with_group)
        self._journal.append(tombstones, lambda error: gone() if error is ErrorCode.NONE else None)

    def _deletion(
        self, group_id: str, partitions: Iterable[TopicPartition], *, with_group: bool = False
    ) -> Callable[[], None]:
        """What is to be done once the tombstones that are appended next are durable."""
        position = self._journal.next_position

        def gone() -> None:
            self._offsets.delete(group_id, partitions, position)
            group = self._groups.get(group_id)
            # Someone may have joined or committed since: then it is a group again.
            if (
                with_group
                and group is not None
                and group.state is GroupState.EMPTY
                and not self._offsets.partitions(group_id)
            ):
                group.stop()
                del self._groups[group_id]

        return gone

    async def _append(
        self,
        records: Sequence[tuple[bytes, bytes | None]],
        applied: Callable[[], None],
        failed: Callable[[], None] = lambda: None,
        *,
        producer: tuple[int, int] | None = None,
    ) -> ErrorCode:
        """Append, and change the state as soon as that is durable, whether or not the one who
        asked is still there to hear of it."""
        if not records:
            return ErrorCode.NONE
        answer: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
        resolve = _resolver(answer)

        def settled(error: ErrorCode) -> None:
            (applied if error is ErrorCode.NONE else failed)()
            resolve(error)

        self._journal.append(records, settled, producer=producer)
        return await answer

    def _store_group(self, group_id: str, record: GroupRecord, stored: Stored) -> None:
        self._journal.append([(encode_group_key(group_id), encode_group(record))], stored)


def _resolver(answer: "asyncio.Future[T]") -> Callable[[T], None]:
    def resolve(result: T) -> None:
        if not answer.done():  # the connection that asked may be gone
            answer.set_result(result)

    return resolve


def _offset_records(
    group_id: str, offsets: Mapping[TopicPartition, CommittedOffset]
) -> list[tuple[bytes, bytes | None]]:
    return [(encode_offset_key(group_id, at), encode_offset(o)) for at, o in offsets.items()]


def _tombstones(
    group_id: str, partitions: Iterable[TopicPartition], *, with_group: bool = False
) -> Tombstones:
    tombstones: Tombstones = [(encode_offset_key(group_id, at), None) for at in partitions]
    if with_group:
        tombstones.append((encode_group_key(group_id), None))
    return tombstones
