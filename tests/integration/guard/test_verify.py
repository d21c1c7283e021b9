"""`holdfast verify` of a guard that runs, and of one whose logs were damaged."""

import json
import subprocess
import sys
from collections.abc import Iterator
from threading import Thread

import pytest
from tests.brokers import BrokerProcess
from tests.conftest import unique_name
from tests.integration.guard.stage import until

import holdfast
from holdfast.guard.event import Event
from holdfast.pipeline.audit.guard.verify import verify_guard
from holdfast.pipeline.audit.verification import Verification

pytestmark = pytest.mark.parametrize("kafka", ["embedded"], indirect=True)


class Story:
    """A guard in this process: `patient` waits for a person, `lost` is skipped by the handler."""

    def __init__(self, kafka: BrokerProcess, name: str) -> None:
        self.name = name
        self.client = holdfast.connect(kafka.bootstrap)
        self.client.topics.create(f"{name}-source", partitions=2)
        for n in range(30):
            key = ("patient", "lost", "healthy")[n % 3]
            self.client.send(f"{name}-source", {"n": n}, key=key)
        self.client._producer.flush()
        self.guard = holdfast.Guard(name, topic=f"{name}-source", bootstrap=kafka.bootstrap)
        self.guard.handler(attempts=2, backoff="0.05s..0.1s")(self._handle)
        self._thread = Thread(target=self.guard.run, daemon=True)
        self._thread.start()

    def _handle(self, event: Event) -> None:
        if event.key == b"patient":
            raise ValueError("not yet")
        if event.key == b"lost" and event.json()["n"] < 10:
            raise holdfast.Skip("not ours")

    @property
    def flow(self) -> holdfast.Flow:
        return self.client.flow(self.name)

    def is_settled(self) -> bool:
        if not any(flow.name == self.name for flow in self.client.flows()):
            return False
        found = {status.key: status for status in self.flow.held()}
        settled = self.verify()
        return b"patient" in found and (settled.held, settled.not_taken) == (10, 0)

    def verify(self) -> Verification:
        return verify_guard(self.client.connection, self.flow.describe())

    def end_worker(self) -> None:
        self.guard.stop()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def stop(self) -> None:
        self.guard.stop()
        self._thread.join(60)
        self.client.close()


@pytest.fixture
def story(kafka: BrokerProcess) -> Iterator[Story]:
    made = Story(kafka, unique_name("audit").lower())
    yield made
    made.stop()


def test_running_guard_is_clean_and_each_damage_is_named(
    kafka: BrokerProcess, story: Story
) -> None:
    until(lambda: _ran(story) and story.is_settled())
    found = story.verify()
    assert found.clean, found.checks
    assert (found.processed, found.held, found.dead, found.given_up) == (17, 10, 3, 3)
    code, document = _command(kafka, story.name)
    assert (code, document["verdict"], document["held"]) == (0, "clean", 10)
    story.end_worker()
    for damage, fault in (
        (_double_a_row, "doubled"),
        (_add_a_letter, "dead-lettered-unasked"),
    ):
        damage(story)
        assert fault in _faults(story), damage
    code, document = _command(kafka, story.name)
    assert (code, document["verdict"]) == (1, "not clean")


def _ran(story: Story) -> bool:
    topics = {topic.name for topic in story.client.topics.list()}
    return f"{story.name}.status" in topics and bool(
        list(story.client.consumer(f"{story.name}.journal").records(until="end"))
    )


def _faults(story: Story) -> set[str]:
    return {each.fault.value for check in story.verify().checks for each in check.found}


def _double_a_row(story: Story) -> None:
    rows = story.client.consumer(f"{story.name}.held").records(until="end")
    row = next(iter(rows))
    _send(story, "held", row)


def _add_a_letter(story: Story) -> None:
    letters = story.client.consumer(f"{story.name}.dlq").records(until="end")
    letter = next(iter(letters))
    events = story.client.consumer(f"{story.name}-source").records(until="end")
    healthy = next(event for event in events if event.key == b"healthy")
    source = f"{healthy.partition}:{healthy.offset}".encode()
    headers = [(name, source if name == "holdfast-source" else v) for name, v in letter.headers]
    story.client.send(
        f"{story.name}.dlq", healthy.value, key=healthy.key, headers=headers,
        partition=healthy.partition,
    )  # fmt: skip
    story.client._producer.flush()


def _send(story: Story, log: str, record: holdfast.Record) -> None:
    story.client.send(
        f"{story.name}.{log}", record.value, key=record.key, headers=record.headers,
        timestamp=record.timestamp, partition=record.partition,
    )  # fmt: skip
    story.client._producer.flush()


def _command(kafka: BrokerProcess, name: str) -> tuple[int, dict[str, object]]:
    result = subprocess.run(
        [sys.executable, "-m", "holdfast.cli", "verify", name, "-o", "json",
         "-b", kafka.bootstrap],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.stdout, result.stderr
    return result.returncode, json.loads(result.stdout)
