"""Waits for rest: everything taken, out, landed and read."""

import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from deltalake import DeltaTable
from tests.brokers import BrokerProcess
from tests.chaos.system.flows import ChaosFlow
from tests.chaos.system.history import Asked, History, State
from tests.chaos.system.outcome import Outcome
from tests.clients import committed

import holdfast
from holdfast.client.client import Client
from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.client.settings import ClientSettings
from holdfast.flows.names import FlowNames
from holdfast.flows.status import KeyState


class Rest:
    """Looks at the flows of a run. Nobody sends any more."""

    def __init__(
        self, broker: BrokerProcess, flows: Sequence[ChaosFlow], lake: Path, history: History
    ) -> None:
        self._broker = broker
        self._flows = flows
        self._lake = lake
        self._history = history
        self.missing: list[str] = []
        """Why the flows were not quiet at the last look."""

    def is_quiet(self) -> bool:
        """Every event is taken and landed, and none is held. Keys that still are, are released."""
        with holdfast.connect(self._broker.bootstrap) as client:
            self.missing = [what for flow in self._flows for what in self._missing(client, flow)]
        return not self.missing

    def _missing(self, client: Client, flow: ChaosFlow) -> list[str]:
        held = client.flow(flow.name).held()
        for status in held:
            paced = any(entry.pace for _, entry in status.entries)
            if status.state is KeyState.HELD or paced:
                self._release(client, flow, status.key)
        conditions = {
            f"{len(held)} keys of {flow.name} are held or drain": not held,
            f"{flow.name} has events that are not taken": self._is_taken(flow),
            f"{flow.name} has events that are not in the raw zone": self._is_landed(flow),
        }
        return [what for what, holds in conditions.items() if not holds]

    def _release(self, client: Client, flow: ChaosFlow, key: bytes) -> None:
        asked = Asked(flow.name, key, "release", str(uuid.uuid4()), time.monotonic())
        self._history.commands.append(asked)
        receipt = client.flow(flow.name).release(key, command_id=asked.id, actor="chaos")
        asked.state, asked.completed, asked.offset = State.OK, time.monotonic(), receipt.offset

    def _is_taken(self, flow: ChaosFlow) -> bool:
        names = FlowNames(flow.name)
        places = [Partition(names.events, p) for p in range(flow.partitions)]
        connection = Connection(ClientSettings(bootstrap=self._broker.bootstrap))
        return all(
            committed(self._broker, names.group, names.events, place.number) == end
            for place, end in Offsets(connection).ends(places).items()
        )

    def _is_landed(self, flow: ChaosFlow) -> bool:
        """All that is known to have been sent is in the raw zone."""
        location = str(self._lake / "raw" / flow.name)
        if not DeltaTable.is_deltatable(location):
            return False
        landed = DeltaTable(location).to_pyarrow_dataset().count_rows()
        sent = sum(s.flow == flow.name and s.state is State.OK for s in self._history.sends)
        return bool(landed >= sent)


def all_is_read(outcomes: Sequence[Outcome], history: History) -> bool:
    """The readers have come to the end of processed."""
    return all(
        {r.place for r in outcome.processed}
        <= {(poll.partition, poll.offset) for poll in history.polls[outcome.flow.name]}
        for outcome in outcomes
    )


def all_is_handled(outcome: Outcome, lines: Sequence[str]) -> bool:
    """The worker has handled all of it."""
    words = [line.split() for line in lines]
    handled = {(int(place[0]), int(place[1])) for _, what, *place in words if what == "handles"}
    return {r.place for r in outcome.processed} <= handled
