"""One flow of a pipeline that stops, blocks, meets unreadable events or is flooded delays no other.

Everything that is acknowledged and awaited here happens while the broken flow is still broken.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from confluent_kafka import Producer
from tests.brokers import DIES_WITH_PARENT, EmbeddedBroker, free_ports
from tests.clients import DEADLINE_S
from tests.integration.pipeline.world import World, eventually
from tests.spoil import spoil

from holdfast.flows.registry import Limits

pytestmark = pytest.mark.spark

START_S = 300.0
LIMIT = 50
FLOOD = 100_000
"""Events of a flood before the others are watched: more than the driver takes by itself."""


Broken = Callable[[], bool]
"""Returns True while the flow is broken."""


class Pipeline:
    """`holdfast pipeline` as a process, with the gates of all flows of a broker."""

    def __init__(self, broker: EmbeddedBroker, folder: Path) -> None:
        self._log = folder / "pipeline.log"
        self._http = f"127.0.0.1:{free_ports(1)[0]}"
        command = [
            sys.executable, "-m", "holdfast.cli", "pipeline", "--kafka", broker.bootstrap,
            "--data-dir", str(folder / "data"), "--lake", str(folder / "lake"),
            "--http", self._http,
        ]  # fmt: skip
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*DIES_WITH_PARENT, *command], stdout=log, stderr=log, env=os.environ
            )

    def reason(self, flow: str) -> str | None:
        """Why the gate of a flow waits; empty if it runs, None if it has not started."""
        assert self._process.poll() is None, self._log.read_text(errors="replace")[-4000:]
        try:
            with urlopen(f"http://{self._http}/healthz", timeout=5) as answer:
                flows = json.load(answer)["flows"]
        except URLError:
            return None
        gate = flows.get(flow, {}).get("gate", {"state": "starting"})
        return None if gate["state"] == "starting" else str(gate["reason"])

    def kill(self) -> None:
        if self._process.poll() is None:
            for child in psutil.Process(self._process.pid).children(recursive=True):
                child.kill()
            self._process.kill()
        self._process.wait()


Break = Callable[[World, Pipeline], AbstractContextManager[Broken]]


@contextmanager
def stopped(world: World, pipeline: Pipeline) -> Iterator[Broken]:
    """A gate that has met a command which nobody can read."""
    world.producer.produce(world.names.control, b"no command", b"k")
    assert world.producer.flush(DEADLINE_S) == 0

    def broken() -> bool:
        return "cannot be read" in (pipeline.reason(world.flow.name) or "")

    eventually(broken, "the gate stopped")
    yield broken
    world.flow.void(world.ends(world.names.control, 1)[0] - 1)


@contextmanager
def blocked(world: World, pipeline: Pipeline) -> Iterator[Broken]:
    """A flow that holds as many events as it may, with more events behind them."""
    world.flow.hold("full").wait(DEADLINE_S)
    world.send(b"full", *(b"%d" % number for number in range(LIMIT)))
    eventually(world.is_taken, "the flow at its limit")
    world.send(b"behind", b"1", b"2")

    def broken() -> bool:
        return not world.is_taken() and pipeline.reason(world.flow.name) not in ("", None)

    eventually(broken, "the flow blocked")
    yield broken
    world.flow.release("full").wait(DEADLINE_S)


@contextmanager
def poisoned(world: World, pipeline: Pipeline, first: int, last: int) -> Iterator[Broken]:
    """Events that nobody can read are at the position of the gate since its start."""

    def broken() -> bool:
        return "cannot be read" in (pipeline.reason(world.flow.name) or "")

    eventually(broken, "the unreadable events", START_S)
    yield broken
    world.flow.skip(0, first, last)


@contextmanager
def flooded(world: World, pipeline: Pipeline) -> Iterator[Broken]:
    """A flow with as many events as a producer can send, until the others were watched."""
    over, sent = Event(), Event()

    def flood() -> None:
        producer = Producer({"bootstrap.servers": world.kafka.bootstrap, "linger.ms": 20})
        thousands = 0
        while not over.is_set():
            for number in range(1_000):
                producer.produce(world.names.events, b"x" * 100, b"key-%d" % number)
            thousands += 1
            while len(producer) > 50_000:
                producer.poll(0.01)
            if thousands * 1_000 >= FLOOD:
                sent.set()
        producer.flush(DEADLINE_S)

    thread = Thread(target=flood, daemon=True)
    thread.start()
    assert sent.wait(DEADLINE_S)
    yield thread.is_alive
    over.set()
    thread.join()


def check_alive(world: World) -> None:
    """Events come through, a hold becomes effective and is honoured, a release lets events out."""
    before = world.processed(b"kept").count(b"kept")
    world.send(b"free", b"free")
    world.flow.hold("kept").wait(DEADLINE_S)
    world.send(b"kept", b"kept")
    world.send(b"free", b"later")
    eventually(world.is_taken, "all events taken")
    assert world.processed(b"kept").count(b"kept") == before
    assert world.processed(b"free")[-2:] == [b"free", b"later"]
    world.flow.release("kept").wait(DEADLINE_S)
    eventually(lambda: world.processed(b"kept").count(b"kept") == before + 1, "the held event")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path / "broker") as started:
        yield started


def test_a_broken_flow_delays_no_other(broker: EmbeddedBroker, tmp_path: Path) -> None:
    worlds = {name: World(broker, partitions=1) for name in ("stopped", "poisoned", "flooded")}
    worlds["blocked"] = World(broker, partitions=1, limits=Limits(flow_events=LIMIT))
    worlds["poisoned"].send(b"k", b"spoilt")
    broker.stop()
    bad = spoil(broker, worlds["poisoned"].names.events, 0, 0)
    broker.start()
    for world in worlds.values():
        world.reconnect()
    breaks: dict[str, Break] = {
        "poisoned": partial(poisoned, first=bad[0], last=bad[1]),
        "stopped": stopped,
        "blocked": blocked,
        "flooded": flooded,
    }
    pipeline = Pipeline(broker, tmp_path)
    try:
        for name, break_flow in breaks.items():
            with break_flow(worlds[name], pipeline) as broken:
                for other, world in worlds.items():
                    if other != name:
                        check_alive(world)
                assert broken(), f"{name} had recovered before the others were watched"
            eventually(worlds[name].is_taken, f"the flow that was {name} goes on")
        for name in ("poisoned", "stopped", "blocked"):
            check_alive(worlds[name])
    finally:
        pipeline.kill()
