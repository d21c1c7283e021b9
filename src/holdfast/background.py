"""A thread that works in turns: its failures are visible, and it continues after them."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from holdfast.backoff import Backoff

log = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""After this time without a failure, the next failure counts as the first."""


class Background:
    """Calls `turn` on a thread, again and again, from `start` to `stop`.

    An exception is logged and shown in `failure` until a turn succeeds, and the next turn follows
    after a pause that doubles.
    """

    def __init__(
        self,
        name: str,
        turn: Callable[[], None],
        *,
        restart: Callable[[], None] = lambda: None,
        close: Callable[[], None] = lambda: None,
        first_pause: float = FIRST_PAUSE_SECONDS,
    ) -> None:
        """`restart` follows every failure and discards unfinished work. `close` comes last. All
        three run on the thread."""
        self.stopping = Event()
        self.failure = ""
        """The error of the last turn; empty if it succeeded."""
        self._turn = turn
        self._restart = restart
        self._close = close
        self._backoff = Backoff(first_pause, LONGEST_PAUSE_SECONDS, steady=STEADY_SECONDS)
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Stop after the present turn, and wait for its end, for up to `timeout` seconds."""
        self.stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._turn()
                self.failure = ""
            except Exception as error:
                pause = self._backoff.next()
                self._fail(error, pause)
                self.stopping.wait(pause)
        try:
            self._close()
        except Exception:
            log.exception("The thread %r did not end well", self._thread.name)

    def _fail(self, error: Exception, pause: float) -> None:
        failure = f"{self._thread.name}: {error or type(error).__name__}"
        if failure != self.failure:  # log a repeated error once
            log.error("%s. Tried again in %.1f s", failure, pause, exc_info=error)
        self.failure = failure
        try:
            self._restart()
        except Exception:
            log.exception("The thread %r could not begin again", self._thread.name)
