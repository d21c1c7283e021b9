"""Named points of a step at which a test can pause a process, to see what a crash there does.

`HOLDFAST_FAULT=<point>@<n>=<file>`: when the process reaches the point for the n-th time, it writes
its process id to the file and waits until the file is emptied. A test that waits for the file may
kill or stop the process meanwhile, or start another. Processes that reach the point later, such as
a task's second attempt, pass it once the file is empty. Without the variable, a point costs one
comparison.
"""

import os
import time
from pathlib import Path

VARIABLE = "HOLDFAST_FAULT"

_POLL_SECONDS = 0.01


class _Fault:
    """The armed point."""

    __slots__ = ("_file", "_left", "_point")

    def __init__(self, text: str) -> None:
        trigger, _, file = text.partition("=")
        self._point, _, count = trigger.partition("@")
        self._left = int(count or 1)
        self._file = Path(file)

    def reach(self, point: str) -> None:
        if point != self._point:
            return
        self._left -= 1
        if self._left == 0 and not self._is_over():
            self._announce()
            while not self._is_over():
                time.sleep(_POLL_SECONDS)

    def _announce(self) -> None:
        # In one piece: to a process that waits here already, a moment of emptiness means to go on.
        written = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        written.write_text(str(os.getpid()))
        written.replace(self._file)

    def _is_over(self) -> bool:
        return self._file.exists() and self._file.stat().st_size == 0


_prefix = ""


def name_points(prefix: str) -> None:
    """Prefix the names of this process's points: a task has other points than the driver."""
    global _prefix  # noqa: PLW0603  # set once per process
    _prefix = prefix


_armed = _Fault(os.environ[VARIABLE]) if VARIABLE in os.environ else None


def reach(point: str) -> None:
    """Pause here if this point is armed."""
    if _armed is not None:
        _armed.reach(_prefix + point)
