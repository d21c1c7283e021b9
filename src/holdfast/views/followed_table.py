"""A compacted topic, followed by a thread of its own."""

from threading import Event, Thread

from holdfast.client.connection import Connection
from holdfast.client.table import Table, Take

_TURN_S = 0.2


class FollowedTable:
    """Gives each record to `take`, on its own thread, from `start` to `stop`."""

    def __init__(self, connection: Connection, topic: str, take: Take) -> None:
        self._table = Table(connection, topic, take)
        self._known = False  # stays: that the topic is made later makes nothing less known
        self.stopping = Event()
        self._thread = Thread(target=self._follow, name=topic, daemon=True)

    @property
    def known(self) -> bool:
        """Whether all that there was has been taken."""
        return self._known

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopping.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _follow(self) -> None:
        while not self.stopping.is_set():
            self._table.poll(_TURN_S)
            self._known |= self._table.complete
            if self._table.complete and self._table.next_offset == 0:
                self.stopping.wait(_TURN_S)  # there is no topic yet, and asking costs a request
        self._table.close()
