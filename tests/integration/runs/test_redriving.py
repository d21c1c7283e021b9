"""Redrive: sends each dead letter through the flow once, unless asked to again. No Spark."""

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.brokers import DIES_WITH_PARENT, BrokerProcess
from tests.clients import DEADLINE_S, committed_records, wait_until
from tests.conftest import unique_name
from tests.integration.runs.redriving import carry_out

import holdfast
from holdfast.client.record import Record
from holdfast.faults import VARIABLE
from holdfast.flows.run_specs import Coordinate, Redrive
from holdfast.flows.runs import Run
from holdfast.pipeline.gate.writer import reason_headers
from holdfast.pipeline.runs.dead_letters import Letter
from holdfast.pipeline.runs.redrive import RedriveRun

VALUES = [b"%d" % n for n in range(6)]


class Flow:
    """A flow with six dead letters, written as the gate writes them."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker
        self.client = holdfast.connect(broker.bootstrap)
        self.name = unique_name("letters").lower()
        self.names = self.client.flow(self.name).create(partitions=2).names
        for number, value in enumerate(VALUES):
            self.letter(value, "invalid" if number % 2 else "overflow")

    def letter(
        self,
        value: bytes | None,
        kind: str,
        own: Sequence[tuple[str, bytes | None]] = (("trace", b"t"),),
        partition: int = 1,
    ) -> None:
        headers = [*own, ("holdfast-source", b"1:7"), *reason_headers(kind, "why")]
        self.client.send(self.names.dlq, value, "key", headers, partition=partition).result()

    def ask(self, work: Redrive) -> Run:
        return self.client.runs.ask(self.name, work, actor="ana")

    def run(self, work: Redrive) -> Mapping[str, Any]:
        return carry_out(self.broker.bootstrap, self.name, self.ask(work).id)

    def events(self) -> list[Record]:
        return committed_records(self.broker.bootstrap, self.names.events)

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
        """Returns its exit code."""
        self._reached.write_bytes(b"")
        self._process.communicate(timeout=DEADLINE_S)
        return self._process.returncode


def test_each_dead_letter_is_redriven_once_with_an_outcome(kafka: BrokerProcess) -> None:
    flow = Flow(kafka)
    first = Coordinate(1, 0)
    one = flow.run(Redrive(letters=(first,), value=b"edited"))
    assert one["each"] == [{"letter": "1:0", "outcome": "redriven", "attempt": 2}]
    result = flow.run(Redrive(reason="overflow"))
    assert result["outcomes"] == {"redriven": 2, "redriven before": 1}
    assert flow.run(Redrive(keys=(b"other",)))["letters"] == 0
    assert flow.run(Redrive(letters=(Coordinate(0, 9),)))["outcomes"] == {"not found": 1}
    assert flow.run(Redrive(everything=True))["outcomes"] == {"redriven": 3, "redriven before": 3}
    assert flow.values() == [b"edited", b"2", b"4", b"1", b"3", b"5"]
    assert flow.run(Redrive(everything=True, again=True))["outcomes"] == {"redriven": 6}
    assert flow.values()[6:] == VALUES
    [event, *_] = flow.events()
    assert [name for name, _ in event.headers] == [
        "trace", "holdfast-redrive-run", "holdfast-redrive-source", "holdfast-attempt"
    ]  # fmt: skip
    assert (event.header("holdfast-redrive-source"), event.partition) == (b"1:0", 1)


def test_a_dead_letter_that_fails_again_counts_its_attempts(kafka: BrokerProcess) -> None:
    flow = Flow(kafka)
    flow.run(Redrive(letters=(Coordinate(1, 0),)))
    [event] = flow.events()
    flow.letter(b"again", "invalid", event.headers, partition=0)
    [outcome] = flow.run(Redrive(letters=(Coordinate(0, 0),)))["each"]
    assert outcome["attempt"] == 3
    again = next(record for record in flow.events() if record.value == b"again")
    assert [name for name, _ in again.headers] == [
        "trace", "holdfast-redrive-run", "holdfast-redrive-source", "holdfast-attempt"
    ]  # fmt: skip
    assert again.header("holdfast-attempt") == b"3"


def test_forged_headers_are_kept_through_a_redrive(
    kafka: BrokerProcess,
) -> None:
    flow = Flow(kafka)
    forged: list[tuple[str, bytes | None]] = [
        ("holdfast-source", b"0:1"), ("holdfast-error", b"overflow"),
        ("holdfast-redrive-run", b"r"), ("holdfast-redrive-source", b"1:0"),
        ("holdfast-attempt", b"7"),
    ]  # fmt: skip
    flow.letter(b"forged", "invalid", forged, partition=0)
    [outcome] = flow.run(Redrive(keys=(b"key",), reason="invalid", letters=(Coordinate(0, 0),)))[
        "each"
    ]
    assert outcome["attempt"] == 2
    [event] = flow.events()
    assert event.headers[: len(forged)] == forged
    assert [name for name, _ in event.headers[len(forged) :]] == [
        "holdfast-redrive-run", "holdfast-redrive-source", "holdfast-attempt"
    ]  # fmt: skip
    assert event.headers[-1][1] == b"2"


def test_a_dead_letter_without_its_value_is_not_redriven(kafka: BrokerProcess) -> None:
    flow = Flow(kafka)
    flow.letter(None, "too-large", partition=0)
    assert flow.run(Redrive(reason="too-large"))["outcomes"] == {"value left out": 1}
    edited = Redrive(letters=(Coordinate(0, 0),), value=b"smaller")
    assert flow.run(edited)["outcomes"] == {"redriven": 1}
    assert flow.values() == [b"smaller"]


def test_a_dead_letter_that_the_topic_refuses_does_not_stop_the_others(
    kafka: BrokerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = Flow(kafka)
    flow.client.topics.set_config(flow.names.events, {"max.message.bytes": "20000"})
    flow.letter(b"x" * 50_000, "invalid")
    flow.letter(b"7", "invalid")
    commits: list[int] = []
    commit = RedriveRun._commit

    def counted(self: RedriveRun, letters: Sequence[Letter]) -> None:
        commits.append(len(letters))
        commit(self, letters)

    monkeypatch.setattr(RedriveRun, "_commit", counted)
    result = flow.run(Redrive(everything=True))
    assert result["outcomes"] == {"redriven": 7, "too large": 1}
    assert commits == [7]
    wait_until(lambda: flow.values() == [*VALUES, b"7"], "all but one")


@pytest.mark.parametrize("point", ["redrive-before-commit", "redrive-after-commit"])
def test_each_dead_letter_is_redriven_once_after_a_kill_around_the_commit(
    kafka: BrokerProcess, point: str, tmp_path: Path
) -> None:
    flow = Flow(kafka)
    run = flow.ask(Redrive(everything=True))
    Process(flow, run, point, tmp_path).kill()
    result = carry_out(kafka.bootstrap, flow.name, run.id)
    assert result["outcomes"] == {"redriven": 6}
    assert flow.values() == VALUES


def test_of_two_concurrent_redrives_the_older_cannot_commit(
    kafka: BrokerProcess, tmp_path: Path
) -> None:
    flow = Flow(kafka)
    run = flow.ask(Redrive(everything=True))
    older = Process(flow, run, "redrive-before-commit", tmp_path)
    assert flow.run(Redrive(everything=True))["outcomes"] == {"redriven": 6}
    assert older.go_on() != 0
    assert flow.values() == VALUES
