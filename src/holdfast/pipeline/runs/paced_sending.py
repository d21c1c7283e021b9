"""A replay from the driver, at a rate: a task that waits would keep the gate's cores."""

from time import monotonic

import pyarrow as pa
from pyspark.sql import DataFrame

from holdfast.client.connection import Connection
from holdfast.errors import HoldfastError
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.reached import PAUSE_S, Reached, rows_of
from holdfast.pipeline.runs.slice_tasks import portions
from holdfast.pipeline.runs.slices import Sending, SliceSender
from holdfast.pipeline.runs.windows import Window, Windows

_TURNS_PER_S = 4
_SAVED_UP_S = 2.0
"""What a run is late by, for example after a fetch, it makes up for; more is not."""


class PacedSending:
    """Sends windows from the driver."""

    def __init__(
        self, connection: Connection, execution: Execution, rows: DataFrame, rate: float
    ) -> None:
        self._connection = connection
        self._execution = execution
        self._rows = rows
        self._rate = rate
        self._senders: dict[int, SliceSender] = {}
        self._due = monotonic()

    def send(self, sending: Sending, state: Reached, windows: Windows) -> None:
        try:
            while (window := windows.take()) is not None:
                before = state.events
                self._send_window(sending, state, window)
                windows.learn(state.events - before)
                self._execution.reach(state.events)
        finally:
            for sender in self._senders.values():
                sender.close()

    def _send_window(self, sending: Sending, state: Reached, window: Window) -> None:
        rows = rows_of(self._rows, state.slices, window).sort("slice", "offset").toArrow()
        at_once = max(1, int(self._rate / _TURNS_PER_S))
        for number, table in portions(iter(rows.to_batches())):
            for start in range(0, table.num_rows, at_once):
                self._send_portion(sending, state, number, table.slice(start, at_once))

    def _send_portion(self, sending: Sending, state: Reached, number: int, rows: pa.Table) -> None:
        """Until it was sent. A new sender knows what of it was."""
        while True:
            try:
                if number not in self._senders:
                    self._senders[number] = SliceSender(
                        self._connection, sending, state.slices[number]
                    )
                    state.sent[number] = self._senders[number].sent
                before = state.sent[number].events
                self._wait_for_turn()
                state.sent[number] = self._senders[number].send(rows)
                self._due += (state.sent[number].events - before) / self._rate
                self._execution.reach(state.events)
                return
            except HoldfastError as error:
                sender = self._senders.pop(number, None)
                if sender is not None:
                    sender.close()
                if not error.transient:
                    raise
                self._execution.wait(PAUSE_S, f"It is tried again: {error}")

    def _wait_for_turn(self) -> None:
        now = monotonic()
        self._due = max(self._due, now - _SAVED_UP_S)
        if self._due > now:
            self._execution.wait(self._due - now)
