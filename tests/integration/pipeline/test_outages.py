"""The broker is away, stands still, or has no room: the gate says so, waits, and loses nothing."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import World, eventually, gate_of, running
from tests.small_disk import mounted

from holdfast import faults
from holdfast.kafka.transactions import Transactions
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.keeper import Keeper

KINDS = [ApacheKafka, EmbeddedBroker]
PATIENCE_S = 3.0
"""Time-outs run out sooner; what follows from that is the same."""


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.kind)
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerProcess]:
    """One of each kind for the tests of this module, which leave it running."""
    kind: type[BrokerProcess] = request.param
    with kind(tmp_path_factory.mktemp(f"outages-{kind.kind}")) as started:
        yield started


class AtOnce:
    """Does something when a step comes to a point for the first time."""

    def __init__(self, point: str, deed: object) -> None:
        self._point = point
        self._deed = deed
        self.reached = False

    def reach(self, point: str) -> None:
        if point == self._point and not self.reached:
            self.reached = True
            self._deed()  # type: ignore[operator]


@contextmanager
def batch_in_background(world: World, gate: FlowGate) -> Iterator[Thread]:
    """One batch, which goes on for as long as it has to."""
    thread = Thread(target=Feeder(world.connection, gate).batch, daemon=True)
    thread.start()
    yield thread
    thread.join(90)
    assert not thread.is_alive(), "the batch has not ended"


def producer_of(gate: FlowGate) -> object:
    transactions = gate._exclusive.committer.transactions
    assert isinstance(transactions, Transactions)
    return transactions._producer


def test_a_broker_that_hangs_while_offsets_are_sent_is_abandoned_and_tried_again(
    broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`send_offsets_to_transaction` gets no answer; its producer is left behind, and what it had
    sent is aborted by the next one of the same id."""
    world = World(broker, partitions=1, patience=PATIENCE_S)
    world.flow.hold("k")
    world.send(b"k", b"1")
    world.send(b"o", b"2", b"3")
    with gate_of(world) as gate:
        first = producer_of(gate)
        stopped = AtOnce("before-offsets", lambda: os.kill(broker.pid, signal.SIGSTOP))
        monkeypatch.setattr(faults, "_armed", stopped)
        try:
            with batch_in_background(world, gate):
                said = "send_offsets_to_transaction"
                eventually(lambda: said in str(gate.trouble), "a gate that says why")
                os.kill(broker.pid, signal.SIGCONT)
        finally:
            os.kill(broker.pid, signal.SIGCONT)
        assert producer_of(gate) is not first
        assert (gate.counts.taken, gate._exclusive.states[0].events) == (3, 1)
        world.send(b"o", b"4")
        Feeder(world.connection, gate).batch()
    assert world.processed() == [b"2", b"3", b"4"]
    world.check_each_event_once()


def test_the_broker_away_past_every_time_out_is_waited_for(broker: BrokerProcess) -> None:
    world = World(broker, partitions=1, patience=PATIENCE_S)
    with running(world) as gate:
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", b"1")
        world.send(b"o", b"2")
        eventually(lambda: world.processed() == [b"2"], "the first event")
        broker.kill()
        # Said once the first request has run out of time, as all others do.
        eventually(lambda: gate.trouble is not None, "a gate that says why it waits", 60)
        broker.start()
        world.reconnect()
        world.send(b"o", b"3")
        eventually(lambda: world.processed() == [b"2", b"3"], "events after the return", 90)
        world.flow.release("k").wait(DEADLINE_S)
        eventually(
            lambda: Counter(world.processed()) == Counter([b"1", b"2", b"3"]), "the held event", 60
        )
        eventually(lambda: gate.trouble is None, "no trouble any more", 60)
    world.check_each_event_once()


@pytest.fixture(params=KINDS, ids=lambda kind: kind.kind)
def small_disk(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[BrokerProcess, Path]]:
    """A broker on a file system of its own, and where that is."""
    with mounted(tmp_path / "data", "256m") as data, request.param(tmp_path) as broker:
        yield broker, data


def test_gate_stops_on_a_full_disk_and_continues_without_loss(
    small_disk: tuple[BrokerProcess, Path],
) -> None:
    """The embedded broker refuses what it has no room for; Apache Kafka ends."""
    broker, disk = small_disk
    world = World(broker, partitions=1, patience=PATIENCE_S)
    world.flow.hold("k")
    world.send(b"k", *(b"%d" % i for i in range(50)))
    world.send(b"o", *(b"%d" % i for i in range(50)))
    with gate_of(world) as gate:
        filler = disk / "filler"
        fill_up(filler)
        with batch_in_background(world, gate) as batch:
            eventually(lambda: gate.trouble is not None, "a gate that says why", 60)
            assert gate.counts.taken == 0
            filler.unlink()
            eventually(lambda: _is_over(batch, broker), "the batch", 90)
        world.reconnect()
        assert gate.counts.taken == 100
        world.flow.release("k")
        keeper = Keeper(gate)
        eventually(
            lambda: keeper.turn() is not None and not gate._exclusive.states[0].entries, "the drain"
        )
    assert world.processed(b"o") == [b"%d" % i for i in range(50)]
    assert world.processed(b"k") == [b"%d" % i for i in range(50)]
    world.check_each_event_once()


def _is_over(batch: Thread, broker: BrokerProcess) -> bool:
    if not broker.running:
        broker.start()
    return not batch.is_alive()


def fill_up(file: Path) -> None:
    """Until not a byte is left."""
    with file.open("wb", buffering=0) as out:
        for size in (1024**2, 4_096):
            try:
                while True:
                    out.write(bytes(size))
            except OSError:
                pass
