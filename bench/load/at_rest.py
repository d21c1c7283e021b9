"""`holdfast up` with many small flows: how much processor time and memory all of it takes."""

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
from confluent_kafka import Producer
from tests.brokers import free_ports

import holdfast
from bench.load.child import Child
from bench.load.events import encode_event, flush

START_DEADLINE_S = 600.0


class Up(Child):
    """`holdfast up` in a folder of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port, metrics_port, web_port = free_ports(3)
        self.bootstrap = f"127.0.0.1:{self.port}"
        self._health = f"http://127.0.0.1:{metrics_port}/healthz"
        folder.mkdir(exist_ok=True, parents=True)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")} | {
            "HOLDFAST_UP_DATA_DIR": str(folder / "data"),
            "HOLDFAST_UP_BROKER_PORT": str(self.port),
            "HOLDFAST_UP_METRICS_PORT": str(metrics_port),
            "HOLDFAST_UP_WEB_PORT": str(web_port),
        }
        command = [sys.executable, "-m", "holdfast.cli", "up", *options]
        super().__init__(command, folder / "up.log", folder=folder, environment=environment)

    def wait_until_up(self) -> None:
        self.wait_for(r"holdfast +\| is up", START_DEADLINE_S)

    def wait_for_gates(self, count: int) -> None:
        """Until this many gates are running."""
        end = time.monotonic() + START_DEADLINE_S
        while self._running_gates() < count:
            self.check()
            if time.monotonic() > end:
                raise TimeoutError(f"{self._running_gates()} of {count} gates are running")
            time.sleep(0.2)

    def _running_gates(self) -> int:
        with suppress(URLError, OSError), urlopen(self._health) as reply:
            flows = json.load(reply)["flows"]
            return sum(parts["gate"]["state"] == "running" for parts in flows.values())
        return 0


def cpu_seconds(pid: int) -> float:
    """Of a process with all that it has started, also what has ended since."""
    process, total = psutil.Process(pid), 0.0
    for member in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = member.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def cores(pid: int, seconds: float) -> float:
    """How many processors the process takes on average, from now on."""
    began, before = time.monotonic(), cpu_seconds(pid)
    time.sleep(seconds)
    return (cpu_seconds(pid) - before) / (time.monotonic() - began)


def by_process(pid: int, seconds: float) -> dict[str, float]:
    """Like `cores`, for each process by itself, named by what it runs."""
    members = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    began, before = time.monotonic(), {m: m.cpu_times() for m in members}
    time.sleep(seconds)
    passed = time.monotonic() - began
    found: dict[str, float] = {}
    for member, then in before.items():
        with suppress(psutil.NoSuchProcess):
            now, name = member.cpu_times(), _name(member)
            used = now.user + now.system - then.user - then.system
            found[name] = found.get(name, 0.0) + used / passed
    return found


def _name(process: psutil.Process) -> str:
    command = process.cmdline()
    if "holdfast.cli" in command:
        return command[command.index("holdfast.cli") + 1]
    return process.name()


def create_flows(bootstrap: str, names: Iterable[str], partitions: int) -> None:
    with holdfast.connect(bootstrap) as client:
        for name in names:
            client.flow(name).create(partitions=partitions)


@contextmanager
def even_traffic(
    bootstrap: str, topics: list[str], per_second: float
) -> Iterator[None]:  # `per_second` of each topic
    """Events to all topics for as long as the block runs, from a process of its own: it must not
    slow down what measures."""
    pid = os.fork()
    if pid == 0:
        try:
            _send(bootstrap, topics, per_second)
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def _send(bootstrap: str, topics: list[str], per_second: float) -> None:
    producer = Producer(
        {"bootstrap.servers": bootstrap, "partitioner": "murmur2_random", "linger.ms": 0}
    )
    number, due, pause = 0, time.monotonic(), 1 / (per_second * len(topics))
    try:
        while True:
            topic = topics[number % len(topics)]
            producer.produce(topic, encode_event(number), b"key-%d" % (number // len(topics) % 50))
            producer.poll(0)
            number, due = number + 1, due + pause
            time.sleep(max(0.0, due - time.monotonic()))
    finally:
        flush(producer)
