"""`holdfast pipeline` as a process: it picks flows up by itself, tells how it is, and ends well.

Without the gate, which has tests of its own.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from deltalake import DeltaTable
from tests.brokers import DIES_WITH_PARENT, EmbeddedBroker, free_ports
from tests.clients import wait_until
from tests.conftest import unique_name
from tests.integration.raw_zone.conftest import LANDS_WITHIN_S

import holdfast

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


class Pipeline:
    """One `holdfast pipeline` that writes a lake of its own."""

    def __init__(self, broker: EmbeddedBroker, folder: Path) -> None:
        self.lake = folder / "lake"
        self._log = folder / "pipeline.log"
        self._http = f"127.0.0.1:{free_ports(1)[0]}"
        command = [
            sys.executable, "-m", "holdfast.cli", "pipeline", "--kafka", broker.bootstrap,
            "--data-dir", str(folder / "data"), "--lake", str(self.lake), "--http", self._http,
            "--no-gate", "--log-format", "json",
        ]  # fmt: skip
        with self._log.open("wb") as log:
            self.process = subprocess.Popen([*DIES_WITH_PARENT, *command], stdout=log, stderr=log)

    def kill(self) -> None:
        """This process and Spark's, which it has started."""
        if self.process.poll() is None:
            started = psutil.Process(self.process.pid).children(recursive=True)
            self.process.kill()
            for child in started:
                with suppress(psutil.NoSuchProcess):
                    child.kill()
        self.process.wait()

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def landed(self, flow: str) -> int:
        assert self.process.poll() is None, self.said()
        location = str(self.lake / "raw" / flow)
        if not DeltaTable.is_deltatable(location):
            return 0
        return DeltaTable(location).to_pyarrow_table().num_rows

    def get(self, path: str) -> str:
        try:
            with urlopen(f"http://{self._http}{path}", timeout=5) as answer:
                text: str = answer.read().decode()
                return text
        except URLError:
            return ""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    """Nobody else's: a pipeline takes up every flow that it finds."""
    with EmbeddedBroker(tmp_path / "broker") as started:
        yield started


@pytest.fixture
def pipeline(broker: EmbeddedBroker, tmp_path: Path) -> Iterator[Pipeline]:
    started = Pipeline(broker, tmp_path)
    yield started
    started.kill()


def test_flows_are_picked_up_without_a_restart_and_sigterm_ends_all_with_code_0(
    pipeline: Pipeline, broker: EmbeddedBroker
) -> None:
    first, second = (unique_name(name).lower() for name in ("first", "second"))
    with holdfast.connect(broker.bootstrap) as client:
        for flow in (first, second):
            client.flow(flow).create(partitions=2)
            for number in range(5):
                client.send(f"{flow}.events", {"number": number}, key=f"key-{number}")
            client.close()
            wait_until(lambda f=flow: pipeline.landed(f) == 5, f"five of {flow}", LANDS_WITHIN_S)
    health = json.loads(pipeline.get("/healthz"))
    well = {"state": "running", "reason": ""}
    assert health["flows"][first] == {"raw-zone": well, "runs": well}
    counted = f'holdfast_events_landed_total{{flow="{second}"}} 5.0'
    wait_until(lambda: counted in pipeline.get("/metrics"), counted, LANDS_WITHIN_S)
    lines = [json.loads(line) for line in pipeline.said().splitlines() if line.startswith("{")]
    assert any({"flow": second, "part": "raw-zone"}.items() <= line.items() for line in lines)

    pipeline.process.send_signal(signal.SIGTERM)
    assert pipeline.process.wait(60) == 0, pipeline.said()
    assert "Traceback" not in pipeline.said()


def test_a_machine_without_java_is_told_so_in_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast.cli", "pipeline", "--data-dir", str(tmp_path)]
    ended = subprocess.run(
        command,
        env={**os.environ, "JAVA_HOME": str(tmp_path / "nowhere")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "Spark could not be started" in ended.stderr
    assert "Traceback" not in ended.stderr
