"""Logs all stacks if a loop hangs."""

import logging
import threading
import time
from collections.abc import Callable

from arroyo.utils.metrics import get_metrics
from arroyo.utils.stuck_detector import get_all_thread_stacks

logger = logging.getLogger(__name__)

CHECK_EVERY_SECONDS = 1.0


def watch_for_stall(
    seconds: float, last_turn_ago: Callable[[], float], ended: Callable[[], bool]
) -> None:
    """Log all stacks, once, if the last turn was more than `seconds` ago."""
    metrics = get_metrics()

    def watch() -> None:
        while not ended():
            if last_turn_ago() > seconds:
                logger.warning(
                    "The loop has been stuck for more than %s seconds, stacks: %s",
                    seconds,
                    get_all_thread_stacks(),
                )
                metrics.increment("arroyo.consumer.stuck", 1)
                return
            time.sleep(CHECK_EVERY_SECONDS)

    threading.Thread(target=watch, name="stuck-detector", daemon=True).start()
