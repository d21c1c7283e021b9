"""From `make run` to the first event through the gate."""

import os
import socket
import time
from pathlib import Path

from confluent_kafka import KafkaException
from tests.brokers import free_ports

from bench.load.child import Child
from bench.load.progress import Readable
from holdfast.flows.names import FlowNames

DEADLINE_S = 180.0
PROJECT = Path(__file__).resolve().parents[2]
# The busiest of the flows that `make run` makes, and its partitions.
FLOW, PARTITIONS = FlowNames("orders"), 6


def up_seconds(folder: Path) -> float:
    """In an empty data directory, until an event can be read behind the gate."""
    port, metrics_port = free_ports(2)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")} | {
        "HOLDFAST_UP_DATA_DIR": str(folder / "data"),
        "HOLDFAST_UP_BROKER_PORT": str(port),
        "HOLDFAST_UP_METRICS_PORT": str(metrics_port),
    }
    folder.mkdir()
    started = time.monotonic()
    end = started + DEADLINE_S
    run = Child(["make", "run"], folder / "make.log", folder=PROJECT, environment=environment)
    with run:
        while not _listens(port):  # librdkafka's retries would blur the time
            _wait(run, end)
        processed = Readable(f"127.0.0.1:{port}", FLOW.processed, PARTITIONS)
        while not _has_records(processed):
            _wait(run, end)
        return time.monotonic() - started


def _wait(run: Child, end: float) -> None:
    run.check()
    if time.monotonic() > end:
        raise TimeoutError(f"no event within {DEADLINE_S:.0f} s: {run.said()[-3000:]}")
    time.sleep(0.02)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _has_records(topic: Readable) -> bool:
    try:
        return topic.offsets() > 0
    except KafkaException:  # it is not there yet
        return False
