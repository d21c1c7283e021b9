"""Names that are derived from a flow's name."""

import re
from dataclasses import dataclass

from holdfast.errors import InvalidArgumentError

REGISTRY_TOPIC = "holdfast.flows"
"""The compacted topic with one record for each flow."""

_FLOW_NAME = re.compile(r"[a-z0-9-]{1,100}")


def check_flow_name(name: str) -> str:
    """Returns the name if it is valid: transactional ids and topics are built from it."""
    if not _FLOW_NAME.fullmatch(name):
        raise InvalidArgumentError(
            f"{name!r} cannot name a flow: take 1 to 100 of the characters a-z, 0-9 and '-'."
        )
    return name


@dataclass(frozen=True, slots=True)
class FlowNames:
    """Topics, group and transactional ids of one flow.

    >>> FlowNames("orders").control
    'orders.control'
    """

    flow: str
    topic: str = ""
    """The topic that a guard reads; empty: the flow has events of its own."""

    def __post_init__(self) -> None:
        check_flow_name(self.flow)

    @property
    def events(self) -> str:
        return self.topic or f"{self.flow}.events"

    @property
    def control(self) -> str:
        return f"{self.flow}.control"

    @property
    def journal(self) -> str:
        return f"{self.flow}.journal"

    @property
    def status(self) -> str:
        return f"{self.flow}.status"

    @property
    def held(self) -> str:
        return f"{self.flow}.held"

    @property
    def processed(self) -> str:
        return f"{self.flow}.processed"

    @property
    def dlq(self) -> str:
        return f"{self.flow}.dlq"

    @property
    def group(self) -> str:
        """The consumer group whose committed offsets are the gate's positions."""
        return f"holdfast.{self.flow}"

    @property
    def driver_transactional_id(self) -> str:
        return f"holdfast.{self.flow}.driver"

    def task_transactional_id(self, partition: int) -> str:
        return f"holdfast.{self.flow}.task.{partition}"

    def guard_transactional_id(self, partition: int) -> str:
        return f"holdfast.{self.flow}.{partition}"
