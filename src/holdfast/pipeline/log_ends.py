"""Where logs begin and end, for those who know that the topics are there."""

from collections.abc import Callable, Iterable

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import NotFoundError, UnavailableError


class LogEnds:
    """Looks up first offsets and high watermarks.

    librdkafka does not tell a topic that is gone from one that no broker leads now. Here it is the
    latter: that a topic is gone is for `TopicGuard` to say.
    """

    def __init__(self, connection: Connection) -> None:
        self._offsets = Offsets(connection, committed_only=False)

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return _led(self._offsets.starts, partitions)

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return _led(self._offsets.ends, partitions)

    def bounds(self, partition: Partition) -> tuple[int, int]:
        """First offset and high watermark."""
        return self.starts([partition])[partition], self.ends([partition])[partition]


def _led(
    look_up: Callable[[Iterable[Partition]], dict[Partition, int]], partitions: Iterable[Partition]
) -> dict[Partition, int]:
    try:
        return look_up(partitions)
    except NotFoundError as error:
        raise UnavailableError(f"No broker leads it now. {error}") from None
