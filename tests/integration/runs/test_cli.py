"""Runs on the command line: asked for, followed, ended. The pipeline is played by records."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.conftest import unique_name
from tests.integration.runs.stack import run_holdfast

import holdfast
from holdfast.flows.runs import RUNS_TOPIC, RunProgress, RunState, encode_progress
from holdfast.flows.work import Replay, Verify


@pytest.fixture
def flow(embedded_broker: EmbeddedBroker) -> str:
    name = unique_name("cli").lower()
    with holdfast.connect(embedded_broker.bootstrap) as client:
        client.flow(name).create(partitions=2)
    return name


def publish(broker: EmbeddedBroker, run: str, state: RunState, **fields: object) -> None:
    progress = RunProgress(id=run, state=state, started_at=1, updated_at=2, **fields)  # type: ignore[arg-type]
    key, value = encode_progress(progress)
    with holdfast.connect(broker.bootstrap) as client:
        client.send(RUNS_TOPIC, value, key).result()


def run(broker: EmbeddedBroker, *arguments: str, code: int = 0) -> str:
    ended = run_holdfast([*arguments, "-b", broker.bootstrap])
    assert ended.returncode == code, ended.stderr
    return ended.stdout if code == 0 else ended.stderr


def test_a_run_is_asked_for_listed_shown_and_cancelled(
    embedded_broker: EmbeddedBroker, flow: str
) -> None:
    run_id = unique_name("run")[:40]
    asking = [
        "replay", flow, "--key", "customer-7", "--since", "2h", "--rate", "50", "--id", run_id,
        "--no-wait", "-o", "json",
    ]  # fmt: skip
    asked = json.loads(run(embedded_broker, *asking))
    assert (asked["run"], asked["state"], asked["asked"]["rate"]) == (run_id, "requested", 50.0)
    assert "something else" in run(embedded_broker, "backfill", flow, "--id", run_id, code=1)
    [listed] = json.loads(run(embedded_broker, "run", "ls", flow, "-o", "json"))
    assert (listed["run"], listed["work"], listed["state"]) == (run_id, "replay", "requested")
    run(embedded_broker, "run", "cancel", run_id, "--actor", "bo")
    shown = json.loads(run(embedded_broker, "run", "show", run_id, "-o", "json"))
    assert shown["cancelled_by"] == "bo"
    assert "no run" in run(embedded_broker, "run", "show", "none", code=3)


def test_following_ends_with_the_run_and_its_end_is_the_exit_code(
    embedded_broker: EmbeddedBroker, flow: str
) -> None:
    with holdfast.connect(embedded_broker.bootstrap) as client:
        for state, code in ((RunState.DONE, 0), (RunState.FAILED, 1), (RunState.CANCELLED, 1)):
            asked = client.runs.ask(flow, Replay())
            publish(embedded_broker, asked.id, state, ended_at=3, result={"events": 4}, note="why")
            ended = run_holdfast(["run", "follow", asked.id, "-b", embedded_broker.bootstrap])
            assert ended.returncode == code
            assert "events\t4" in ended.stdout


def test_an_audit_is_asked_for_and_its_verdict_is_the_exit_code(
    embedded_broker: EmbeddedBroker, flow: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli", "verify", flow, "--full", "--run", "-o", "json",
         "-b", embedded_broker.bootstrap],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        with holdfast.connect(embedded_broker.bootstrap) as client:
            [asked] = wait_until(lambda: client.runs.list(flow), "the run", 60)
        assert asked.request.work == Verify(full=True)
        publish(embedded_broker, asked.id, RunState.DONE, ended_at=3, result={"passed": False})
        said, _ = process.communicate(timeout=60)
        assert json.loads(said)["result"] == {"passed": False}
        assert process.returncode == 1
    finally:
        process.kill()
        process.wait()


def test_ctrl_c_leaves_the_run_going_and_says_how_to_end_it(
    embedded_broker: EmbeddedBroker, flow: str
) -> None:
    """On a terminal, with its bar."""
    with holdfast.connect(embedded_broker.bootstrap) as client:
        asked = client.runs.ask(flow, Replay())
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli", "run", "follow", asked.id,
         "-b", embedded_broker.bootstrap],
        stdout=subprocess.DEVNULL, stderr=end,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
    )  # fmt: skip
    os.close(end)
    os.set_blocking(terminal, False)
    seen = b""

    def says(text: bytes) -> bool:
        nonlocal seen
        try:
            seen += os.read(terminal, 100_000)
        except (BlockingIOError, OSError):
            time.sleep(0.05)
        return text in seen

    try:
        wait_until(lambda: says(b"no pipeline has taken it up"), "that it waits", 60)
        publish(embedded_broker, asked.id, RunState.RUNNING, done=25, total=100, rate=5.0)
        wait_until(lambda: says(b"25 of 100 events, 5/s, 0:15 left"), "the time left", 60)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: says(f"holdfast run cancel {asked.id}".encode()), "how to end it", 60)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def test_a_redrive_asks_first_and_says_what_it_does_to_the_order(
    embedded_broker: EmbeddedBroker, flow: str
) -> None:
    said = run(embedded_broker, "redrive", flow, "--all", code=2)
    assert "goes behind the newer ones of its key" in said
    assert "give --yes" in said
    said = run(embedded_broker, "redrive", flow, "--yes", code=2)
    assert "Say which dead letters" in said
