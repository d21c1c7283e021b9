"""Named points of a step at which a test stops a process, to see what a crash right there does.

`HOLDFAST_FAULT=<point>@<n>=<file>`: when the process comes to the point for the n-th time, it makes
the file, with its process id, and stays there until the file is emptied. Who waits for the file may
kill the process meanwhile, stop it, or start another. Processes that come to the point later, such
as a task's second attempt, pass it once the file is empty. Unset, a point costs a comparison.
"""

import os
import time
from pathlib import Path

VARIABLE = "HOLDFAST_FAULT"

_POLL_SECONDS = 0.01


class _Fault:
    """The one point that is armed."""

    __slots__ = ("_file", "_left", "_point")

    def __init__(self, text: str) -> None:
        place, _, file = text.partition("=")
        self._point, _, count = place.partition("@")
        self._left = int(count or 1)
        self._file = Path(file)

    def reach(self, point: str) -> None:
        if point != self._point:
            return
        self._left -= 1
        if self._left == 0 and not self._is_over():
            self._file.write_text(str(os.getpid()))
            while not self._is_over():
                time.sleep(_POLL_SECONDS)

    def _is_over(self) -> bool:
        return self._file.exists() and self._file.stat().st_size == 0


_prefix = ""


def name_points(prefix: str) -> None:
    """Points of this process have other names from now on: a task's are not the driver's."""
    global _prefix  # noqa: PLW0603  # what the process is, it is for good
    _prefix = prefix


_armed = _Fault(os.environ[VARIABLE]) if VARIABLE in os.environ else None


def reach(point: str) -> None:
    """The process is at this point."""
    if _armed is not None:
        _armed.reach(_prefix + point)
