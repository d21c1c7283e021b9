"""`holdfast up` as people run it: real processes, from the first line to the last."""

import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from tests.clients import DEADLINE_S, wait_until
from tests.stack import UP_WITHIN_S, Up

import holdfast


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Up]]:
    runs: list[Up] = []
    yield runs
    for up in runs:
        up.stop()


@pytest.mark.spark
def test_one_command_runs_all_parts_restarts_them_and_ctrl_c_ends_it(
    tmp_path: Path, started: list[Up]
) -> None:
    up = Up(tmp_path, "--demo", "--data-dir", "data")
    started.append(up)
    up.wait_for(r"^holdfast \| is up: broker at ")
    (address,) = re.findall(r"is up: broker at (\S+),", up.said())
    everyone = psutil.Process(up.process.pid).children(recursive=True)

    with holdfast.connect(address) as client:
        assert [flow.name for flow in client.flows()] == ["billing", "demo", "orders", "payments"]
        orders = client.flow("orders")
        wait_until(
            lambda: {b"customer-007", b"customer-021"} <= {status.key for status in orders.held()},
            "keys on hold",
            UP_WITHIN_S,
        )
        wait_until(
            lambda: sum(r.records for r in client.topics.ranges("orders.processed")) > 20,
            "orders through the gate",
            UP_WITHIN_S,
        )
        wait_until(
            lambda: list(client.flow("billing").held()),
            "a customer whom the partner refuses",
            UP_WITHIN_S,
        )

    (dashboard,) = re.findall(r"^holdfast \| Dashboard: (\S+)$", up.said(), re.MULTILINE)
    wait_until(lambda: httpx.get(f"{dashboard}/readyz").is_success, "the dashboard", UP_WITHIN_S)
    page = httpx.get(dashboard)
    assert (page.status_code, "orders" in page.text) == (200, True)

    up.child("web").kill()
    up.wait_for(r"^web      \| has ended \(signal 9\); started again")
    up.wait_for(rf"^web      \| Dashboard at {re.escape(dashboard)}$", times=2)
    up.child("broker").kill()
    up.wait_for(r"^broker   \| has ended \(signal 9\); started again")
    up.wait_for(rf"^broker   \| Listening on {re.escape(address)}$", times=2)
    (spark,) = [c for c in up.child("pipeline").children() if c.name() == "java"]
    spark.kill()
    up.wait_for(r"^pipeline \| has ended \(exit code 4\); started again")
    up.wait_for(r"^pipeline \| Pipeline running on ", times=2)
    everyone += psutil.Process(up.process.pid).children(recursive=True)

    os.kill(up.process.pid, signal.SIGINT)
    assert up.process.wait(120) == 0, up.said()
    said = up.said()
    assert said.rindex("The web process has ended") < said.rindex("The pipeline has ended")
    assert said.index("The pipeline has ended") < said.index("Stopping: finishing running requests")
    assert said.rstrip().endswith("holdfast | all parts have ended")
    assert "Traceback" not in said[said.rindex("Pipeline running on") :]
    assert not [p for p in everyone if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data", "up.log"]
    assert {p.name for p in (tmp_path / "data").iterdir()} <= {"broker", "pipeline", "lake"}


def test_requested_port_in_use_is_a_clear_error(tmp_path: Path, started: list[Up]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        up = Up(tmp_path, "--broker-port", str(port))
        started.append(up)
        assert up.process.wait(DEADLINE_S) == 2
    assert f"Port {port} is in use by another process" in up.said()
    assert "Traceback" not in up.said()
