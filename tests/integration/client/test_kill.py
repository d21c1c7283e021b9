"""kill -9 between processing and commit: what was not committed comes again, nothing is lost."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S

import holdfast

RECORDS = 300
PARTITIONS = 3


@pytest.mark.parametrize("kill_at", [1, 57])
def test_killed_consumer_loses_nothing_and_repeats_only_uncommitted_records(
    kafka: BrokerProcess, topic: str, group: str, tmp_path: Path, kill_at: int
) -> None:
    with holdfast.connect(kafka.bootstrap) as client:
        client.topics.create(topic, partitions=PARTITIONS)
        for i in range(RECORDS):
            client.send(topic, str(i), partition=i % PARTITIONS)
        client.close()
        output = tmp_path / "processed"

        def work(kill_at: int) -> int:
            return subprocess.run(
                [sys.executable, "-m", "tests.integration.client.worker",
                 kafka.bootstrap, topic, group, str(output), str(kill_at)],
                check=False, timeout=DEADLINE_S,
            ).returncode  # fmt: skip

        assert work(kill_at) == -signal.SIGKILL
        before = coordinates(output)
        assert len(before) == kill_at
        assert work(0) == 0
        after = coordinates(output)[kill_at:]
        every = {(p, o) for p in range(PARTITIONS) for o in range(RECORDS // PARTITIONS)}
        assert set(before) | set(after) == every
        repeated = [c for c, times in Counter(before + after).items() if times > 1]
        # Committed every 10 records: what came after the last commit is repeated, no more.
        assert len(repeated) == (kill_at - 1) % 10 + 1
        assert set(repeated) == set(before[-len(repeated) :])
        committed = {lag.partition: lag.committed for lag in client.groups.describe(group).lag}
        assert committed == dict.fromkeys(range(PARTITIONS), RECORDS // PARTITIONS)


def coordinates(file: Path) -> list[tuple[int, int]]:
    return [(int(p), int(o)) for p, o in (line.split() for line in file.read_text().splitlines())]
