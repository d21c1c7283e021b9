"""Short runs of the garbage collector.

A full collection visits all objects. With 10,000 partitions that takes 0.2 s, in which the broker
serves no requests. Objects that survive a collection live long (partitions, groups, offsets), so
they are frozen, and later collections skip them.

Reference counting still frees frozen objects. Only a cycle would stay for good, so the broker's
long-lived objects break their cycles when they end.
"""

import gc
import time
from typing import Any

LONG_SECONDS = 0.005
"""Some 20,000 objects."""
THRESHOLDS = 700, 10, 3
"""Python's default for the last one is 10: full collections would come after 70,000 objects."""

_FULL = 2


class ShortCollections:
    """Freezes the objects that have survived a full collection, if it took long."""

    def __init__(self) -> None:
        self._started = 0.0
        self._thresholds = gc.get_threshold()
        gc.set_threshold(*THRESHOLDS)
        gc.callbacks.append(self._on_collection)

    def stop(self) -> None:
        gc.callbacks.remove(self._on_collection)
        gc.set_threshold(*self._thresholds)

    def _on_collection(self, phase: str, info: dict[str, Any]) -> None:
        if info["generation"] != _FULL:
            return
        if phase == "start":
            self._started = time.thread_time()
        elif time.thread_time() - self._started > LONG_SECONDS:
            gc.freeze()
