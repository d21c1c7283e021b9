"""Which dead letters were redriven, in memory."""

from holdfast.client.compacted_topic import FollowedTopic
from holdfast.client.connection import Connection
from holdfast.flows.redriven import REDRIVEN_TOPIC, decode_run, marks_prefix
from holdfast.flows.registry import FlowDefinition

MOST_MARKS = 200_000
"""Marks in memory, about 40 MB; the oldest are forgotten first."""


class RedrivenView(FollowedTopic):
    """Follows `holdfast.redriven` from `start` to `stop`."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, REDRIVEN_TOPIC, self._add)
        self._runs: dict[bytes, str] = {}

    def run_of(self, flow: FlowDefinition, letter: str) -> str:
        """The run that redrove a letter, by its coordinate; empty if none did."""
        with self.lock:
            return self._runs.get(marks_prefix(flow) + letter.encode(), "")

    def _add(self, key: bytes | None, value: bytes | None) -> None:
        if key is None:
            return
        self._runs.pop(key, None)
        if value is not None:
            self._runs[key] = decode_run(value)
        if len(self._runs) > MOST_MARKS:
            del self._runs[next(iter(self._runs))]
