"""Redrive: dead letters through the flow again, each once unless somebody insists. No Spark."""

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.brokers import DIES_WITH_PARENT, BrokerProcess
from tests.clients import wait_until
from tests.conftest import unique_name
from tests.integration.runs.redriving import carry_out

import holdfast
from holdfast.client.record import Record
from holdfast.flows.runs import Run
from holdfast.flows.work import Coordinate, Redrive
from holdfast.pipeline.faults import VARIABLE

VALUES = [b"%d" % n for n in range(6)]


class Flow:
    """A flow with six dead letters, written as the gate writes them."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker
        self.client = holdfast.connect(broker.bootstrap)
        self.name = unique_name("letters").lower()
        self.names = self.client.flow(self.name).create(partitions=2).names
        for number, value in enumerate(VALUES):
            self.letter(value, ("holdfast-error", "invalid" if number % 2 else "overflow"))

    def letter(self, value: bytes | None, *more: tuple[str, str], partition: int = 1) -> None:
        headers = [("trace", b"t"), ("holdfast-source", b"1:7"), *more]
        self.client.send(self.names.dlq, value, "key", headers, partition=partition).result()

    def ask(self, work: Redrive) -> Run:
        return self.client.runs.ask(self.name, work, actor="ana")

    def run(self, work: Redrive) -> Mapping[str, Any]:
        return carry_out(self.broker.bootstrap, self.name, self.ask(work).id)

    def events(self) -> list[Record]:
        with self.client.consumer(self.names.events) as consumer:
            return list(consumer.records(until="end"))

    def values(self) -> list[bytes | None]:
        return [record.value for record in self.events()]


class Process:
    """A redrive in a process of its own, which stays at a point."""

    def __init__(self, flow: Flow, run: Run, point: str, folder: Path) -> None:
        self._reached = folder / uuid.uuid4().hex
        arguments = [flow.broker.bootstrap, flow.name, run.id]
        self._process = subprocess.Popen(
            [*DIES_WITH_PARENT, sys.executable, "-m", "tests.integration.runs.redriving",
             *arguments],
            env={**os.environ, VARIABLE: f"{point}={self._reached}"},
            stderr=subprocess.PIPE,
        )  # fmt: skip
        wait_until(lambda: self._reached.exists() or self._process.poll() is not None, point, 60)
        assert self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def go_on(self) -> int:
        """-> its exit code"""
        self._reached.write_bytes(b"")
        self._process.communicate(timeout=60)
        return self._process.returncode


def test_each_letter_is_redriven_once_and_its_outcome_said(kafka: BrokerProcess) -> None:
    flow = Flow(kafka)
    first = Coordinate(1, 0)
    one = flow.run(Redrive(letters=(first,), value=b"mended"))
    assert one["each"] == [{"letter": "1:0", "outcome": "redriven", "attempt": 2}]
    result = flow.run(Redrive(reason="overflow"))
    assert result["outcomes"] == {"redriven": 2, "redriven before": 1}
    assert flow.run(Redrive(keys=(b"other",)))["letters"] == 0
    assert flow.run(Redrive(letters=(Coordinate(0, 9),)))["outcomes"] == {"not found": 1}
    assert flow.run(Redrive(everything=True))["outcomes"] == {"redriven": 3, "redriven before": 3}
    assert flow.values() == [b"mended", b"2", b"4", b"1", b"3", b"5"]
    assert flow.run(Redrive(everything=True, again=True))["outcomes"] == {"redriven": 6}
    assert flow.values()[6:] == VALUES
    [event, *_] = flow.events()
    assert [name for name, _ in event.headers] == [
        "trace", "holdfast-redrive-run", "holdfast-redrive-source", "holdfast-attempt"
    ]  # fmt: skip
    assert (event.header("holdfast-redrive-source"), event.partition) == (b"1:0", 1)


def test_what_fails_again_counts_its_attempts(kafka: BrokerProcess) -> None:
    flow = Flow(kafka)
    flow.letter(b"again", ("holdfast-attempt", "2"), ("holdfast-error", "invalid"), partition=0)
    [outcome] = flow.run(Redrive(letters=(Coordinate(0, 0),)))["each"]
    assert outcome["attempt"] == 3
    assert [record.header("holdfast-attempt") for record in flow.events()] == [b"3"]


def test_a_letter_without_its_value_is_not_sent_empty(kafka: BrokerProcess) -> None:
    flow = Flow(kafka)
    flow.letter(None, ("holdfast-error", "too-large"), partition=0)
    assert flow.run(Redrive(reason="too-large"))["outcomes"] == {"value left out": 1}
    edited = Redrive(letters=(Coordinate(0, 0),), value=b"smaller")
    assert flow.run(edited)["outcomes"] == {"redriven": 1}
    assert flow.values() == [b"smaller"]


@pytest.mark.parametrize("point", ["redrive-before-commit", "redrive-after-commit"])
def test_killed_around_the_commit_each_letter_is_redriven_once(
    kafka: BrokerProcess, point: str, tmp_path: Path
) -> None:
    flow = Flow(kafka)
    run = flow.ask(Redrive(everything=True))
    Process(flow, run, point, tmp_path).kill()
    result = carry_out(kafka.bootstrap, flow.name, run.id)
    assert result["outcomes"] == {"redriven": 6}
    assert flow.values() == VALUES


def test_of_two_that_redrive_at_once_the_older_can_commit_nothing(
    kafka: BrokerProcess, tmp_path: Path
) -> None:
    flow = Flow(kafka)
    run = flow.ask(Redrive(everything=True))
    older = Process(flow, run, "redrive-before-commit", tmp_path)
    assert flow.run(Redrive(everything=True))["outcomes"] == {"redriven": 6}
    assert older.go_on() != 0
    assert flow.values() == VALUES
