"""Which pipeline was started last.

A pipeline's flows are taken over one by one. Of two that start at the same time each may be the
later one in some of them; if both gave way, nobody would run. So each takes a ticket before its
first flow: an epoch of a transactional id that nobody writes with. Kafka numbers them, whatever
clocks say, and knows the last. Who has that one comes back when it loses a flow, and takes them
all; any other gives way.
"""

import logging
from threading import Lock
from time import monotonic, sleep
from typing import NoReturn

from holdfast.client.settings import ClientSettings
from holdfast.errors import StaleStateError, TransientError
from holdfast.pipeline.bulk.transactions import BulkTransactions
from holdfast.pipeline.exits import REPLACED, START_AGAIN, End, end_process

log = logging.getLogger(__name__)

TRANSACTIONAL_ID = "holdfast.pipeline"
_PAUSE = 0.1


class Ticket:
    """This process's. For any thread."""

    def __init__(self, settings: ClientSettings, *, end: End = end_process) -> None:
        self._epochs = BulkTransactions(settings, TRANSACTIONAL_ID, 0)
        self._seconds = settings.request_timeout
        self._end = end
        self._lock = Lock()
        self._taken = False

    def take(self) -> None:
        """Before a flow is taken. It stays the same for all of them.

        That somebody has a later one is no reason to go: they may never come to a flow. Who does
        takes it from us.
        """
        with self._lock:
            if not self._taken:
                self._epochs.renew()
                self._taken = True

    def end(self, code: int, why: str) -> NoReturn:
        """The way out for gates. One that lost a flow to a pipeline that was started before this
        one has come second there and first here: it starts again, and takes the flow back."""
        if code == REPLACED and self._may_be_last():
            why = f"{why} This one was started later, and starts again to take it back."
            self._end(START_AGAIN, why)
        self._end(code, why)

    def _may_be_last(self) -> bool:
        """What nobody can tell counts as that: one too many is better than none."""
        deadline = monotonic() + self._seconds
        with self._lock:
            while True:
                try:
                    self._epochs.confirm()
                except StaleStateError:
                    return False
                except TransientError as error:
                    if monotonic() < deadline:
                        sleep(_PAUSE)
                        continue
                    log.warning("Whether a later pipeline runs cannot be told: %s", error)
                except Exception:
                    log.exception("Whether a later pipeline runs cannot be told.")
                return True
