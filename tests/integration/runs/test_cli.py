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
from tests.clients import DEADLINE_S, wait_until
from tests.conftest import unique_name
from tests.integration.runs.stack import run_holdfast

import holdfast
from holdfast.flows.run_specs import Replay, Verify
from holdfast.flows.runs import RUNS_TOPIC, RunProgress, RunState, encode_progress


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


def test_a_run_is_requested_listed_shown_and_cancelled(
    embedded_broker: EmbeddedBroker, flow: str
) -> None:
    run_id = unique_name("run")[:40]
    asking = [
        "replay", flow, "--key", "customer-7", "--since", "2h", "--rate", "50", "--id", run_id,
        "--no-wait", "-o", "json",
    ]  # fmt: skip
    asked = json.loads(run(embedded_broker, *asking))
    assert (asked["run"], asked["state"], asked["options"]["rate"]) == (run_id, "requested", 50.0)
    assert "with other options" in run(embedded_broker, "backfill", flow, "--id", run_id, code=1)
    [listed] = json.loads(run(embedded_broker, "run", "ls", flow, "-o", "json"))
    assert (listed["run"], listed["kind"], listed["state"]) == (run_id, "replay", "requested")
    run(embedded_broker, "run", "cancel", run_id, "--actor", "bo")
    shown = json.loads(run(embedded_broker, "run", "show", run_id, "-o", "json"))
    assert shown["cancelled_by"] == "bo"
    assert "no run" in run(embedded_broker, "run", "show", "none", code=3)


def test_following_a_run_exits_with_the_code_of_its_outcome(
    embedded_broker: EmbeddedBroker, flow: str
) -> None:
    with holdfast.connect(embedded_broker.bootstrap) as client:
        for state, code in ((RunState.DONE, 0), (RunState.FAILED, 1), (RunState.CANCELLED, 1)):
            asked = client.runs.ask(flow, Replay())
            publish(embedded_broker, asked.id, state, ended_at=3, result={"events": 4}, note="why")
            ended = run_holdfast(["run", "follow", asked.id, "-b", embedded_broker.bootstrap])
            assert ended.returncode == code
            assert "events\t4" in ended.stdout


def test_an_audit_run_exits_with_the_code_of_its_verdict(
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
        assert asked.request.spec == Verify(full=True)
        publish(embedded_broker, asked.id, RunState.DONE, ended_at=3, result={"passed": False})
        said, _ = process.communicate(timeout=DEADLINE_S)
        assert json.loads(said)["result"] == {"passed": False}
        assert process.returncode == 1
    finally:
        process.kill()
        process.wait()


def test_ctrl_c_keeps_the_run_going_and_prints_how_to_cancel_it(
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
        wait_until(lambda: says(b"no pipeline has started it yet"), "that it waits", 60)
        publish(embedded_broker, asked.id, RunState.RUNNING, done=25, total=100, rate=5.0)
        wait_until(lambda: says(b"25 of 100 events, 5/s, 15s left"), "the time left", 60)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: says(f"holdfast run cancel {asked.id}".encode()), "how to end it", 60)
        assert process.wait(DEADLINE_S) == 130
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def test_a_redrive_asks_for_confirmation_and_warns_about_order(
    embedded_broker: EmbeddedBroker, flow: str
) -> None:
    said = run(embedded_broker, "redrive", flow, "--all", code=2)
    assert "goes behind the newer ones of its key" in said
    assert "give --yes" in said
    said = run(embedded_broker, "redrive", flow, "--yes", code=2)
    assert "Choose dead letters" in said
