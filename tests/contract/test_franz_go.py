"""franz-go, the Go client. Skipped where there is no Go."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, committed, create_topic, read, values, wait_until

SOURCE = Path(__file__).parent / "franz"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: franz-go is not tried")
    binary = tmp_path_factory.mktemp("franz") / "franz"
    built = subprocess.run(
        ["go", "build", "-o", str(binary), "."],
        cwd=SOURCE, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return binary


def test_client_produces_consumes_commits_and_transacts(
    kafka: BrokerProcess, topic: str, group: str, program: Path
) -> None:
    create_topic(kafka, topic)
    done = subprocess.run(
        [str(program), kafka.bootstrap, topic, group],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "produced 100", "consumed 100", "committed one, aborted one",
    ]  # fmt: skip
    assert committed(kafka, group, topic) == 100
    expected = [b"v%d" % i for i in range(100)] + [b"kept"]
    wait_until(lambda: values(read(kafka, topic)) == expected, "the committed records")
