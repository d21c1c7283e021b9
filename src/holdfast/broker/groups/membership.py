"""The groups of this broker, and the requests of their members in both protocols."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from holdfast.broker.groups.budget import LONGEST_GROUP_ID, Budget
from holdfast.broker.groups.consumer import classic_members
from holdfast.broker.groups.consumer.conversion import to_classic_record, to_consumer_group
from holdfast.broker.groups.consumer.group import ConsumerGroup, ConsumerRuntime
from holdfast.broker.groups.consumer.requests import (
    ConsumerHeartbeat,
    HeartbeatReply,
    Refused,
    check_heartbeat,
)
from holdfast.broker.groups.consumer.subscriptions import Compute, KnownTopics
from holdfast.broker.groups.consumer_protocol import Unreadable
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.group_settings import GroupSettings
from holdfast.broker.groups.journal import Journal
from holdfast.broker.groups.rebalance import GroupRuntime, Stored
from holdfast.broker.groups.records import GroupRecord, encode_group, encode_group_key
from holdfast.broker.groups.requests import (
    NO_MEMBER_ID,
    Join,
    Joined,
    Leaver,
    MemberClaim,
    Sync,
    Synced,
)
from holdfast.broker.patience import CallLater
from holdfast.broker.settings import BrokerSettings
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.groups.loading import LoadedState

T = TypeVar("T")


class Left(NamedTuple):
    """The reply to a request to leave."""

    error: ErrorCode
    members: list[ErrorCode]
    """One per member that was to leave."""


class Membership:
    """All groups by id. A group has one protocol at a time, and may change it while it lives."""

    def __init__(
        self,
        journal: Journal,
        settings: BrokerSettings,
        clock: Callable[[], int],
        call_later: CallLater,
        topics: KnownTopics,
        compute: Compute,
    ) -> None:
        self._settings = settings
        self.settings = GroupSettings(settings)
        self._clock = clock
        self._journal = journal
        self._groups: dict[str, Group | ConsumerGroup] = {}
        self._is_closed = False
        budget = Budget()
        self._runtime = GroupRuntime(
            clock,
            call_later,
            self._store_group,
            settings.group_initial_rebalance_delay_ms,
            budget,
        )
        self._consumer_runtime = ConsumerRuntime(
            clock,
            call_later,
            journal.append,
            topics,
            compute,
            self.settings,
            self._downgrade,
            budget,
        )

    def restore(self, loaded: "LoadedState") -> None:
        for group_id, record in loaded.groups.items():
            self._groups[group_id] = Group.restored(group_id, record, self._runtime)
        for group_id, parts in loaded.consumer_groups.items():
            runtime = self._consumer_runtime
            self._groups[group_id] = ConsumerGroup.restored(group_id, parts, runtime)

    def close(self) -> None:
        """Replies to all waiting requests, and refuses new ones. Clients search for the
        coordinator until it is back, and then find their groups unchanged."""
        self._is_closed = True
        for group in self._groups.values():
            group.stop()

    def groups(self) -> list[Group | ConsumerGroup]:
        return list(self._groups.values())

    def get(self, group_id: str) -> Group | ConsumerGroup | None:
        return self._groups.get(group_id)

    # the classic protocol

    async def join(self, group_id: str, join: Join) -> Joined:
        """Waits until the rebalance has its members."""
        group = self._groups.get(group_id)
        error = self._check_join(group_id, join)
        if error is ErrorCode.NONE and group is None and join.member_id != NO_MEMBER_ID:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        if error is ErrorCode.NONE:
            error = self._check_room(group_id, ErrorCode.GROUP_MAX_SIZE_REACHED)
        if error is not ErrorCode.NONE:
            return Joined(error=error, member_id=join.member_id)
        answer: asyncio.Future[Joined] = asyncio.get_running_loop().create_future()
        if isinstance(group, ConsumerGroup) and group.members:
            classic_members.join(group, join, resolver(answer))
        else:
            self._classic_group(group_id).join(join, resolver(answer))
        return await answer

    async def sync(self, group_id: str, sync: Sync) -> Synced:
        """Waits until the leader's assignment is durable."""
        group, error = self._find(group_id)
        if group is None:
            return Synced(error=error)
        answer: asyncio.Future[Synced] = asyncio.get_running_loop().create_future()
        if isinstance(group, ConsumerGroup):
            classic_members.sync(group, sync, resolver(answer))
        else:
            group.sync(sync, resolver(answer))
        del sync  # free the request while it waits for the leader
        return await answer

    def heartbeat(self, group_id: str, claim: MemberClaim) -> ErrorCode:
        group, error = self._find(group_id)
        if group is None:
            return error
        if isinstance(group, ConsumerGroup):
            return classic_members.heartbeat(group, claim)
        return group.heartbeat(claim)

    async def leave(self, group_id: str, leavers: Sequence[Leaver]) -> Left:
        group, error = self._find(group_id)
        if group is None:
            if error is ErrorCode.UNKNOWN_MEMBER_ID:
                return Left(ErrorCode.NONE, [error] * len(leavers))
            return Left(error, [])
        answer: asyncio.Future[Left] = asyncio.get_running_loop().create_future()
        resolve = resolver(answer)

        def reply(error: ErrorCode, members: list[ErrorCode]) -> None:
            resolve(Left(error, members))

        if isinstance(group, ConsumerGroup):
            classic_members.leave(group, leavers, reply)
        else:
            group.leave(leavers, reply)
        return await answer

    # the consumer protocol

    async def consumer_heartbeat(self, group_id: str, request: ConsumerHeartbeat) -> HeartbeatReply:
        """Waits until the change that the heartbeat makes is durable."""
        try:
            group = self._consumer_group(group_id, request)
        except Refused as refusal:
            return HeartbeatReply(error=refusal.error, message=refusal.message)
        answer: asyncio.Future[HeartbeatReply] = asyncio.get_running_loop().create_future()
        group.heartbeat(request, resolver(answer))
        return await answer

    def _consumer_group(self, group_id: str, request: ConsumerHeartbeat) -> ConsumerGroup:
        """The group of a heartbeat. The first member creates or converts it; raises Refused."""
        if not group_id.strip():
            raise Refused(ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")
        check_heartbeat(request)
        if self._is_closed:
            raise Refused(ErrorCode.COORDINATOR_NOT_AVAILABLE, "The broker is stopping.")
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
        if request.epoch != 0:
            what = "not found" if group is None else "is not a consumer group"
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}.")
        if len(group_id.encode()) > LONGEST_GROUP_ID:
            raise Refused(ErrorCode.INVALID_GROUP_ID, "The group id is too long.")
        error = self._check_room(group_id, ErrorCode.GROUP_MAX_SIZE_REACHED)
        if error is not ErrorCode.NONE:
            raise Refused(error, "There is no room for another group.")
        try:
            converted = to_consumer_group(group, group_id, self._consumer_runtime)
        except Unreadable as error_in_group:
            raise Refused(
                ErrorCode.GROUP_ID_NOT_FOUND,
                f"Group {group_id} cannot become a consumer group: {error_in_group}.",
            ) from None
        self._groups[group_id] = converted
        return converted

    def _downgrade(self, group: ConsumerGroup, then: Stored) -> None:
        """Makes a classic group of a consumer group whose last consumer member is gone."""
        record = to_classic_record(group, self._clock())
        tombstones = group.tombstones()
        tombstones += group.storage.deletions()
        group.retire()
        classic = Group.restored(group.group_id, record, self._runtime)
        self._groups[group.group_id] = classic
        value = (encode_group_key(group.group_id), encode_group(record))
        self._journal.append([*tombstones, value], then)
        classic.rebalance()

    # inside

    def _classic_group(self, group_id: str) -> Group:
        """The classic group. It replaces a consumer group without members."""
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            group.retire()
            del self._groups[group_id]
            tombstones = group.tombstones() + group.storage.deletions()
            self._journal.append(tombstones, lambda error: None)
            group = None
        return group or self._new_group(group_id)

    def _new_group(self, group_id: str) -> Group:
        group = self._groups[group_id] = Group(group_id, self._runtime)
        return group

    def _group(self, group_id: str) -> None:
        """Creates a group for offsets, if there is none."""
        if group_id not in self._groups:
            self._new_group(group_id)

    def _find(self, group_id: str) -> tuple[Group | ConsumerGroup | None, ErrorCode]:
        """The group, or the error for a request of its member."""
        if not group_id:
            return None, ErrorCode.INVALID_GROUP_ID
        if self._is_closed:
            return None, ErrorCode.COORDINATOR_NOT_AVAILABLE
        return self._groups.get(group_id), ErrorCode.UNKNOWN_MEMBER_ID

    def _check_join(self, group_id: str, join: Join) -> ErrorCode:
        if not group_id or len(group_id.encode()) > LONGEST_GROUP_ID:
            return ErrorCode.INVALID_GROUP_ID
        if self._is_closed:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        shortest = self._settings.group_min_session_timeout_ms
        if not shortest <= join.session_timeout_ms <= self._settings.group_max_session_timeout_ms:
            return ErrorCode.INVALID_SESSION_TIMEOUT
        return ErrorCode.NONE

    def _check_room(self, group_id: str, if_full: ErrorCode) -> ErrorCode:
        """Returns NONE if there is room for a new group, or the group exists."""
        raise NotImplementedError

    def _store_group(self, group_id: str, record: GroupRecord, stored: Stored) -> None:
        self._journal.append([(encode_group_key(group_id), encode_group(record))], stored)


def resolver(answer: "asyncio.Future[T]") -> Callable[[T], None]:
    def resolve(result: T) -> None:
        if not answer.done():  # the client's connection may be gone
            answer.set_result(result)

    return resolve
