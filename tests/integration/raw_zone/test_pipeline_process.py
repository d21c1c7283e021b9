"""`holdfast pipeline` as a process: it picks flows up by itself, tells how it is, and ends well.

Without the gate, which has tests of its own.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from deltalake import DeltaTable
from tests.brokers import DIES_WITH_PARENT, EmbeddedBroker, free_ports
from tests.chaos.system.clock import Clock, build_library
from tests.clients import DEADLINE_S, wait_until
from tests.conftest import unique_name
from tests.integration.raw_zone.conftest import LANDS_WITHIN_S

import holdfast
from holdfast.cli import USAGE

pytestmark = pytest.mark.spark


class Pipeline:
    """One `holdfast pipeline` that writes a lake of its own."""

    def __init__(
        self, broker: EmbeddedBroker, folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.lake = folder / "lake"
        self._log = folder / "pipeline.log"
        self._http = f"127.0.0.1:{free_ports(1)[0]}"
        command = [
            sys.executable, "-m", "holdfast.cli", "pipeline", "--kafka", broker.bootstrap,
            "--data-dir", str(folder / "data"), "--lake", str(self.lake), "--http", self._http,
            "--no-gate", "--log-format", "json",
        ]  # fmt: skip
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_PARENT, *command],
                stdout=log,
                stderr=log,
                env={**os.environ, **(environment or {})},
            )

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
        return int(DeltaTable(location).to_pyarrow_table().num_rows)

    def get(self, path: str) -> str:
        try:
            with urlopen(f"http://{self._http}{path}", timeout=5) as answer:
                text: str = answer.read().decode()
                return text
        except URLError:
            return ""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    """A broker of its own: a pipeline runs every registered flow."""
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

            def landed(flow: str = flow) -> bool:
                return pipeline.landed(flow) == 5

            wait_until(landed, f"five of {flow}", LANDS_WITHIN_S)
    health = json.loads(pipeline.get("/healthz"))
    well = {"state": "running", "reason": ""}
    assert health["flows"][first] == {"raw-zone": well, "runs": well}
    counted = f'holdfast_events_landed_total{{flow="{second}"}} 5.0'
    wait_until(lambda: counted in pipeline.get("/metrics"), counted, LANDS_WITHIN_S)
    lines = [json.loads(line) for line in pipeline.said().splitlines() if line.startswith("{")]
    assert any({"flow": second, "part": "raw-zone"}.items() <= line.items() for line in lines)

    pipeline.process.send_signal(signal.SIGTERM)
    assert pipeline.process.wait(DEADLINE_S) == 0, pipeline.said()
    assert "Traceback" not in pipeline.said()


def test_events_land_after_the_pipeline_s_clock_was_set_back_by_an_hour(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    library = build_library(tmp_path)
    if library is None:
        pytest.skip("there is no C compiler to build the clock with")
    clock, flow = Clock(library, tmp_path / "clock"), unique_name("flow").lower()
    clock.set(3600)
    pipeline = Pipeline(broker, tmp_path, clock.environment)
    try:
        with holdfast.connect(broker.bootstrap) as client:
            client.flow(flow).create(partitions=1)
            client.send(f"{flow}.events", b"1", key="k").result(DEADLINE_S)
            wait_until(lambda: pipeline.landed(flow) == 1, "the first event", LANDS_WITHIN_S)
            clock.set(0)
            client.send(f"{flow}.events", b"2", key="k").result(DEADLINE_S)
            wait_until(lambda: pipeline.landed(flow) == 2, "the second event", LANDS_WITHIN_S)
        assert "jumped back" in pipeline.said()
    finally:
        pipeline.kill()


def test_the_error_without_java_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast.cli", "pipeline", "--data-dir", str(tmp_path)]
    ended = subprocess.run(
        command,
        env={**os.environ, "JAVA_HOME": str(tmp_path / "nowhere")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == USAGE
    assert "JAVA_HOME" in ended.stderr
    assert "Install JDK 17" in ended.stderr
    assert "Traceback" not in ended.stderr
