"""Appends to the group coordinator's log, with a callback when they are durable."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from holdfast import faults
from holdfast.broker.log.errors import RecordsRejected, StorageFailed
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.state_log import Records, StateLog

log = logging.getLogger(__name__)

BUILT_ON_LOOP = 1_000
"""Maximum records of a batch that is built on the event loop. That takes 5 ms."""

Settled = Callable[[ErrorCode], None]
"""Called once: with NONE when the records are durable, or with the error if they never will be."""


class Journal:
    """Numbers the appends in log order. Their callbacks run in this order, and never within
    `append` unless the log refuses the records at once."""

    def __init__(self, state: "StateLog", next_position: int = 0) -> None:
        self._state = state
        self.next_position = next_position

    async def build(
        self, make_records: "Callable[[], Records]", count: int, producer: tuple[int, int] | None
    ) -> bytearray:
        """A batch for `append_built`. A large one is built on a thread, because that takes long."""
        if count <= BUILT_ON_LOOP:
            return self._state.build(make_records(), producer)
        return await asyncio.to_thread(lambda: self._state.build(make_records(), producer))

    def append(self, records: "Records", settled: Settled) -> None:
        self.append_built(self._state.build(records), settled)

    def append_built(self, batch: bytearray, settled: Settled) -> None:
        self.next_position += 1
        faults.reach("group-state-built")
        try:
            durable = self._state.append_built(batch)
            faults.reach("group-state-appended")
        except (StorageFailed, RecordsRejected) as error:
            settled(_code_of(error))
            return
        durable.add_done_callback(partial(_settle, settled))


def _settle(settled: Settled, durable: "asyncio.Future[None]") -> None:
    error = durable.exception()
    faults.reach("group-state-durable")
    settled(ErrorCode.NONE if error is None else _code_of(error))


def _code_of(error: BaseException) -> ErrorCode:
    log.warning("Group state could not be written: %s", error)
    if isinstance(error, StorageFailed):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE  # clients try again
    return ErrorCode.UNKNOWN_SERVER_ERROR
