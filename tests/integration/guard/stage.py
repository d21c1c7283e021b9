"""A topic, a guard on it, its workers, and an account of every event from Kafka alone."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.brokers import DIES_WITH_PARENT, BrokerProcess

import holdfast

APP = Path(__file__).with_name("app.py")
DEADLINE_SECONDS = 90.0
ON_EMBEDDED = pytest.mark.parametrize("kafka", ["embedded"], indirect=True)
"""For promises that do not depend on the broker."""

IN_PLACE = {"group.instance.id": "one"}
"""A worker with this setting takes the place of the last one that had it, without waiting for the
end of its session."""


def until(condition: Callable[[], Any], what: str = "", seconds: float = DEADLINE_SECONDS) -> Any:
    """Wait for a condition. Returns its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not in time: {what}"
        time.sleep(0.05)


class Stage:
    """One guard under test."""

    def __init__(self, kafka: BrokerProcess, name: str, folder: Path, partitions: int = 2) -> None:
        self.kafka, self.folder, self.partitions = kafka, folder, partitions
        self.name = name.lower()
        self.topic = f"{self.name}-source"
        self.log = folder / "calls.log"
        self.client = holdfast.connect(kafka.bootstrap)
        self.client.topics.create(self.topic, partitions=partitions)
        self.client.topics.create(f"{self.topic}.out", partitions=1)
        self.sent: dict[str, list[int]] = defaultdict(list)
        self.workers: list[subprocess.Popen[bytes]] = []
        self._n = 0

    def send(self, key: str, do: str = "", count: int = 1) -> int:
        """Returns the number of the last event."""
        for _ in range(count):
            self.client.send(self.topic, {"n": self._n, "do": do}, key=key)
            self.sent[key].append(self._n)
            self._n += 1
        return self._n - 1

    def send_background(self, count: int, keys: int = 10) -> None:
        for i in range(count):
            self.send(f"healthy-{i % keys}")

    def start(self, *, fault: str = "", **settings: Any) -> subprocess.Popen[bytes]:
        self.client._producer.flush()
        environment = {**os.environ, **({"HOLDFAST_FAULT": fault} if fault else {})}
        with (self.folder / "workers.log").open("ab") as log:
            worker = subprocess.Popen(
                [*DIES_WITH_PARENT, sys.executable, str(APP), self.kafka.bootstrap, self.name,
                 self.topic, str(self.log), json.dumps(settings)],
                stdout=log, stderr=log, env=environment,
            )  # fmt: skip
        self.workers.append(worker)
        return worker

    def stop(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGCONT)
                worker.terminate()
        for worker in self.workers:
            try:
                worker.wait(30)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.client.close()

    def calls(self) -> list[tuple[int, str, int, int]]:
        """Process id, key, number and attempt of each call."""
        if not self.log.exists():
            return []
        lines = (line.split() for line in self.log.read_text().splitlines())
        return [(int(pid), key, int(n), int(attempt)) for pid, key, n, attempt in lines]

    def out(self) -> list[int]:
        """The numbers of the handled events, as their handlers have sent them."""
        records = self.client.consumer(f"{self.topic}.out").records(until="end")
        return [record.json()["n"] for record in records]

    def dead(self) -> list[int]:
        if not self.is_created:
            return []
        return [
            r.json()["n"] for r in self.client.consumer(f"{self.name}.dlq").records(until="end")
        ]

    @property
    def is_created(self) -> bool:
        return any(flow.name == self.name for flow in self.client.flows())

    @property
    def flow(self) -> holdfast.Flow:
        return self.client.flow(self.name)

    def held(self) -> Mapping[str, holdfast.KeyStatus]:
        if not self.is_created:
            return {}
        return {status.key.decode(): status for status in self.flow.held()}

    def waiting(self) -> int:
        """How many events are held."""
        return sum(status.events for status in self.held().values())

    def waits(self, key: str, by: str = "the guard") -> bool:
        status = self.held().get(key)
        return status is not None and any(hold.label == by for hold in status.holds)

    def is_done(self) -> bool:
        return not self.held() and len(self.out()) + len(self.dead()) >= self._n

    def check(self, *, waiting: int = 0) -> None:
        """Every event is in exactly one place, and handled in the order of its key."""
        out, dead = self.out(), self.dead()
        assert max(Counter(out).values(), default=0) <= 1, "sent twice"
        assert not set(out) & set(dead)
        assert max(Counter(dead).values(), default=0) <= 1, "dead twice"
        place = {n: i for i, n in enumerate(out)}
        for key, numbers in self.sent.items():
            handled = [n for n in numbers if n in place]
            assert handled == sorted(handled, key=place.__getitem__), f"order of {key}"
        held = self.waiting()
        assert held == waiting
        assert len(out) + len(dead) + held == self._n
        self.check_starts()

    def check_starts(self) -> None:
        """In one process, for one key, the next event starts only after the one before."""
        last: dict[tuple[int, str], int] = {}
        for pid, key, n, _ in self.calls():
            assert n >= last.get((pid, key), -1), f"{key}: {n} after {last[pid, key]} in {pid}"
            last[pid, key] = n

    def worker_log(self) -> str:
        return (self.folder / "workers.log").read_text()
