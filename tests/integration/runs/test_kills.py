"""The whole pipeline, killed (kill -9) in the middle of each kind of run, goes on without loss or
doubles. One flow, through all of it: starting Spark is what takes the time."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.integration.runs.lake import PATIENCE_S, by_key, numbered
from tests.integration.runs.stack import Stack

from holdfast.flows.run_specs import Backfill, Replay

pytestmark = pytest.mark.spark

COUNT = 2_000
HELD = "key-3"
OF_HELD = COUNT // 20


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """On a broker of its own: a pipeline runs every flow that its broker knows, and the broker of
    the other tests knows all of theirs."""
    folder = tmp_path_factory.mktemp("stack")
    with EmbeddedBroker(folder / "broker") as broker:
        made = Stack(broker, folder)
        yield made
        made.kill()


def test_replay_backfill_and_redrive_continue_after_a_kill_and_respect_holds(
    stack: Stack,
) -> None:
    flow = stack.flow()
    stack.start(fault="run-before-commit@1")
    flow.fill(COUNT)
    stack.wait_for(flow, "processed", COUNT)
    flow.handle.hold(HELD).wait(PATIENCE_S)

    # A replay: first its task is killed, then everything.
    replay = flow.ask(Replay())
    worker = stack.wait_at_fault()
    os.kill(worker, signal.SIGKILL)
    stack.wait_at_fault(but_not=worker)
    stack.kill()
    stack.start(fault="backfill-after-commit@1")
    flow.finish(replay)
    sent = flow.replayed(replay)
    assert len({record.header("holdfast-replay-source") for record in sent}) == len(sent) == COUNT
    assert by_key(sent) == numbered(COUNT), "in the order of each key"
    passed = stack.wait_for(flow, "processed", 2 * COUNT - OF_HELD)
    assert len(by_key(passed)[HELD.encode()]) == OF_HELD, "those of the held key stay held"
    wait_until(lambda: flow.handle.status(HELD).events == OF_HELD, "held events", PATIENCE_S)

    # A backfill that is killed after Delta's commit and before its progress record.
    landed = 2 * COUNT
    flow.wait_until_landed(landed)
    assert flow.lose_from_the_raw_zone() > COUNT // 2
    backfill = flow.ask(Backfill())
    stack.wait_at_fault()
    stack.kill()
    stack.start()
    flow.finish(backfill)
    places = Counter((row["partition"], row["offset"]) for row in flow.raw())
    assert set(places.values()) == {1}
    assert len(places) == landed

    # A redrive through the real gate: what fails again comes back with its attempt counted.
    for attempt in (None, b"2"):
        flow.handle.dead_letter(HELD).wait(PATIENCE_S)
        letters = stack.wait_for(flow, "dlq", OF_HELD if attempt is None else 2 * OF_HELD)
        assert {r.header("holdfast-attempt") for r in letters[-OF_HELD:]} == {attempt}
        done = stack.holdfast("redrive", flow.name, "--all", "--yes", "-o", "json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["result"]["outcomes"]["redriven"] == OF_HELD
        wait_until(lambda: flow.handle.status(HELD).events == OF_HELD, "held events", PATIENCE_S)
    flow.handle.release(HELD).wait(PATIENCE_S)
    everything = by_key(stack.wait_for(flow, "processed", 2 * COUNT))
    assert everything == {key: 2 * values for key, values in numbered(COUNT).items()}
