"""Are the topics still those that the gate was started with?"""

import logging

from holdfast.client.connection import Connection
from holdfast.client.topics import Topics
from holdfast.errors import GateStoppedError, HoldfastError, NotFoundError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.topics import BROKER_TIME
from holdfast.kafka.topic_ids import Topic, TopicIds

log = logging.getLogger(__name__)

_PART_OF_ID = 8
"""Characters of a topic's id: enough to distinguish it from the one before."""


class TopicGuard:
    """Stops the gate before a step if a topic was deleted and created again, or has another number
    of partitions: keys would be elsewhere than the gate's state says."""

    def __init__(self, connection: Connection, flow: FlowDefinition) -> None:
        self._connection = connection
        self._flow = flow
        names = flow.names
        self._outputs = [names.processed, names.held, names.dlq, names.journal, names.status]
        self._kept = [names.events, names.control, names.held]
        self._ids = TopicIds(connection.settings)
        self._seen: dict[str, Topic] = {}
        self.epochs: tuple[int, ...] = ()
        """The leader epoch of each partition of events, as of the last check."""

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
        self._use_broker_time()
        self._seen = seen
        self.epochs = seen[names.events].epochs

    def _use_broker_time(self) -> None:
        """Give topics that an earlier version made the settings that new ones have: with Kafka's
        defaults they refuse the records of a pipeline whose clock is an hour ahead."""
        names, topics = self._flow.names, Topics(self._connection)
        for topic in (names.control, names.journal, names.status):
            config = {name: each.value for name, each in topics.config(topic).items()}
            if BROKER_TIME.items() <= config.items():
                continue
            try:
                topics.set_config(topic, BROKER_TIME)
            except HoldfastError as error:
                if error.transient:
                    raise
                log.warning(
                    "%s cannot be given the broker's time: %s A pipeline whose clock is more than "
                    "an hour ahead cannot write to it, and 'holdfast verify' cannot compare its "
                    "clock with the broker's. Set message.timestamp.type=LogAppendTime on it.",
                    topic, error,
                )  # fmt: skip

    @property
    def processed_partitions(self) -> int:
        return self._seen[self._flow.names.processed].partitions

    @property
    def identity(self) -> str:
        """The ids of the topics whose offsets are kept, for positions to name."""
        return " ".join(self._seen[topic].id[:_PART_OF_ID] for topic in self._kept)

    def compare(self, identity: str) -> None:
        """Raise GateStoppedError if a position was written for other topics than these. One without
        ids is not compared."""
        for topic, before in zip(self._kept, identity.split(), strict=False):
            if self._seen[topic].id[:_PART_OF_ID] != before:
                raise _created_again(topic)

    def check(self) -> None:
        """Raise GateStoppedError if a topic was created again or has other partitions."""
        found = self._describe()
        self.epochs = found[self._flow.names.events].epochs
        for topic, now in found.items():
            before = self._seen[topic]
            if now.id != before.id:
                raise _created_again(topic)
            if now.partitions != before.partitions:
                raise GateStoppedError(
                    f"The gate has stopped: {topic} has {now.partitions} partitions now, and had "
                    f"{before.partitions}. Keys have moved between partitions, so their order "
                    "cannot be kept. Make a new flow with that many partitions."
                )

    def end_of_epoch(self, partition: int, epoch: int) -> int:
        """The end of an earlier epoch in the log of the partition's present leader."""
        return self._ids.end_of_epoch(
            self._flow.names.events, partition, epoch, self.epochs[partition]
        )

    def close(self) -> None:
        self._ids.close()

    def _describe(self) -> dict[str, Topic]:
        try:
            return self._ids.look_up(
                [self._flow.names.events, self._flow.names.control, *self._outputs]
            )
        except NotFoundError as error:
            raise GateStoppedError(f"The gate has stopped. {error} Restore it.") from None


def _created_again(topic: str) -> GateStoppedError:
    return GateStoppedError(
        f"The gate has stopped: {topic} was deleted and created again. Its records are gone, so "
        "the gate's positions mean nothing there. Restore it, or delete and create the flow again."
    )
