"""Redrive: dead letters through the gate again, each once unless somebody insists."""

from collections import Counter

import pytest
from tests.clients import wait_until
from tests.integration.runs.stack import PATIENCE_S, FlowUnderTest, Stack

from holdfast.flows.work import Coordinate, Redrive

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


KEY = "poison"
VALUES = [b"%d" % n for n in range(6)]


def with_letters(stack: Stack) -> FlowUnderTest:
    """A flow with six dead letters of one key, which is active again."""
    flow = stack.flow("letters")
    flow.send([("warm", b"up")])
    flow.wait_for("processed", 1)
    flow.handle.hold(KEY).wait(60)
    flow.send([(KEY, value) for value in VALUES], headers=[("trace", b"t")])
    dead_letter(flow)
    flow.handle.release(KEY).wait(60)
    return flow


def dead_letter(flow: FlowUnderTest) -> None:
    """Once all six events of the key are held."""
    wait_until(lambda: flow.handle.status(KEY).events == 6, "six held events", PATIENCE_S)
    letters = len(flow.records("dlq"))
    flow.handle.dead_letter(KEY).wait(60)
    flow.wait_for("dlq", letters + 6)


def test_a_redrive_sends_each_letter_once_and_says_what_became_of_it(stack: Stack) -> None:
    flow = with_letters(stack)
    letters = flow.records("dlq")
    first = Coordinate(letters[0].partition, letters[0].offset)
    one = flow.run(Redrive(letters=(first,), value=b"mended"))
    assert one["each"] == [{"letter": str(first), "outcome": "redriven", "attempt": 2}]
    result = flow.run(Redrive(reason="dead-lettered"))
    assert result["outcomes"] == {"redriven": 5, "redriven before": 1}
    assert flow.run(Redrive(keys=(KEY.encode(),)))["outcomes"] == {"redriven before": 6}
    assert flow.run(Redrive(reason="invalid"))["letters"] == 0
    gone = Coordinate(first.partition, 10_000)
    assert flow.run(Redrive(letters=(gone,)))["outcomes"] == {"not found": 1}
    passed = flow.wait_for("processed", 7)[1:]
    assert [record.value for record in passed] == [b"mended", *VALUES[1:]]
    assert [name for name, _ in passed[0].headers] == [
        "trace", "holdfast-redrive-run", "holdfast-redrive-source", "holdfast-attempt",
        "holdfast-source",
    ]  # fmt: skip


def test_what_fails_again_comes_back_with_its_attempt_counted(stack: Stack) -> None:
    flow = with_letters(stack)
    flow.handle.hold(KEY).wait(60)
    assert flow.run(Redrive(everything=True))["outcomes"] == {"redriven": 6}
    dead_letter(flow)
    attempts = Counter(record.header("holdfast-attempt") for record in flow.records("dlq"))
    assert attempts == {None: 6, b"2": 6}
    result = flow.run(Redrive(everything=True))
    assert result["outcomes"] == {"redriven": 6, "redriven before": 6}
    flow.handle.release(KEY).wait(60)
    insisted = flow.run(Redrive(keys=(KEY.encode(),), again=True))
    assert insisted["outcomes"] == {"redriven": 12}
    passed = flow.wait_for("processed", 1 + 6 + 12)[1:]
    assert [r.header("holdfast-attempt") for r in passed] == [b"3"] * 6 + [b"2"] * 6 + [b"3"] * 6
    assert [record.value for record in passed] == VALUES * 3


@pytest.mark.parametrize("point", ["redrive-before-commit", "redrive-after-commit"])
def test_killed_around_the_commit_each_letter_is_redriven_once(stack: Stack, point: str) -> None:
    flow = with_letters(stack)
    stack.start(fault=f"{point}@1")
    run = flow.ask(Redrive(everything=True))
    stack.wait_at_fault()
    stack.kill()
    progress = stack.finish(run).progress
    assert progress is not None
    assert progress.result["outcomes"] == {"redriven": 6}
    passed = flow.wait_for("processed", 7)
    assert [record.value for record in passed[1:]] == VALUES
