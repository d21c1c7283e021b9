"""The wheel is built the same twice, and is enough for each part with its extra."""

import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
from tests.brokers import DIES_WITH_PARENT, EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until
from tests.integration.install.environments import ROOT, Environment, build

from holdfast.jars import SPARK, VARIABLE, jar_folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("dist"))[0]


def run(place: Environment, folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """A command of the environment, in an empty folder and with a home of its own."""
    return subprocess.run(
        [str(place.bin / command[0]), *command[1:]], cwd=folder, env=surroundings(folder),
        capture_output=True, text=True, check=False, timeout=DEADLINE_S,
    )  # fmt: skip


def surroundings(folder: Path) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("HOLDFAST", "PYTHON", "XDG"))}
    return {**kept, "HOME": str(folder), "PYTHONUNBUFFERED": "1"}


def server_starts(place: Environment, folder: Path, ready: str, *arguments: str) -> None:
    """Runs a command until it prints that it is ready, and ends it."""
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*DIES_WITH_PARENT, str(place.bin / "holdfast"), *arguments], cwd=folder,
            stdout=output, stderr=subprocess.STDOUT,
            env={**surroundings(folder), VARIABLE: str(jar_folder(SPARK).parent)},
        )  # fmt: skip
    try:

        def is_ready() -> bool:
            assert process.poll() is None, log.read_text()
            return re.search(ready, log.read_text(), re.MULTILINE) is not None

        wait_until(is_ready, ready, 400)
        process.terminate()
        assert process.wait(DEADLINE_S) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()


def test_wheel_and_sdist_have_the_same_bytes_when_they_are_built_again(tmp_path: Path) -> None:
    """Also from the sdist, which has other times and nothing of the clone around it."""
    wheel, sdist = build(ROOT, tmp_path / "first")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.glob("holdfast-*/")
    again = build(unpacked, tmp_path / "second")
    assert wheel.read_bytes() == again[0].read_bytes()
    assert sdist.read_bytes() == again[1].read_bytes()


def test_the_core_works_and_names_each_extra_that_is_missing(
    wheel: Path, tmp_path: Path, embedded_broker: EmbeddedBroker, topic: str
) -> None:
    place = Environment(tmp_path / "venv", wheel)
    folder = tmp_path / "home"
    folder.mkdir()
    assert run(place, folder, "holdfast", "--version").stdout == "holdfast 0.1.0\n"
    to = ("-b", embedded_broker.bootstrap)
    for command in (
        ("topic", "create", topic),
        ("consume", topic),
        ("flow", "ls"),
        ("token", "ls"),
    ):
        done = run(place, folder, "python", "-m", "holdfast", *command, *to)
        assert done.returncode == 0, (command, done.stderr)
    for part, extra in (("broker", "broker"), ("pipeline", "pipeline"), ("web", "web"),
                           ("up", "broker,pipeline,web")):  # fmt: skip
        done = run(place, folder, "holdfast", part)
        assert f"`pip install 'holdfast[{extra}]'`" in done.stderr
        assert "Traceback" not in done.stderr
        assert done.returncode == 1
    imported = run(place, folder, "python", "-c", "import holdfast.processing")
    assert "pip install 'holdfast[processing]'" in imported.stderr
    said = run(place, folder, "holdfast", "doctor", *to).stdout
    assert "fix\tparts\tRun `pip install 'holdfast[broker,pipeline,web]'`." in said
    assert "fix\tjars\tRun `holdfast jars`" in said
    assert f"{folder}/.cache/holdfast/jars/spark" in said


def test_the_broker_runs_with_its_extra(wheel: Path, tmp_path: Path) -> None:
    place = Environment(tmp_path / "venv", wheel, "broker")
    server_starts(place, tmp_path, r"^Listening on ", "broker", "--listen", "127.0.0.1:0")


def test_the_dashboard_runs_with_its_extra(
    wheel: Path, tmp_path: Path, embedded_broker: EmbeddedBroker
) -> None:
    place = Environment(tmp_path / "venv", wheel, "web")
    server_starts(
        place, tmp_path, r"^Dashboard at ",
        "web", "--listen", "127.0.0.1:0", "--kafka", embedded_broker.bootstrap,
    )  # fmt: skip


def test_processing_works_with_its_extra(wheel: Path, tmp_path: Path) -> None:
    place = Environment(tmp_path / "venv", wheel, "processing")
    done = run(place, tmp_path, "python", "-c", "import holdfast.processing as p; p.KafkaConsumer")
    assert done.returncode == 0, done.stderr


@pytest.mark.spark
def test_the_pipeline_runs_with_its_extra(
    wheel: Path, tmp_path: Path, embedded_broker: EmbeddedBroker
) -> None:
    place = Environment(tmp_path / "venv", wheel, "pipeline")
    server_starts(
        place, tmp_path, r"^Pipeline running on ",
        "pipeline", "--kafka", embedded_broker.bootstrap, "--http", "127.0.0.1:0",
        "--spark-master", "local[1]",
    )  # fmt: skip
