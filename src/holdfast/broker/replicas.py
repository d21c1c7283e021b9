"""Where replicas can be: on this broker, and nowhere else."""

from collections.abc import Sequence

from holdfast.broker.topics import TopicError
from holdfast.wire.protocol.errors import ErrorCode


def check_assignment(broker_ids: Sequence[int], node_id: int) -> None:
    """Refuses a partition's replicas unless there is one, and it is here."""
    if list(broker_ids) != [node_id]:
        raise TopicError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Replicas on brokers {list(broker_ids)} cannot be made: there is only broker "
            f"{node_id}.",
        )
