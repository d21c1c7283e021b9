"""The meaning of Kafka's error codes to a transactional writer."""

from typing import NamedTuple

from confluent_kafka import KafkaError

from holdfast.client.kafka_errors import translate
from holdfast.clock import now_ms, utc_text
from holdfast.errors import (
    FencedError,
    GateStoppedError,
    HoldfastError,
    RecordTooLargeError,
    StaleStateError,
    TransientError,
)

TRANSACTION_TIMEOUT_MS = 90_000


class Refused(NamedTuple):
    """A record that was refused for its size."""

    topic: str
    key: bytes | None
    value: bytes | None


class ReplacedError(FencedError):
    """A newer pipeline has joined the group in this one's place. This process must end."""


class MembershipLostError(TransientError):
    """The group does not know this member any more. The process must start again."""


class ClocksDifferError(GateStoppedError):
    """The broker refuses the time on the gate's own records."""

    def __init__(self, wall: int) -> None:
        super().__init__(
            f"The gate has stopped: the broker refuses its timestamps. The pipeline's clock says "
            f"{utc_text(wall)}; the broker's clock is behind that by more than "
            "message.timestamp.after.max.ms of the flow's topics allows, which is an hour unless "
            "it was set. Set both clocks right. Or set message.timestamp.type=LogAppendTime on the "
            "flow's journal and status: then the broker puts its own time on their records."
        )


# A producer is fenced by a newer one of its id: by the broker after a transaction's time-out, or by
# another process, which then is in the group too, and the group decides which of the two goes on.
_COMPARE_AGAIN = (
    KafkaError.ILLEGAL_GENERATION,
    KafkaError._FENCED,
    KafkaError._FATAL,  # `produce` says this of a producer that has failed, for example been fenced
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,  # the coordinator has forgotten an id that was idle
    KafkaError.INVALID_TXN_STATE,
    KafkaError._STATE,
)
SIZE_ERRORS = (
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_MSG_SIZE,
)


def explained(error: KafkaError, doing: str) -> HoldfastError:
    """The error as a step handles it. By code: librdkafka calls these abortable, but no abort
    helps."""
    code = error.code()
    if code in SIZE_ERRORS:
        return RecordTooLargeError(f"{doing} failed: a record is larger than its topic takes.")
    if code == KafkaError.INVALID_TIMESTAMP:
        return ClocksDifferError(now_ms())
    if code == KafkaError.FENCED_INSTANCE_ID:
        return ReplacedError("Another pipeline runs this flow now. This one must end.")
    if code == KafkaError.UNKNOWN_MEMBER_ID:
        return MembershipLostError(f"{doing} failed: the group has forgotten this process.")
    if code in _COMPARE_AGAIN:
        return StaleStateError(f"{doing} failed: {error.str()}. Compare again.")
    return translate(error, doing)
