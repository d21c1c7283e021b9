"""Are the topics still those that the gate was started with?"""

from collections.abc import Mapping
from typing import Any

from holdfast.client.connection import Connection
from holdfast.client.topics import Topics
from holdfast.errors import GateStoppedError, NotFoundError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.topic_ids import Topic, TopicIds

MOST_BATCH_BYTES = 256 * 1024
"""A batch that fits in the processor's cache is made, sent and taken with a sixth less work than
one of a megabyte, and the first is on its way sooner."""
_PART_OF_ID = 8
"""Characters of a topic's id that tell it from the one before."""
_BATCH_OVERHEAD = 1_024
"""What a batch of so many bytes of records may be larger on the wire."""


class TopicGuard:
    """Stops the gate, before it acts, when a topic was made anew or has other partitions: keys
    would be in other places than what the gate knows of them."""

    def __init__(self, connection: Connection, flow: FlowDefinition) -> None:
        self._connection = connection
        self._flow = flow
        names = flow.names
        self._outputs = [names.processed, names.held, names.dlq, names.journal, names.status]
        self._kept = [names.events, names.control, names.held]
        self._ids = TopicIds(connection.settings)
        self._seen: dict[str, Topic] = {}

    def begin(self) -> None:
        """Remember the topics as they are, if the gate can work with them."""
        names, seen = self._flow.names, self._describe()
        wanted = {topic: self._flow.partitions for topic in seen if topic != names.processed}
        wanted[names.control] = 1
        for topic, count in wanted.items():
            if seen[topic].partitions != count:
                raise GateStoppedError(
                    f"The gate has stopped: {topic} has {seen[topic].partitions} partitions, and "
                    f"the flow needs {count}. Make a new flow with that many partitions."
                )
        policy = Topics(self._connection).config(names.events)["cleanup.policy"].value
        if "compact" in policy:
            raise GateStoppedError(
                f"The gate has stopped: {names.events} is compacted, so events vanish before they "
                "are read. Set its cleanup.policy to 'delete'."
            )
        self._seen = seen

    @property
    def processed_partitions(self) -> int:
        return self._seen[self._flow.names.processed].partitions

    @property
    def identity(self) -> str:
        """Of the topics whose offsets are kept: for a position to say which it speaks of."""
        return " ".join(self._seen[topic].id[:_PART_OF_ID] for topic in self._kept)

    def compare(self, identity: str) -> None:
        """Raise GateStoppedError if a position was written for other topics than these. One that
        says nothing is not compared."""
        for topic, before in zip(self._kept, identity.split(), strict=False):
            if self._seen[topic].id[:_PART_OF_ID] != before:
                raise _made_anew(topic)

    def check(self) -> None:
        """Raise GateStoppedError if a topic is not the one that it was."""
        for topic, now in self._describe().items():
            before = self._seen[topic]
            if now.id != before.id:
                raise _made_anew(topic)
            if now.partitions != before.partitions:
                raise GateStoppedError(
                    f"The gate has stopped: {topic} has {now.partitions} partitions now, and had "
                    f"{before.partitions}. Keys have moved between partitions, so their order "
                    "cannot be kept. Make a new flow with that many partitions."
                )

    def producer_config(self) -> Mapping[str, Any]:
        """Sizes for producers: a topic's limit is on batches, so a full batch must stay below the
        smallest, or innocent records are refused; one record may be as large as the largest."""
        topics = Topics(self._connection)
        limits = [int(topics.config(t)["max.message.bytes"].value) for t in self._outputs]
        return {
            "batch.size": max(1, min(MOST_BATCH_BYTES, min(limits) - _BATCH_OVERHEAD)),
            "message.max.bytes": max(1_000, *limits),
        }

    def close(self) -> None:
        self._ids.close()

    def _describe(self) -> dict[str, Topic]:
        try:
            return self._ids.look_up(
                [self._flow.names.events, self._flow.names.control, *self._outputs]
            )
        except NotFoundError as error:
            raise GateStoppedError(f"The gate has stopped. {error} Restore it.") from None


def _made_anew(topic: str) -> GateStoppedError:
    return GateStoppedError(
        f"The gate has stopped: {topic} was deleted and made anew. What was in it is gone, so the "
        "gate's positions mean nothing there. Restore it, or delete the flow and make it anew."
    )
