"""Whether the broker answers just now."""

import asyncio

import anyio.to_thread
from confluent_kafka import KafkaException

from holdfast.client.connection import Connection

_EVERY_S = 2.0
_ANSWER_S = 3.0


class Pulse:
    """Asks the broker something small from time to time, for as long as `beat` runs."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.trouble = "The broker was not asked yet."
        """Why it does not answer; empty if it does."""

    async def beat(self) -> None:
        while True:
            # Whoever ends the process does not wait for an answer that may not come.
            self.trouble = await anyio.to_thread.run_sync(self._ask, abandon_on_cancel=True)
            await asyncio.sleep(_EVERY_S)

    def _ask(self) -> str:
        try:
            asked = self._connection.admin.describe_cluster(request_timeout=_ANSWER_S)
            asked.result(_ANSWER_S + 1)
        except (KafkaException, TimeoutError):
            return f"No broker answers at {self._connection}."
        return ""
