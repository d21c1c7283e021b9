"""All groups of this broker: their members, their offsets, and the log of both."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from holdfast.broker.groups.budget import LONGEST_GROUP_ID, MOST_GROUPS
from holdfast.broker.groups.consumer.group import MEMBER_EPOCHS_SINCE, ConsumerGroup
from holdfast.broker.groups.consumer.subscriptions import Compute, KnownTopics
from holdfast.broker.groups.expiry import expired_offsets
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.journal import Journal
from holdfast.broker.groups.loading import load_state
from holdfast.broker.groups.membership import Membership, resolver
from holdfast.broker.groups.offsets import OffsetStore
from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.groups.records import (
    CommittedOffset,
    TopicPartition,
    encode_group_key,
    encode_offset,
    encode_offset_key,
)
from holdfast.broker.groups.requests import MemberClaim
from holdfast.broker.patience import CallLater
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.state_log import StateLog

log = logging.getLogger(__name__)

DELETED_AT_ONCE = 1_000
"""Tombstones in one batch: building it takes 5 ms of the event loop."""
FETCHED_AT_ONCE = 1_000
"""Offsets that are looked up in one slice."""
GROUPS_PER_EXPIRY = 100
"""Groups that are deleted at once when there are too many."""

T = TypeVar("T")
Tombstones = list[tuple[bytes, bytes | None]]


class GroupCoordinator(Membership):
    """Serves all groups. Acknowledged requests and visible offsets are durable."""

    def __init__(
        self,
        state: "StateLog",
        settings: BrokerSettings,
        clock: Callable[[], int],
        call_later: CallLater,
        topics: KnownTopics,
        compute: Compute,
    ) -> None:
        super().__init__(Journal(state), settings, clock, call_later, topics, compute)
        self._state = state
        self._offsets = OffsetStore()

    def load(self) -> None:
        """Restores the state from the log. The sessions of all members start again."""
        loaded = load_state(self._state)
        self._journal.next_position = loaded.next_position
        self._offsets = loaded.offsets
        self.restore(loaded)
        for group_id in loaded.offsets.groups():
            self._group(group_id)

    # offsets

    async def commit(
        self,
        group_id: str,
        claim: MemberClaim,
        offsets: Mapping[TopicPartition, CommittedOffset],
        *,
        if_unknown: ErrorCode = ErrorCode.ILLEGAL_GENERATION,
        version: int = MEMBER_EPOCHS_SINCE,
    ) -> ErrorCode:
        """Waits until the offsets are durable and visible.

        `if_unknown`: the error for a member of a group that does not exist.
        """
        batch = await self._batch_of(group_id, offsets)  # the group may change meanwhile
        group = self._groups.get(group_id)
        error = self._check_commit(
            group_id, claim, if_unknown, transactional=False, version=version
        )
        if error is not ErrorCode.NONE:
            return error
        if isinstance(group, Group) and group.state is not GroupState.COMPLETING:
            group.keep_alive(claim.member_id)
        if not offsets:
            return ErrorCode.NONE
        error = self._check_offsets(group_id, offsets)
        if error is not ErrorCode.NONE:
            return error
        position = self._journal.next_position
        self._offsets.announce(group_id, offsets)

        def committed() -> None:
            self._offsets.recall(group_id, offsets)
            self._offsets.commit(group_id, offsets, position)
            self._group(group_id)

        def failed() -> None:
            self._offsets.recall(group_id, offsets)

        return await self._append(batch, committed, failed)

    async def commit_in_transaction(
        self,
        group_id: str,
        claim: MemberClaim,
        producer: tuple[int, int],
        offsets: Mapping[TopicPartition, CommittedOffset],
        *,
        enlist: Callable[[], Awaitable[ErrorCode]] | None = None,
        verify: Callable[[], ErrorCode | None],
    ) -> ErrorCode:
        """Waits until the offsets are durable. They become visible when the transaction commits.
        From this call until the transaction ends, their partitions are unstable.

        The claim fences members that were replaced, whatever their transactional id. It is checked
        before `verify` checks the transaction: a replaced member learns that it was replaced, and
        not that its successor has ended its transaction. `enlist` adds the group to the
        transaction, if the request does that too.
        """
        if not group_id:
            return ErrorCode.INVALID_GROUP_ID
        batch = await self._batch_of(group_id, offsets, producer)  # the group may change meanwhile
        unknown = ErrorCode.ILLEGAL_GENERATION
        error = self._check_commit(group_id, claim, unknown, transactional=True)
        if error is ErrorCode.NONE and enlist is not None:
            error = await enlist()
            if error is ErrorCode.NONE:
                error = self._check_commit(group_id, claim, unknown, transactional=True)
        if error is ErrorCode.NONE:
            error = verify() or self._check_offsets(group_id, offsets)
        if error is not ErrorCode.NONE or not offsets:
            return error
        position, producer_id = self._journal.next_position, producer[0]
        self._offsets.hold(producer_id, group_id, offsets, position)

        def committed() -> None:
            self._offsets.settle(producer_id, group_id, offsets, position)
            self._group(group_id)

        def failed() -> None:
            self._offsets.withdraw(producer_id, group_id, offsets, position)

        return await self._append(batch, committed, failed)

    def complete_transaction(self, producer_id: int, commit: bool) -> None:
        """Applies a transaction's offsets, or drops them, when its marker is durable."""
        self._offsets.complete(producer_id, commit)

    def fetch(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None,
        *,
        require_stable: bool = False,
    ) -> Work[dict[TopicPartition, CommittedOffset | ErrorCode | None]]:
        """The committed offset of each partition, or of all partitions if `partitions` is None.

        None: nothing is committed. UNSTABLE_OFFSET_COMMIT, if `require_stable`: an open transaction
        may change it.
        """
        unstable = self._offsets.unstable(group_id) if require_stable else set()
        if partitions is None:
            partitions = unstable.union(self._offsets.visible(group_id))
        offsets: dict[TopicPartition, CommittedOffset | ErrorCode | None] = {}
        for number, at in enumerate(partitions):
            offsets[at] = (
                ErrorCode.UNSTABLE_OFFSET_COMMIT
                if at in unstable
                else self._offsets.get(group_id, at)
            )
            if number % FETCHED_AT_ONCE == 0:
                yield None
        return offsets

    # administration

    def committed(self) -> Iterator[tuple[str, TopicPartition, int]]:
        """Group, partition and offset of everything that is committed, by the names of groups."""
        for group_id in sorted(self._offsets.groups()):
            for at, committed in self._offsets.of(group_id):
                yield group_id, at, committed.offset

    def check_fetch(self, group_id: str, member_id: str | None, epoch: int) -> ErrorCode:
        """Returns NONE if a client that says it is this member may fetch the offsets."""
        group = self._groups.get(group_id)
        return (
            group.check_fetch(member_id, epoch)
            if isinstance(group, ConsumerGroup)
            else ErrorCode.NONE
        )

    async def delete_group(self, group_id: str) -> ErrorCode:
        """Waits until the group and its offsets are durably deleted."""
        while True:
            group = self._groups.get(group_id)
            if group is None:
                return ErrorCode.GROUP_ID_NOT_FOUND
            if group.state is not GroupState.EMPTY:
                return ErrorCode.NON_EMPTY_GROUP
            partitions = self._offsets.partitions(group_id)
            some = list(islice(partitions, DELETED_AT_ONCE))
            is_all = len(some) == len(partitions)
            error = await self._delete(group_id, some, with_group=is_all)
            if error is not ErrorCode.NONE or is_all:
                return error

    async def delete_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> tuple[ErrorCode, dict[TopicPartition, ErrorCode]]:
        """Waits until the offsets are durably deleted. Returns errors of group and offsets."""
        if not group_id:
            return ErrorCode.INVALID_GROUP_ID, {}
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND, {}
        subscribed = group.subscribed_topics()
        if group.state is not GroupState.EMPTY and subscribed is None:
            return ErrorCode.NON_EMPTY_GROUP, {}
        errors = dict.fromkeys(partitions, ErrorCode.NONE)
        for at in errors:
            if subscribed is not None and at.topic in subscribed:
                errors[at] = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        present = self._offsets.partitions(group_id)
        to_delete = [at for at in errors if errors[at] is ErrorCode.NONE and at in present]
        for start in range(0, len(to_delete), DELETED_AT_ONCE):
            error = await self._delete(group_id, to_delete[start : start + DELETED_AT_ONCE])
            if error is not ErrorCode.NONE:
                return error, errors
        return ErrorCode.NONE, errors

    async def _delete(
        self, group_id: str, partitions: Sequence[TopicPartition], *, with_group: bool = False
    ) -> ErrorCode:
        tombstones = self._tombstones(group_id, partitions, with_group=with_group)
        gone = self._deletion(group_id, partitions, with_group=with_group)
        return await self._append(self._state.build(tombstones), gone)

    # housekeeping

    def expire(self, now_ms: int) -> None:
        """Deletes offsets past their retention, and groups without members and offsets."""
        retention_ms = self._settings.offsets_retention_minutes * 60_000
        for group in self.groups():
            expired = expired_offsets(group, self._offsets, now_ms, retention_ms)
            is_unused = group.is_unused and self._offsets.partitions(group.group_id) == set(expired)
            if expired or is_unused:
                log.info(
                    "Group %s: %d offsets expired%s",
                    group.group_id,
                    len(expired),
                    ", and the group with them" if is_unused else "",
                )
                self._forget(group.group_id, expired, with_group=is_unused)

    def topic_deleted(self, name: str) -> None:
        """Deletes the topic's offsets in all groups: a later topic of this name is another one."""
        for group_id in self._offsets.groups():
            partitions = [at for at in self._offsets.partitions(group_id) if at.topic == name]
            if partitions:
                self._forget(group_id, partitions)

    # inside

    def _check_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, CommittedOffset]
    ) -> ErrorCode:
        if not self._offsets.has_room_for(group_id, offsets):
            log.warning("Group %.100s: its offsets have reached their memory limit", group_id)
            return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
        return self._check_room(group_id, ErrorCode.INVALID_COMMIT_OFFSET_SIZE)

    def _check_room(self, group_id: str, if_full: ErrorCode) -> ErrorCode:
        """Returns NONE if there is room for a new group, or the group exists.

        Groups without members and offsets are deleted to make room; others never are.
        """
        if group_id in self._groups or len(self._groups) < MOST_GROUPS:
            return ErrorCode.NONE
        unused = [group for group in self.groups() if self._is_unused(group)][:GROUPS_PER_EXPIRY]
        for group in unused:
            self._forget(group.group_id, (), with_group=True)
        if unused:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE  # the client tries again
        log.warning("There are %d groups, the maximum: no other group can be created", MOST_GROUPS)
        return if_full

    def _is_unused(self, group: Group | ConsumerGroup) -> bool:
        return group.is_unused and not self._offsets.partitions(group.group_id)

    def _check_commit(
        self,
        group_id: str,
        claim: MemberClaim,
        if_unknown: ErrorCode,
        *,
        transactional: bool,
        version: int = MEMBER_EPOCHS_SINCE,
    ) -> ErrorCode:
        group = self._groups.get(group_id)
        if len(group_id.encode()) > LONGEST_GROUP_ID:
            return ErrorCode.INVALID_GROUP_ID
        if group is not None:
            return group.check_commit(claim, transactional=transactional, version=version)
        return ErrorCode.NONE if claim.generation < 0 else if_unknown

    def _forget(
        self, group_id: str, partitions: Collection[TopicPartition], *, with_group: bool = False
    ) -> None:
        gone = self._deletion(group_id, partitions, with_group=with_group)
        tombstones = self._tombstones(group_id, partitions, with_group=with_group)
        self._journal.append(tombstones, lambda error: gone() if error is ErrorCode.NONE else None)

    def _deletion(
        self, group_id: str, partitions: Iterable[TopicPartition], *, with_group: bool = False
    ) -> Callable[[], None]:
        """The callback for when the tombstones that are appended next are durable."""
        position = self._journal.next_position

        def gone() -> None:
            self._offsets.delete(group_id, partitions, position)
            group = self._groups.get(group_id)
            # A member may have joined or committed meanwhile: then the group stays.
            if (
                with_group
                and group is not None
                and group.state is GroupState.EMPTY
                and not self._offsets.partitions(group_id)
            ):
                group.stop()
                del self._groups[group_id]

        return gone

    def _tombstones(
        self, group_id: str, partitions: Iterable[TopicPartition], *, with_group: bool = False
    ) -> Tombstones:
        tombstones: Tombstones = [(encode_offset_key(group_id, at), None) for at in partitions]
        if with_group:
            group = self._groups.get(group_id)
            if isinstance(group, ConsumerGroup):
                tombstones += group.tombstones()
            else:
                tombstones.append((encode_group_key(group_id), None))
        return tombstones

    async def _batch_of(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, CommittedOffset],
        producer: tuple[int, int] | None = None,
    ) -> bytearray:
        records = partial(_offset_records, group_id, offsets)
        return await self._journal.build(records, len(offsets), producer)

    async def _append(
        self,
        batch: bytearray,
        applied: Callable[[], None],
        failed: Callable[[], None] = lambda: None,
    ) -> ErrorCode:
        """Appends, and changes the state as soon as the batch is durable, even if the client is
        gone by then."""
        answer: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
        resolve = resolver(answer)

        def settled(error: ErrorCode) -> None:
            (applied if error is ErrorCode.NONE else failed)()
            resolve(error)

        self._journal.append_built(batch, settled)
        return await answer


def _offset_records(
    group_id: str, offsets: Mapping[TopicPartition, CommittedOffset]
) -> list[tuple[bytes, bytes | None]]:
    return [(encode_offset_key(group_id, at), encode_offset(o)) for at, o in offsets.items()]
