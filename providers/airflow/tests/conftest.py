"""A Holdfast and an Airflow for the tests. `HOLDFAST_ADDRESS` names a running Holdfast to use."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "providers/airflow/src/airflow_provider_holdfast/example_dags"
UP_WITHIN_SECONDS = 400.0

# Airflow reads its settings when it is imported.
_home = tempfile.TemporaryDirectory(prefix="airflow-")
os.environ |= {
    "AIRFLOW_HOME": _home.name,
    "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
    "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLES),
    "AIRFLOW__CORE__TEST_CONNECTION": "Enabled",
    "AIRFLOW__CORE__UNIT_TEST_MODE": "false",
}


def wait_until(true: Callable[[], Any], what: str, seconds: float = 120.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < deadline, f"{what} did not come within {seconds:.0f} s"
        time.sleep(0.2)
    return value


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def connection_variable(address: str, token: str = "") -> str:
    return json.dumps({"conn_type": "holdfast", "host": address, "password": token})


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running `holdfast up`."""
    if given := os.environ.get("HOLDFAST_ADDRESS"):
        yield given
        return
    folder = tmp_path_factory.mktemp("holdfast")
    web = free_port()
    ports = [f"--broker-port={free_port()}", f"--metrics-port={free_port()}", f"--web-port={web}"]
    python = ROOT / ".venv/bin/python"
    with (folder / "up.log").open("wb") as log:
        process = subprocess.Popen(
            [python, "-m", "holdfast.cli", "up", *ports],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}/src"},
        )

    def up() -> bool:
        text = (folder / "up.log").read_text(errors="replace")
        assert process.poll() is None, text
        return "is up:" in text

    try:
        wait_until(up, "holdfast up", UP_WITHIN_SECONDS)
        yield f"http://127.0.0.1:{web}"
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="session")
def api(address: str) -> Iterator[Any]:
    from airflow_provider_holdfast.api import Api, Endpoint

    with Api(Endpoint(address)) as client:
        yield client


@pytest.fixture(scope="session")
def airflow(address: str) -> None:
    """Airflow's database, and the connection `holdfast_default`."""
    os.environ["AIRFLOW_CONN_HOLDFAST_DEFAULT"] = connection_variable(address)
    subprocess.run(
        [sys.executable, "-m", "airflow", "db", "migrate"], check=True, capture_output=True
    )


@pytest.fixture(scope="session")
def flow(api: Any) -> str:
    """A flow with ten events in the raw zone: nine good ones, and one that breaks its check."""
    name = f"orders-{os.getpid()}"
    api.post(
        "/flows",
        {
            "name": name,
            "partitions": 2,
            "schema": "id BIGINT, total DOUBLE",
            "checks": ["range total 0..100"],
        },
    )
    send(api, name, "customer-1", *({"id": n, "total": 5.0} for n in range(9)))
    send(api, name, "customer-bad", {"id": 9, "total": 5000.0})
    wait_until(lambda: landed(api, name) >= 10, "ten events in the raw zone")
    return name


def send(api: Any, flow: str, key: str, *values: dict[str, Any]) -> None:
    for value in values:
        api.post(f"/flows/{flow}/events", {"key": key, "value": value})


def landed(api: Any, flow: str) -> int:
    """The number of events in the raw zone, by a replay that sends nothing."""
    run = ended(api, api.post(f"/flows/{flow}/replays", {"dry_run": True})["run"])
    return int(run["result"]["events"])


def ended(api: Any, run: str) -> dict[str, Any]:
    def over() -> Any:
        known = [each for each in api.get("/runs")["runs"] if each["run"] == run]
        return known and known[0]["state"] in ("done", "failed", "cancelled")

    wait_until(over, f"the end of {run}")
    return dict(api.get(f"/runs/{run}"))


def make_letters(api: Any, flow: str, key: str, count: int) -> None:
    """Dead letters of a key, with the reason `dead-lettered`."""
    path, wait = f"/flows/{flow}/keys/{key}", {"wait": "effective"}
    api.post(f"{path}/hold", {"reason": "test"}, params=wait)
    send(api, flow, key, *({"id": 100 + n, "total": 1.0} for n in range(count)))
    wait_until(lambda: api.get(path)["events"] == count, f"{count} held events")
    api.post(f"{path}/dead-letter", {"reason": "test"}, params=wait)
    wait_until(lambda: len(letters(api, flow, key)) >= count, f"{count} dead letters")


def letters(api: Any, flow: str, key: str) -> list[dict[str, Any]]:
    page = api.get(f"/flows/{flow}/dead-letters", {"key": key})
    return list(page["records"])
