"""The registered flows, from the compacted topic `holdfast.flows`."""

from holdfast.client.compacted_topic import CompactedTopic, read_topic
from holdfast.client.connection import Connection
from holdfast.flows.names import REGISTRY_TOPIC
from holdfast.flows.registry import FlowDefinition, decode_flow


class FlowRegistry(CompactedTopic):
    """Follows the registry. A flow whose record cannot be read stays as it was."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, REGISTRY_TOPIC, self.apply)
        self.flows: dict[str, FlowDefinition] = {}

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        if value is None:
            self.flows.pop((key or b"").decode(errors="replace"), None)
        else:
            flow = decode_flow(key, value)
            self.flows[flow.name] = flow


def list_flows(connection: Connection) -> list[FlowDefinition]:
    """All registered flows, by name. Raises InvalidRecordError if a record cannot be read."""
    registry = FlowRegistry(connection)
    for record in read_topic(connection, REGISTRY_TOPIC, missing_ok=True):
        registry.apply(record.key, record.value)
    return sorted(registry.flows.values(), key=lambda flow: flow.name)
