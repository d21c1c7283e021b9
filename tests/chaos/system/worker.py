"""A `StreamProcessor` that writes down what it does, before it commits it:

python -m tests.chaos.system.worker BOOTSTRAP TOPIC FILE NUMBER

Lines, each with the number of this process first:

    <number> owns <partition> <offset>       its next ownership of a partition begins there
    <number> handles <partition> <offset>    a message
    <number> commits <partition> <offset>    acknowledged: all below that offset
"""

import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from arroyo.backends.kafka import KafkaPayload, build_kafka_consumer_configuration
from arroyo.processing.strategies import (
    CommitOffsets,
    ProcessingStrategy,
    ProcessingStrategyFactory,
    RunTask,
)
from arroyo.types import BrokerValue, Commit, Message, Partition, Topic

from holdfast.processing import KafkaConsumer, StreamProcessor

GROUP = "chaos-worker"


class Record:
    """The file. A line is one write, so a kill leaves whole lines."""

    def __init__(self, path: str, number: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._number = number

    def note(self, what: str, partition: int, offset: int) -> None:
        os.write(self._file, f"{self._number} {what} {partition} {offset}\n".encode())


class NotingConsumer(KafkaConsumer):
    def __init__(self, configuration: Mapping[str, Any], record: Record) -> None:
        super().__init__(configuration)
        self._record = record

    def commit_offsets(self) -> Mapping[Partition, int] | None:
        committed = super().commit_offsets()
        for partition, offset in (committed or {}).items():
            self._record.note("commits", partition.index, offset)
        return committed


class Factory(ProcessingStrategyFactory[KafkaPayload]):
    def __init__(self, record: Record) -> None:
        self._record = record

    def create_with_partitions(
        self, commit: Commit, partitions: Mapping[Partition, int]
    ) -> ProcessingStrategy[KafkaPayload]:
        for partition, offset in partitions.items():
            self._record.note("owns", partition.index, offset)
        return RunTask(self._handle, CommitOffsets(commit))

    def _handle(self, message: Message[KafkaPayload]) -> KafkaPayload:
        value = message.value
        assert isinstance(value, BrokerValue)
        self._record.note("handles", value.partition.index, value.offset)
        return message.payload


def main(bootstrap: str, topic: str, path: str, number: str) -> None:
    record = Record(path, number)
    configuration = build_kafka_consumer_configuration(
        {},
        group_id=GROUP,
        bootstrap_servers=[bootstrap],
        auto_offset_reset="earliest",
        override_params={
            "isolation.level": "read_committed",
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 500,
            "reconnect.backoff.max.ms": 300,
        },
    )
    processor: StreamProcessor[KafkaPayload] = StreamProcessor(
        consumer=NotingConsumer(configuration, record),
        topic=Topic(topic),
        processor_factory=Factory(record),
    )
    signal.signal(signal.SIGTERM, lambda *_: processor.signal_shutdown())
    processor.run()


if __name__ == "__main__":
    main(*sys.argv[1:5])
