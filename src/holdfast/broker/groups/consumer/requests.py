"""Heartbeats of members, their checks and replies, independent of protocol versions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.broker.groups.consumer.assignment import Assignment
from holdfast.broker.groups.consumer.assignors import ASSIGNORS
from holdfast.broker.groups.consumer.member import AWAY, LEFT
from holdfast.broker.groups.consumer.patterns import BadPattern, Pattern
from holdfast.wire.protocol.errors import ErrorCode

LONGEST_MEMBER_ID = 36 * 8
"""Clients send a UUID of 36 characters. Ids are in every record and reply."""
LONGEST_NAME = 4_096
"""Of an instance id or a rack."""


class Refused(Exception):
    """The request is refused. Nothing has changed."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerHeartbeat:
    """A heartbeat. None and -1 mean that a value has not changed."""

    member_id: str
    epoch: int
    """0: it joins; -1: it leaves; -2: a static member stops and will be back."""
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topics: Sequence[str] | None = None
    pattern: str | None = None
    assignor: str | None = None
    owned: Assignment | None = None
    client_id: str = ""
    client_host: str = ""
    must_have_id: bool = True
    """The client makes its member id (version 1 and later)."""
    may_see: Callable[[str], bool] | None = None
    """Returns True for topics that the client may know of; None if it may know of all."""

    @property
    def is_full(self) -> bool:
        """Returns True if the member repeats everything, as it does after an error."""
        return self.epoch == 0 or (
            self.rebalance_timeout_ms != -1
            and (self.topics is not None or self.pattern is not None)
            and self.owned is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatReply:
    """The reply to a heartbeat."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    member_id: str | None = None
    epoch: int = 0
    assignment: Assignment | None = None
    """None if it has not changed."""


Reply = Callable[[HeartbeatReply], None]


def check_heartbeat(request: ConsumerHeartbeat) -> None:
    """Raises Refused for a request that no group can accept."""
    for name, value in (
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
        ("MemberId", request.member_id),
    ):
        is_needed = name != "MemberId" or request.must_have_id or request.epoch != 0
        if value is not None and is_needed and not value.strip():
            raise _invalid(f"{name} can't be empty.")
        if value is not None and len(value) > LONGEST_NAME:
            raise _invalid(f"{name} has more than {LONGEST_NAME} characters.")
    if len(request.member_id) > LONGEST_MEMBER_ID:
        raise _invalid(f"MemberId has more than {LONGEST_MEMBER_ID} characters.")
    if request.epoch == 0:
        _check_first(request)
    elif request.epoch == AWAY and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif request.epoch < AWAY:
        raise _invalid(f"MemberEpoch is invalid. {request.epoch} has no meaning.")
    if request.assignor is not None and request.assignor not in ASSIGNORS:
        raise Refused(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.assignor} is not supported. Supported assignors: "
            f"{', '.join(ASSIGNORS)}.",
        )
    if request.pattern and request.epoch not in (LEFT, AWAY):
        try:
            Pattern(request.pattern)
        except BadPattern as error:
            raise Refused(
                ErrorCode.INVALID_REGULAR_EXPRESSION,
                f"SubscribedTopicRegex `{request.pattern[:200]}` is not a valid regular "
                f"expression: {error}.",
            ) from None


def _check_first(request: ConsumerHeartbeat) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.owned is None or request.owned:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if not request.topics and not request.pattern:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
            "(re-)joining."
        )


def _invalid(message: str) -> Refused:
    return Refused(ErrorCode.INVALID_REQUEST, message)
