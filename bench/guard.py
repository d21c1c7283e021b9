"""The guard: how fast it calls handlers, what failing keys cost the others, how soon it takes over.

    python -m bench.guard                    # all of it, a quarter of an hour, on an idle machine
    python -m bench.guard --quick            # fewer events: to see that it works
    python -m bench.guard --part noop        # one part (may be given more than once)

The last line printed is one line of JSON:

| figure | meaning |
|---|---|
| vs_quix | events a second with a handler that does nothing, over those of Quix Streams |
| vs_parallel_consumer | the same with a handler that waits 5 ms, 64 at once, over those of Confluent's parallel consumer in key order |
| others_p99 | p99 delay of healthy keys with 1 % of the keys always failing, over that with none failing |
| parked_million | events a second with a million parked keys, over those with none; and the worker's peak memory |
| drained_per_s | events a second of one key with many waiting events, after its first one succeeds |
| takeover_s | from the kill -9 of one of two workers to the first event of each of its partitions |
| idle_cores | processor time of a worker with nothing to do |
"""  # noqa: E501  # a table

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

import holdfast
from bench.load.child import Child
from bench.peers.kafka import ProductionKafka
from bench.peers.parallel import ParallelConsumer
from bench.peers.quix import QuixStreams
from bench.results import QUICK_FOLDER

PARTITIONS = 6
WAIT_MS = 5
AT_ONCE = 64
DEADLINE_S = 900.0
PEERS = QUICK_FOLDER / "peers"

Figures = dict[str, float]

WORKER = f"""
import sys, time
import holdfast
from holdfast.guard.circuit import CircuitSettings
bootstrap, name, topic, kind = sys.argv[1:]
guard = holdfast.Guard(name, topic=topic, bootstrap=bootstrap,
                       kafka={{"session.timeout.ms": 6000, "heartbeat.interval.ms": 1000}},
                       circuit=CircuitSettings(keys=10**9))
calls = 0
@guard.handler(attempts=1000, backoff="1h..2h" if kind == "park" else "1s..5s", at_once={AT_ONCE})
def handle(event):
    global calls
    if kind == "park" and event.key.startswith(b"bad"):
        raise ValueError("always")
    if kind == "drain" and event.offset == 0 and event.attempt < 3:
        raise ValueError("not yet")
    if kind == "stamp":
        if event.key.startswith(b"bad"):
            raise ValueError("always")
        now = time.time_ns() // 1_000_000
        print(event.partition, event.offset, now - event.timestamp, flush=True)
        return
    calls += 1
    if calls % 1000 == 0:
        print(calls, time.monotonic(), flush=True)
    if kind == "waiting":
        time.sleep({WAIT_MS / 1000})
guard.run()
"""


class Bench:
    """One Kafka, and a topic and a group for each measurement."""

    def __init__(self, bootstrap: str, folder: Path, quick: bool) -> None:
        self._bootstrap, self._folder, self._quick = bootstrap, folder, quick
        self._client = holdfast.connect(bootstrap)
        self._made = 0

    def noop(self) -> Figures:
        peer = QuixStreams(PEERS / "quix")
        peer.install()
        topic, events = self._topic(), 300_000 if self._quick else 1_000_000
        self._fill(topic, events)
        ours = self._rate(self._guard(topic, "noop"), events)
        theirs = self._rate(peer.command(self._bootstrap, topic), events)
        return {"noop_per_s": ours, "quix_per_s": theirs, "vs_quix": ours / theirs}

    def waiting(self) -> Figures:
        peer = ParallelConsumer(PEERS / "parallel")
        peer.install()
        topic, events = self._topic(), 30_000 if self._quick else 200_000
        self._fill(topic, events)
        ours = self._rate(self._guard(topic, "waiting"), events)
        theirs = self._rate(peer.command(self._bootstrap, topic, WAIT_MS, AT_ONCE), events)
        ratio = {"vs_parallel_consumer": ours / theirs}
        return {"waiting_per_s": ours, "parallel_consumer_per_s": theirs, **ratio}

    def others(self) -> Figures:
        healthy, failing = self._delay(bad=False), self._delay(bad=True)
        return {"others_p99": failing / healthy, "healthy_p99_ms": healthy}

    def parked(self) -> Figures:
        """The rate is of a worker that has loaded all parked keys at its start."""
        parked, events = (50_000, 100_000) if self._quick else (1_000_000, 500_000)
        plain = self._topic()
        self._fill(plain, events)
        without = self._rate(self._guard(plain, "park"), events)
        topic = self._topic()
        self._fill(topic, parked, keys=parked, name="bad")
        with self._child(self._guard(topic, "park")) as worker:
            begun = time.monotonic()
            self._wait(lambda: self._committed(topic) >= parked)
            seconds = time.monotonic() - begun
            first = _peak_mb(worker.pid)
        self._fill(topic, events)
        with self._child(self._guard(topic, "park")) as worker:
            rate = self._rate_of(worker, events)
            second = _peak_mb(worker.pid)
        return {
            "parked_million": rate / without,
            "parked_per_s": parked / seconds,
            "parked_worker_mb": max(first, second),
        }

    def drain(self) -> Figures:
        events = 50_000 if self._quick else 999_000  # a key may have a million waiting events
        topic = self._topic(partitions=1)
        self._fill(topic, events, keys=1)
        return {"drained_per_s": self._rate(self._guard(topic, "drain"), events)}

    def takeover(self) -> Figures:
        topic = self._topic()
        command = self._guard(topic, "stamp")
        with self._child(command) as first, self._child(command) as other:
            self._send_until(
                topic, lambda: bool(_partitions(first.said()) and _partitions(other.said()))
            )
            killed = _partitions("".join(first.said().splitlines(keepends=True)[-200:]))
            mark = len(other.said())
            first.kill()
            begun = time.monotonic()
            self._send_until(topic, lambda: killed <= _partitions(other.said()[mark:]))
            return {"takeover_s": time.monotonic() - begun}

    def idle(self) -> Figures:
        topic = self._topic()
        self._fill(topic, 1_000)
        with self._child(self._guard(topic, "noop")) as worker:
            self._wait(lambda: self._committed(topic) >= 1_000)
            time.sleep(5)
            before, seconds = _cpu(worker.pid), 15 if self._quick else 60
            time.sleep(seconds)
            return {"idle_cores": (_cpu(worker.pid) - before) / seconds}

    def _topic(self, partitions: int = PARTITIONS) -> str:
        self._made += 1
        name = f"source-{self._made}"
        self._client.topics.create(name, partitions=partitions)
        return name

    def _fill(self, topic: str, events: int, keys: int = 1_000, name: str = "key") -> None:
        value = b"x" * 200
        for number in range(events):
            self._client.send(topic, value, key=f"{name}-{number % keys}")
        self._client.close()

    def _guard(self, topic: str, kind: str) -> Sequence[str]:
        return [sys.executable, "-c", WORKER, self._bootstrap, f"g-{topic}", topic, kind]

    @contextmanager
    def _child(self, command: Sequence[str]) -> Iterator[Child]:
        child = Child(command, self._folder / f"{time.monotonic_ns()}.log").start()
        try:
            yield child
            child.stop(signal.SIGTERM if child.running else signal.SIGKILL)
        finally:
            child.kill()

    def _rate(self, command: Sequence[str], events: int) -> float:
        with self._child(command) as child:
            return self._rate_of(child, events)

    def _rate_of(self, child: Child, events: int) -> float:
        """Events a second, after the first tenth."""

        def rows() -> list[list[str]]:
            child.check()
            lines = child.said().rpartition("\n")[0].splitlines()
            return [row for row in map(str.split, lines) if row and row[0].isdigit()]

        self._wait(lambda: bool(found := rows()) and int(found[-1][0]) >= events)
        (first, begun), (last, ended) = rows()[len(rows()) // 10], rows()[-1]
        return (int(last) - int(first)) / (float(ended) - float(begun))

    def _committed(self, topic: str) -> int:
        """Events that the guard has committed; -1 if it does not own all partitions yet."""
        try:
            group = self._client.groups.describe(f"holdfast.g-{topic}")
        except holdfast.HoldfastError:
            return -1
        offsets = [each.committed for each in group.lag if each.committed is not None]
        return sum(offsets) if len(offsets) == PARTITIONS else -1

    def _wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {DEADLINE_S:.0f} s")
            time.sleep(0.25)

    def _send_until(self, topic: str, condition: Callable[[], bool]) -> None:
        def send() -> bool:
            for number in range(60):
                self._client.send(topic, b"x", key=f"key-{number}")
            return condition()

        self._wait(send)

    def _delay(self, *, bad: bool) -> float:
        """The p99 delay of healthy keys at 500 events a second."""
        topic, seconds = self._topic(), 10 if self._quick else 60
        with self._child(self._guard(topic, "stamp")) as worker:
            self._send_until(topic, lambda: bool(_partitions(worker.said())))
            begun = time.monotonic()
            for number in range(500 * seconds):
                key = "bad" if bad and number % 100 == 0 else "key"
                self._client.send(topic, b"x" * 200, key=f"{key}-{number % 1_000}")
                time.sleep(max(0.0, begun + number / 500 - time.monotonic()))
            self._client.close()
            time.sleep(5)
            rows = [line.split() for line in worker.said().splitlines()]
        delays = [int(row[2]) for row in rows if len(row) == 3 and row[0].isdigit()]
        return float(np.percentile(delays[len(delays) // 3 :], 99))


PARTS: dict[str, Callable[[Bench], Figures]] = {
    "noop": Bench.noop,
    "waiting": Bench.waiting,
    "others": Bench.others,
    "parked": Bench.parked,
    "drain": Bench.drain,
    "takeover": Bench.takeover,
    "idle": Bench.idle,
}


def _partitions(said: str) -> set[str]:
    """The partitions of the events that a worker has handled."""
    lines = [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]
    return {row[0] for row in lines if len(row) == 3 and row[0].isdigit()}


def _peak_mb(pid: int) -> float:
    """The most memory that the process has used so far."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def _cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--part", action="append", choices=PARTS)
    arguments = parser.parse_args()
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        with ProductionKafka(Path(folder) / "kafka") as kafka:
            bench = Bench(kafka.bootstrap, Path(folder), arguments.quick)
            for part in arguments.part or PARTS:
                figures |= PARTS[part](bench)
                print({name: round(value, 4) for name, value in figures.items()}, flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
