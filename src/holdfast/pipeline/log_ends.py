"""Where logs begin and end, for those who know that the topics are there."""

from collections.abc import Iterable

from confluent_kafka import IsolationLevel, KafkaException
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Partition, partition_of
from holdfast.errors import NotFoundError, UnavailableError


class LogEnds:
    """Looks up first offsets and high watermarks.

    librdkafka does not tell a topic that is gone from one that no broker leads now. Here it is the
    latter: that a topic is gone is for `TopicGuard` to say.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._look_up(partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return self._look_up(partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def bounds(self, partition: Partition) -> tuple[int, int]:
        """First offset and high watermark."""
        return self.starts([partition])[partition], self.ends([partition])[partition]

    def _look_up(self, partitions: Iterable[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        wanted = list(partitions)
        try:
            return self._ask(wanted, spec)
        except (UnavailableError, NotFoundError):
            # After a broker's restart librdkafka asks by what it knew before, and is refused,
            # until it has asked who leads now.
            self._refresh()
        try:
            return self._ask(wanted, spec)
        except NotFoundError as error:
            raise UnavailableError(f"No broker leads it now. {error}") from None

    def _ask(self, partitions: list[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        try:
            futures = self._connection.admin.list_offsets(
                {partition.at(-1): spec for partition in partitions},
                isolation_level=IsolationLevel.READ_UNCOMMITTED,
                request_timeout=self._connection.settings.request_timeout,
            )
        except KafkaException as error:
            raise translate(error, "Looking offsets up") from None
        return {
            partition_of(place): self._connection.wait(
                future, f"Looking up an offset of {partition_of(place)}"
            ).offset
            for place, future in futures.items()
        }

    def _refresh(self) -> None:
        try:
            self._connection.admin.list_topics(timeout=self._connection.settings.request_timeout)
        except KafkaException as error:
            raise translate(error, "Asking who leads the flow's topics") from None
