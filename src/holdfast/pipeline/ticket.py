"""Which pipeline was started last.

A pipeline's flows are taken over one by one. Of two that start at the same time each may be the
later one in some of them; if both gave way, nobody would run. So each takes a ticket before it
takes a flow: an epoch of a transactional id that nobody writes with. Kafka numbers them, whatever
clocks say, and knows the last. Who has that one comes back, and takes all flows; any other gives
way.
"""

import logging
from threading import Lock
from typing import NoReturn

from holdfast.client.settings import ClientSettings
from holdfast.errors import StaleStateError, TransientError
from holdfast.pipeline.bulk.transactions import BulkTransactions
from holdfast.pipeline.exits import REPLACED, START_AGAIN, End, end_process

log = logging.getLogger(__name__)

TRANSACTIONAL_ID = "holdfast.pipeline"


class Ticket:
    """This process's. For any thread."""

    def __init__(self, settings: ClientSettings, *, end: End = end_process) -> None:
        self._epochs = BulkTransactions(settings, TRANSACTIONAL_ID, 0)
        self._end = end
        self._lock = Lock()
        self.taken = False

    def take(self) -> bool:
        """-> whether there is one: no broker may be there yet"""
        with self._lock:
            if not self.taken:
                try:
                    self._epochs.renew()
                    self.taken = True
                except TransientError as error:
                    log.debug("No ticket yet: %s", error)
            return self.taken

    def check(self) -> None:
        """End as replaced if a later pipeline has started, before anything is taken from it."""
        if not self._may_be_last():
            self._end(REPLACED, "Another pipeline was started after this one.")

    def end(self, code: int, why: str) -> NoReturn:
        """The way out for gates. One that lost a flow to a pipeline that was started before this
        one has come second there and first here: it starts again, and takes the flow back."""
        if code == REPLACED and self._may_be_last():
            why = f"{why} That one was started before this one, which starts again to follow it."
            self._end(START_AGAIN, why)
        self._end(code, why)

    def _may_be_last(self) -> bool:
        """What nobody can tell now counts as that."""
        with self._lock:
            try:
                self._epochs.confirm()
            except StaleStateError:
                return False
            except TransientError as error:
                log.warning("Whether a later pipeline runs cannot be told: %s", error)
            return True
