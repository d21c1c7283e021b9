"""Which flows there are, as the compacted topic `holdfast.flows` changes."""

from collections.abc import Mapping

from holdfast.client.connection import Connection
from holdfast.client.table import Table
from holdfast.flows.names import REGISTRY_TOPIC
from holdfast.flows.registry import FlowDefinition, decode_flow


class FlowRegistry:
    """Follows the registry. For one thread. A flow whose record cannot be read stays as it was."""

    def __init__(self, connection: Connection) -> None:
        self._flows: dict[str, FlowDefinition] = {}
        self._table = Table(connection, REGISTRY_TOPIC, self._take)

    @property
    def flows(self) -> Mapping[str, FlowDefinition]:
        return self._flows

    @property
    def complete(self) -> bool:
        """Whether it was read to its end at least once, so that flows that are not in it are not
        registered. True too as long as there is no registry."""
        return self._table.complete

    def poll(self, timeout: float) -> None:
        """Take in what comes within so many seconds; returns soon after something did."""
        self._table.poll(timeout)

    def close(self) -> None:
        self._table.close()

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        if value is None:
            self._flows.pop((key or b"").decode(errors="replace"), None)
        else:
            flow = decode_flow(key, value)
            self._flows[flow.name] = flow
