"""Appends to the group coordinator's log, with what is to happen once they are durable."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdfast.broker.log.errors import RecordsRejected, StorageFailed
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.state_log import StateLog

log = logging.getLogger(__name__)

Settled = Callable[[ErrorCode], None]
"""Told once: NONE when the records are durable, or why they never will be."""


class Journal:
    """Numbers the appends in log order. They settle in that order, never within `append`'s caller
    unless the log refuses them at once."""

    def __init__(self, state: "StateLog", next_position: int = 0) -> None:
        self._state = state
        self.next_position = next_position

    def append(
        self,
        records: Sequence[tuple[bytes, bytes | None]],
        settled: Settled,
        *,
        producer: tuple[int, int] | None = None,
    ) -> None:
        self.next_position += 1
        try:
            durable = self._state.append(records, producer=producer)
        except (StorageFailed, RecordsRejected) as error:
            settled(_code_of(error))
            return
        durable.add_done_callback(partial(_settle, settled))


def _settle(settled: Settled, durable: "asyncio.Future[None]") -> None:
    error = durable.exception()
    settled(ErrorCode.NONE if error is None else _code_of(error))


def _code_of(error: BaseException) -> ErrorCode:
    log.warning("Group state could not be written: %s", error)
    if isinstance(error, StorageFailed):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE  # clients try again
    return ErrorCode.UNKNOWN_SERVER_ERROR
