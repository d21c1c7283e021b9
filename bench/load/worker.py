"""A worker as a process, until it is killed: says when the first message has come, and the last.

python -m bench.load.worker SIDE BOOTSTRAP TOPIC MESSAGES
"""

import sys
from pathlib import Path

from arroyo.backends.kafka import KafkaPayload
from arroyo.processing.strategies import CommitOffsets, RunTask
from arroyo.types import Message, Topic

from bench.load.child import Child
from bench.load.workers import SIDES, Factory, configuration


def worker(side: str, bootstrap: str, topic: str, messages: int, log: Path) -> Child:
    """The process, not started yet."""
    command = [sys.executable, "-m", "bench.load.worker", side, bootstrap, topic, str(messages)]
    return Child(command, log)


def main(side: str, bootstrap: str, topic: str, messages: int) -> None:
    make_consumer, make_processor = SIDES[side]
    seen = 0

    def handle(message: Message[KafkaPayload]) -> KafkaPayload:
        nonlocal seen
        seen += 1
        if seen == 1:
            print("First", flush=True)
        if seen == messages:
            print("Last", flush=True)
        return message.payload

    make_processor(
        consumer=make_consumer(configuration(bootstrap, tuned=False)),
        topic=Topic(topic),
        processor_factory=Factory(lambda commit: RunTask(handle, CommitOffsets(commit))),
    ).run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
