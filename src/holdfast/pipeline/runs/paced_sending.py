"""A replay from the driver, at a rate: a task that waits would keep the gate's cores."""

from dataclasses import dataclass, field
from time import monotonic

import pyarrow as pa

from holdfast.errors import HoldfastError
from holdfast.pipeline.runs.replay_progress import PAUSE_SECONDS, Sending, rows_of
from holdfast.pipeline.runs.slice_tasks import slice_transactions
from holdfast.pipeline.runs.slices import SliceSender
from holdfast.pipeline.runs.windows import Window

_TURNS_PER_SECOND = 4
_SAVED_UP_SECONDS = 2.0
"""A run that is late, for example after a fetch, catches up by at most this much."""


@dataclass(slots=True)
class PacedSending(Sending):
    """Sends windows from the driver."""

    rate: float
    _senders: dict[int, SliceSender] = field(default_factory=dict)
    _due: float = field(default_factory=monotonic)

    def close(self) -> None:
        for sender in self._senders.values():
            sender.close()

    def send(self, window: Window) -> None:
        rows = rows_of(self.rows, self.state.slices, window).sort("slice", "offset").toArrow()
        at_once = max(1, int(self.rate / _TURNS_PER_SECOND))
        for number, table in slice_transactions(rows.to_batches()):
            for start in range(0, table.num_rows, at_once):
                self._send_rows(number, table.slice(start, at_once))

    def _send_rows(self, number: int, rows: pa.Table) -> None:
        """Retry until the rows are sent. A new sender knows which rows were sent."""
        state = self.state
        while True:
            try:
                if number not in self._senders:
                    self._senders[number] = SliceSender(
                        self.connection, self.options, state.slices[number]
                    )
                    state.sent[number] = self._senders[number].sent
                before = state.sent[number].events
                self._wait_for_turn()
                state.sent[number] = self._senders[number].send(rows)
                self._due += (state.sent[number].events - before) / self.rate
                self.execution.reach(state.events)
                return
            except HoldfastError as error:
                sender = self._senders.pop(number, None)
                if sender is not None:
                    sender.close()
                if not error.transient:
                    raise
                self.execution.wait(PAUSE_SECONDS, f"It is tried again: {error}")

    def _wait_for_turn(self) -> None:
        now = monotonic()
        self._due = max(self._due, now - _SAVED_UP_SECONDS)
        if self._due > now:
            self.execution.wait(self._due - now)
