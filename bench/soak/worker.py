"""A `StreamProcessor` downstream, which takes every message and commits:

python -m bench.soak.worker BOOTSTRAP TOPIC
"""

import signal
import sys
from collections.abc import Mapping

from arroyo.backends.kafka import KafkaPayload, build_kafka_consumer_configuration
from arroyo.processing.strategies import (
    CommitOffsets,
    ProcessingStrategy,
    ProcessingStrategyFactory,
    RunTask,
)
from arroyo.types import Commit, Message, Partition, Topic

from holdfast.processing import KafkaConsumer, StreamProcessor

GROUP = "soak-worker"


class Factory(ProcessingStrategyFactory[KafkaPayload]):
    def create_with_partitions(
        self, commit: Commit, partitions: Mapping[Partition, int]
    ) -> ProcessingStrategy[KafkaPayload]:
        return RunTask(_handle, CommitOffsets(commit))


def _handle(message: Message[KafkaPayload]) -> KafkaPayload:
    return message.payload


def main(bootstrap: str, topic: str) -> None:
    configuration = build_kafka_consumer_configuration(
        {},
        group_id=GROUP,
        bootstrap_servers=[bootstrap],
        auto_offset_reset="earliest",
        override_params={"isolation.level": "read_committed"},
    )
    processor: StreamProcessor[KafkaPayload] = StreamProcessor(
        consumer=KafkaConsumer(configuration), topic=Topic(topic), processor_factory=Factory()
    )
    signal.signal(signal.SIGTERM, lambda *_: processor.signal_shutdown())
    processor.run()


if __name__ == "__main__":
    main(*sys.argv[1:3])
