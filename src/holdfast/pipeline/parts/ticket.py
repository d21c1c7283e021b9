"""Which pipeline was started last, and the exit codes of a pipeline that loses a flow.

A pipeline takes over flows one by one. If two pipelines start at the same time, each may take some
flows from the other; if both gave way, none would run. So each takes a ticket before its first
flow: an epoch of a transactional id that no one writes with. Kafka numbers these epochs without
any clock, and knows the last. When the holder of the last ticket loses a flow, it restarts and
takes all flows; any other pipeline gives way.
"""

import logging
import os
from collections.abc import Callable
from threading import Lock
from time import monotonic, sleep
from typing import NoReturn

from holdfast.client.settings import ClientSettings
from holdfast.errors import StaleStateError, TransientError
from holdfast.kafka.producer import TransactionalProducer

log = logging.getLogger(__name__)

REPLACED = 3
"""Exit code: another pipeline has replaced this one. Do not start this one again."""
START_AGAIN = 4
"""Exit code: the group membership was lost, and another process may have acted meanwhile. Start
again, so that all state is read from Kafka."""
TRANSACTIONAL_ID = "holdfast.pipeline"
_PAUSE_SECONDS = 0.1

End = Callable[[int, str], NoReturn]
"""Ends the process with an exit code, and logs why."""


def end_process(code: int, why: str) -> NoReturn:
    """Exit at once, from any thread: nothing may be sent after this call.

    There is no clean-up on purpose: closing a client would send requests in the name of an owner
    that this process no longer is.
    """
    log.critical("%s (exit code %d)", why, code)
    for handler in logging.getLogger().handlers:
        handler.flush()
    os._exit(code)


class Ticket:
    """The ticket of this process. Thread-safe."""

    def __init__(self, settings: ClientSettings, *, end: End = end_process) -> None:
        self._epochs = TransactionalProducer(settings, TRANSACTIONAL_ID, 0)
        self._seconds = settings.request_timeout
        self._end = end
        self._lock = Lock()
        self._taken = False

    def take(self) -> None:
        """Take the ticket, before the first flow. It stays the same for all flows.

        A later ticket alone is no reason to exit: its holder may fail before it takes over a flow.
        If it does take one, this process loses that flow and calls `end`.
        """
        with self._lock:
            if not self._taken:
                self._epochs.renew()
                self._taken = True

    def end(self, code: int, why: str) -> NoReturn:
        """Exit the process, for gates. If this process lost a flow to a pipeline that was started
        earlier, it starts again and takes the flow back."""
        if code == REPLACED and self._may_be_last():
            why = f"{why} This pipeline was started later, and starts again to take the flow back."
            self._end(START_AGAIN, why)
        self._end(code, why)

    def _may_be_last(self) -> bool:
        """Returns True unless a later ticket is known: two pipelines are better than none."""
        deadline = monotonic() + self._seconds
        with self._lock:
            while True:
                try:
                    self._epochs.confirm()
                except StaleStateError:
                    return False
                except TransientError as error:
                    if monotonic() < deadline:
                        sleep(_PAUSE_SECONDS)
                        continue
                    log.warning("Cannot find out if a later pipeline runs: %s", error)
                except Exception:
                    log.exception("Cannot find out if a later pipeline runs.")
                return True
