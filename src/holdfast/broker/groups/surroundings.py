"""What a group needs from the world, and what the world calls its states."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from holdfast.broker.groups.records import GroupRecord
from holdfast.broker.groups.roster import Cancellable
from holdfast.wire.protocol.errors import ErrorCode


class GroupState(Enum):
    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    """What is told of a group that does not exist."""


Stored = Callable[[ErrorCode], None]
"""Told once: NONE when the record is durable, or why it never will be."""
LeaveReply = Callable[[ErrorCode, list[ErrorCode]], None]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Time, timers and the log, given to every group."""

    clock: Callable[[], int]
    call_later: Callable[[float, Callable[[], None]], Cancellable]
    store: Callable[[str, GroupRecord, Stored], None]
    initial_rebalance_delay_ms: int = 0
