"""Contents in one small file that is replaced as a whole.

A change is durable before it has any effect. After a crash the file has all of a change or nothing.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from holdfast.broker.log.files import replace_file
from holdfast.broker.work import OnThread, Work

E = TypeVar("E")


def _nothing(entries: object) -> Work[None]:
    yield from ()


class DurableFile(Generic[E]):
    """The present contents, which never change, and their replacement by others one at a time."""

    def __init__(
        self, path: Path, entries: E, encode: Callable[[E], bytes], mode: int = 0o644
    ) -> None:
        self._path = path
        self._encode = encode
        self._mode = mode
        self.entries = entries
        self.on_change: Callable[[E], Work[None]] = _nothing
        """Applies saved contents. It must not be dropped, so it yields `STAY` only."""
        self._turn: asyncio.Future[None] | None = None
        """Set while a change is being saved on a thread. Other changes wait for it."""

    def change(self, edit: Callable[[E], Work[E]]) -> Work[None]:
        """Replaces the contents by what `edit` makes of them, in slices. Raises OSError if they
        cannot be saved; then nothing has changed."""
        while self._turn is not None:
            yield self._turn
        self._turn = asyncio.get_running_loop().create_future()
        try:
            entries = yield from edit(self.entries)
            if entries != self.entries:
                yield OnThread(partial(self.save, entries))
                self.entries = entries
                yield from self.on_change(entries)
        finally:
            turn, self._turn = self._turn, None
            turn.set_result(None)

    def save(self, entries: E) -> None:
        """Writes the file. Blocks until it is durable."""
        replace_file(self._path, self._encode(entries), mode=self._mode)
