"""How long a broker takes to start."""

import socket
import time

from confluent_kafka.admin import AdminClient
from tests.brokers import BrokerProcess


def first_metadata(bootstrap: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}).list_topics(timeout=0.25)
            return
        except Exception:
            if time.monotonic() > deadline:
                raise


def start_seconds(broker: BrokerProcess) -> float:
    """From starting the process to its first metadata reply, over a directory that exists."""
    broker.stop()
    started = time.perf_counter()
    broker.launch()
    while not _port_is_open(broker.bootstrap):  # librdkafka's retries would blur a start of 0.2 s
        time.sleep(0.002)
    first_metadata(broker.bootstrap)
    return time.perf_counter() - started


def _port_is_open(bootstrap: str) -> bool:
    host, port = bootstrap.rsplit(":", 1)
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0
