"""A `StreamProcessor` downstream, which takes every message and commits:

python -m bench.soak.worker BOOTSTRAP TOPIC
"""

import signal
import sys

from arroyo.backends.kafka import KafkaPayload, build_kafka_consumer_configuration
from arroyo.processing.strategies import CommitOffsets, RunTask
from arroyo.types import Message, Topic

from bench.load.workers import Factory
from holdfast.processing import KafkaConsumer, StreamProcessor

GROUP = "soak-worker"


def main(bootstrap: str, topic: str) -> None:
    configuration = build_kafka_consumer_configuration(
        {},
        group_id=GROUP,
        bootstrap_servers=[bootstrap],
        auto_offset_reset="earliest",
        override_params={"isolation.level": "read_committed"},
    )
    processor: StreamProcessor[KafkaPayload] = StreamProcessor(
        consumer=KafkaConsumer(configuration),
        topic=Topic(topic),
        processor_factory=Factory(lambda commit: RunTask(_handle, CommitOffsets(commit))),
    )
    signal.signal(signal.SIGTERM, lambda *_: processor.signal_shutdown())
    processor.run()


def _handle(message: Message[KafkaPayload]) -> KafkaPayload:
    return message.payload


if __name__ == "__main__":
    main(*sys.argv[1:3])
