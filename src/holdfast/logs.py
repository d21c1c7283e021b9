"""Log lines on standard error: one line per event, with a rate limit per log statement.

Lines may contain text from clients (names, ids, messages), so control characters are escaped: a
client can neither forge a line nor colour a terminal. A client could also cause a line with every
request, so each log statement writes at most `LINES_PER_SECOND` and then reports how many it left
out.
"""

import json
import logging
import sys
import time
from collections.abc import Callable
from typing import Literal

LINES_PER_SECOND = 20
"""Limit of one log statement: enough to see what happens, too few to fill a disk."""

_ESCAPED = {n: f"\\x{n:02x}" for n in (*range(32), *range(127, 160))} | {
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
}


def log_to_stderr(level: int = logging.INFO, form: Literal["text", "json"] = "text") -> None:
    """Send the process's log to standard error: as text for people, or one JSON object a line."""
    handler = logging.StreamHandler(sys.stderr)
    text = OneLine("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonLine() if form == "json" else text)
    handler.addFilter(Bounded())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)


class OneLine(logging.Formatter):
    """Escapes control characters in the message, but not in a traceback, which keeps its lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        record.message = record.message.translate(_ESCAPED)
        return super().formatMessage(record)


class JsonLine(logging.Formatter):
    """One JSON object per line, with the caller's `extra` fields."""

    _OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": record.created,
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in self._OWN},
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)


class Bounded(logging.Filter):
    """Passes `LINES_PER_SECOND` of each log statement, and counts the rest."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._counts: dict[tuple[str, int], tuple[int, int, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        statement = record.pathname, record.lineno
        now = int(self._clock())
        second, written, left_out = self._counts.get(statement, (now, 0, 0))
        if second != now:
            second, written = now, 0
        if written >= LINES_PER_SECOND:
            self._counts[statement] = second, written, left_out + 1
            return False
        if left_out:
            record.msg = f"{record.getMessage()} (and {left_out} like this, left out)"
            record.args = ()
        self._counts[statement] = second, written + 1, 0
        return True
