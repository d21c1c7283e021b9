"""Exit codes by which the pipeline tells its supervisor what to do, and the way out."""

import logging
import os
from collections.abc import Callable
from typing import NoReturn

REPLACED = 3
"""Another pipeline has taken this one's place: do not start this one again."""
START_AGAIN = 4
"""The place in the group was lost, and nobody knows who acted meanwhile: start again, so that all
state is read anew."""

End = Callable[[int, str], NoReturn]
"""Ends the process with that code, and says why."""

log = logging.getLogger(__name__)


def end_process(code: int, why: str) -> NoReturn:
    """End at once, from whatever thread: nothing may be sent after this line.

    No clean-up on purpose: closing a client would talk to the broker as someone we are no more.
    """
    log.critical("%s (exit code %d)", why, code)
    for handler in logging.getLogger().handlers:
        handler.flush()
    os._exit(code)
