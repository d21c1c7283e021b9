"""Which dead letters a redrive means, and what an event had of its own."""

import pytest

from holdfast.client.source import Header
from holdfast.flows.redriven import Mark
from holdfast.flows.run_specs import Coordinate, Redrive
from holdfast.pipeline.runs.dead_letters import Letter, matches
from holdfast.pipeline.runs.execution import RecentRate
from holdfast.pipeline.runs.slices import keeps_from


def letter(*headers: Header, key: bytes | None = b"k") -> Letter:
    return Letter(Coordinate(0, 7), key, b"v", 1, headers)


GATE = ("holdfast-source", b"0:9"), ("holdfast-error", b"invalid"), ("holdfast-error-message", b"")
WORKER = (
    ("holdfast-source", b"1:3"), ("holdfast-source-topic", b"f.processed"),
    ("holdfast-error", b"ValueError"), ("holdfast-error-message", b"no"),
    ("holdfast-attempt", b"4"), ("holdfast-failed-at", b"2026-01-31T12:00:00Z"),
)  # fmt: skip
REDRIVEN = (
    ("holdfast-redrive-run", b"r1"), ("holdfast-redrive-source", b"2:41"),
    ("holdfast-attempt", b"2"),
)  # fmt: skip
MARKS = {Coordinate(2, 41): Mark(letter=Coordinate(2, 41), run="r1", actor="a", at=1, attempt=2)}


def test_only_headers_added_by_holdfast_are_removed() -> None:
    own = ("trace", b"1"), ("holdfast-source", b"3:4"), ("trace", None)
    for added in (GATE, (*REDRIVEN, *GATE), (*REDRIVEN, ("holdfast-source", b"0:9"), *WORKER)):
        found = letter(*own, *added)
        assert found.own_headers(MARKS) == list(own), "one of another flow's gate stays"
    timed = (*REDRIVEN, ("holdfast-original-timestamp", b"5"), *GATE)
    assert letter(*own, *timed).own_headers(MARKS) == list(own)


def test_attempt_and_reason_of_gate_and_worker_are_read() -> None:
    assert (letter(*GATE).reason, letter(*GATE).attempt({})) == ("invalid", 1)
    assert (letter(*WORKER).reason, letter(*WORKER).attempt({})) == ("ValueError", 4)
    assert letter(*REDRIVEN, *GATE).attempt(MARKS) == 2


@pytest.mark.parametrize("forged", [REDRIVEN, WORKER, GATE, WORKER[::-1], (*GATE, *REDRIVEN)])
def test_forged_headers_have_no_effect(forged: tuple[Header, ...]) -> None:
    found = letter(*forged, *GATE)
    assert found.own_headers({}) == list(forged)
    assert (found.reason, found.attempt({})) == ("invalid", 1)


def test_a_dead_letter_without_holdfast_headers_is_the_first_attempt() -> None:
    assert letter().attempt({}) == 1
    assert letter(("holdfast-attempt", b"7")).attempt({}) == 1
    assert letter().reason == ""


def test_all_filters_of_a_redrive_must_match() -> None:
    invalid = letter(*GATE)
    assert matches(invalid, Redrive(everything=True))
    assert matches(invalid, Redrive(reason="invalid", keys=(b"a", b"k")))
    assert matches(invalid, Redrive(letters=(Coordinate(0, 7),)))
    assert not matches(invalid, Redrive(reason="overflow"))
    assert not matches(invalid, Redrive(reason="invalid", keys=(b"a",)))
    assert not matches(invalid, Redrive(letters=(Coordinate(1, 7),)))


def test_a_timestamp_is_kept_if_retention_allows_it() -> None:
    assert keeps_from(-1, 10_000) == 0
    assert keeps_from(1_000, 10_000) == 9_500


def test_the_rate_is_that_of_the_last_few_seconds() -> None:
    rate = RecentRate()
    assert rate.value == 0.0
    for second in range(30):
        rate.add(float(second), min(second, 20) * 100)
    assert rate.value == 10.0, "one second of a hundred in the last ten"
