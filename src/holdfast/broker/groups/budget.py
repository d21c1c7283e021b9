"""Limits of the group coordinator's memory: each kind of state has one, in number or in bytes.

A request above a limit gets an error. Existing members and committed offsets are never removed to
make room.
"""

from dataclasses import dataclass
from typing import Protocol

from holdfast.broker.groups.requests import Offer
from holdfast.wire.protocol.errors import ErrorCode

MIB = 1024 * 1024

MOST_GROUPS = 10_000
LONGEST_GROUP_ID = 4_096
"""In bytes."""
LARGEST_GROUP = 1_000
"""Members, and clients that got an id to join with. A member costs memory and a part of every
group record, and a client in a loop must not use all of it."""
MOST_MEMBERS = 20_000
"""Maximum of all groups."""

MEMBER_BYTES = 2 * MIB
"""Subscription and names of one member. A subscription to 10,000 partitions has about 0.5 MiB."""
GROUP_BYTES = 32 * MIB
"""Members of one group with their assignments: also the size of the group's record in the log."""
ALL_BYTES = 128 * MIB
"""Members of all groups, without small ones."""
SMALL_MEMBER_BYTES = 16 * 1024
"""A member up to this size is accepted even if large members have used up `ALL_BYTES`."""

GROUP_OFFSET_BYTES = 64 * MIB
"""Committed offsets of one group: about 200,000 without metadata."""
ALL_OFFSET_BYTES = 256 * MIB

_OF_A_MEMBER = 1_024
_OF_AN_OFFER = 128


class Weighable(Protocol):
    @property
    def member_id(self) -> str: ...
    @property
    def client_id(self) -> str: ...
    @property
    def instance_id(self) -> str | None: ...
    @property
    def offers(self) -> tuple[Offer, ...]: ...


@dataclass(slots=True)
class Budget:
    """Present use of memory by the members of all groups."""

    members: int = 0
    """Includes clients that got an id to join with."""
    bytes: int = 0

    def has_room(self, members_of_group: int) -> bool:
        """Returns True if a group of this size may have another member."""
        return members_of_group < LARGEST_GROUP and self.members < MOST_MEMBERS

    def check_bytes(self, size: int, group_bytes: int, replaced_bytes: int) -> ErrorCode:
        """Returns NONE if there is room for a member of `size` bytes.

        `replaced_bytes`: bytes that are counted for it already; 0 for a new member.
        """
        if size > MEMBER_BYTES:
            return ErrorCode.INVALID_REQUEST
        growth = size - replaced_bytes
        if growth > 0 and group_bytes + growth > GROUP_BYTES:
            return ErrorCode.GROUP_MAX_SIZE_REACHED
        is_small = size <= SMALL_MEMBER_BYTES
        if growth > 0 and not is_small and self.bytes + growth > ALL_BYTES:
            return ErrorCode.GROUP_MAX_SIZE_REACHED
        return ErrorCode.NONE


def weight_of(member: Weighable, assignment: bytes = b"") -> int:
    """Bytes that are counted for a member, or for a request to join."""
    names = len(member.client_id) + len(member.member_id) + len(member.instance_id or "")
    offers = sum(_OF_AN_OFFER + len(o.protocol) + len(o.metadata) for o in member.offers)
    return _OF_A_MEMBER + names + offers + len(assignment)
