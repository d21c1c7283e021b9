"""A consumer that a test kills: `python -m tests.integration.client.worker BOOTSTRAP TOPIC GROUP
OUTPUT KILL_AT`. Appends each processed coordinate to OUTPUT, and dies by SIGKILL right after the
KILL_AT-th, that is, between processing and commit."""

import os
import signal
import sys

import holdfast


def main(bootstrap: str, topic: str, group: str, output: str, kill_at: int) -> None:
    processed = 0
    descriptor = os.open(output, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def handle(record: holdfast.Record) -> None:
        nonlocal processed
        os.write(descriptor, f"{record.partition} {record.offset}\n".encode())
        processed += 1
        if processed == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    impatient = {"session.timeout.ms": 6_000, "heartbeat.interval.ms": 500}
    with holdfast.connect(bootstrap) as client:
        with client.consumer(topic, group=group, commit_count=10, kafka=impatient) as consumer:
            consumer.run(handle, until="end")


if __name__ == "__main__":
    bootstrap, topic, group, output, kill_at = sys.argv[1:6]
    main(bootstrap, topic, group, output, int(kill_at))
