"""A real `airflow standalone`, used over its REST API as a person's browser would."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import EXAMPLES, connection_variable, free_port, send, wait_until

_WITHIN_SECONDS = 300.0
_FLOW = f"standalone-{os.getpid()}"

_WATCHING = f"""
from airflow.sdk import DAG, Asset, AssetWatcher, task
from airflow_provider_holdfast.event_triggers import KeyHeldTrigger
from airflow_provider_holdfast.runs import ReplayOperator

held = Asset("held", watchers=[AssetWatcher(name="held", trigger=KeyHeldTrigger("{_FLOW}"))])
with DAG("on_held_key", schedule=[held]):
    @task
    def react(triggering_asset_events=None):
        return [event.extra["payload"] for event in triggering_asset_events[held]]
    react()

with DAG("slow_replay", schedule=None):
    ReplayOperator(task_id="replay", flow="{_FLOW}", rate=0.1, poll_interval=1.0)
"""


class Airflow:
    """Airflow's REST API."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = httpx.Client(base_url=address, timeout=60.0)

    def sign_in(self) -> bool:
        try:
            reply = self._client.get("/auth/token")
        except httpx.TransportError:
            return False
        if not reply.is_success:
            return False
        self._client.headers["Authorization"] = f"Bearer {reply.json()['access_token']}"
        return True

    def request(self, method: str, path: str, body: Any = None) -> Any:
        reply = self._client.request(method, f"/api/v2{path}", json=body)
        assert reply.is_success, reply.text
        return reply.json()

    def knows(self, dag: str) -> bool:
        return self._client.get(f"/api/v2/dags/{dag}").is_success

    def start(self, dag: str, **params: Any) -> str:
        """Triggers a DAG. Returns the path of its run."""
        self.request("PATCH", f"/dags/{dag}?update_mask=is_paused", {"is_paused": False})
        body = {"logical_date": None, "conf": params}
        run = self.request("POST", f"/dags/{dag}/dagRuns", body)
        return f"/dags/{dag}/dagRuns/{run['dag_run_id']}"

    def task_state(self, path: str, task: str) -> Any:
        return self.request("GET", f"{path}/taskInstances/{task}")["state"]


@pytest.fixture(scope="module")
def standalone(address: str, api: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """`airflow standalone` with the example DAGs and two of its own."""
    home = tmp_path_factory.mktemp("standalone")
    dags = home / "dags"
    dags.mkdir()
    for example in EXAMPLES.glob("[a-z]*.py"):
        (dags / example.name).write_text(example.read_text())
    (dags / "watching.py").write_text(_WATCHING)
    api.post("/flows", {"name": _FLOW, "partitions": 1})
    send(api, _FLOW, "customer-1", {"id": 1}, {"id": 2}, {"id": 3})
    port = free_port()
    process = _start(home, port, address)
    try:
        airflow = Airflow(f"http://127.0.0.1:{port}")
        _until(process, home, airflow.sign_in, "Airflow's API")
        for dag in ("replay", "on_held_key", "slow_replay"):
            _until(process, home, lambda dag=dag: airflow.knows(dag), f"the DAG {dag}")
        yield airflow
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            if _group_lives(process.pid):
                os.killpg(process.pid, signal.SIGKILL)


def _start(home: Path, port: int, address: str) -> subprocess.Popen[bytes]:
    settings = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        "AIRFLOW__CORE__TEST_CONNECTION": "Enabled",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "true",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(free_port()),
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
        "AIRFLOW_CONN_HOLDFAST_DEFAULT": connection_variable(address),
    }
    with (home / "standalone.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "airflow", "standalone"],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **settings, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
            start_new_session=True,  # all its processes end together
        )


def _until(process: Any, home: Path, true: Any, what: str) -> None:
    def checked() -> Any:
        assert process.poll() is None, (home / "standalone.log").read_text()[-5_000:]
        return true()

    wait_until(checked, what, _WITHIN_SECONDS)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_triggered_dag_replays_and_links_to_its_run(standalone: Any, api: Any) -> None:
    path = standalone.start("replay", flow=_FLOW)

    def over() -> Any:
        state = standalone.request("GET", path)["state"]
        return state in ("success", "failed") and state

    assert wait_until(over, "the end of the DAG run", _WITHIN_SECONDS) == "success"
    links = standalone.request("GET", f"{path}/taskInstances/replay/links")["extra_links"]
    run = links["Run in Holdfast"].rpartition("/")[2]
    assert api.get(f"/runs/{run}")["state"] == "done"
    xcom = standalone.request("GET", f"{path}/taskInstances/replay/xcomEntries/return_value")
    assert run in str(xcom["value"])


def test_ending_a_deferred_task_cancels_its_run(standalone: Any, api: Any) -> None:
    path = standalone.start("slow_replay")
    wait_until(
        lambda: standalone.task_state(path, "replay") == "deferred", "deferral", _WITHIN_SECONDS
    )

    def running() -> Any:
        known = api.get("/runs", {"flow": _FLOW})["runs"]
        return next((run for run in known if run["state"] == "running"), None)

    run = wait_until(running, "the replay")
    standalone.request("PATCH", f"{path}/taskInstances/replay", {"new_state": "failed"})
    wait_until(
        lambda: api.get(f"/runs/{run['run']}")["state"] == "cancelled",
        "the run's end",
        _WITHIN_SECONDS,
    )


def test_held_key_starts_a_dag(standalone: Any, api: Any) -> None:
    standalone.request("PATCH", "/dags/on_held_key?update_mask=is_paused", {"is_paused": False})

    def held_and_started() -> Any:
        # The triggerer notices holds once it has connected, so hold and release until it has.
        key = f"/flows/{_FLOW}/keys/customer-held"
        api.post(f"{key}/hold", {"reason": "stock count"}, params={"wait": "effective"})
        api.post(f"{key}/release", params={"wait": "effective"})
        return standalone.request("GET", "/dags/on_held_key/dagRuns")["dag_runs"]

    (run, *_) = wait_until(held_and_started, "a DAG run", _WITHIN_SECONDS)
    path = f"/dags/on_held_key/dagRuns/{run['dag_run_id']}"
    wait_until(
        lambda: standalone.task_state(path, "react") == "success", "the task", _WITHIN_SECONDS
    )
    xcom = standalone.request("GET", f"{path}/taskInstances/react/xcomEntries/return_value")
    assert "customer-held" in str(xcom["value"])
    assert "stock count" in str(xcom["value"])


def test_test_button_answers_with_the_role(standalone: Any, address: str) -> None:
    body = {"connection_id": "trial", "conn_type": "holdfast", "host": address}
    reply = standalone.request("POST", "/connections/test", body)
    assert reply == {"status": True, "message": "Connected as local with the role admin."}
