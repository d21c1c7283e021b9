"""What becomes of an event that fails."""

import pytest

from holdfast.errors import InvalidArgumentError
from holdfast.flows.registry import FlowDefinition, parse_backoff
from holdfast.guard.policy import Failure, Fate, Policy

FAILURE = Failure("ValueError", "no")


def decide(policy: Policy, failed: int, failure: Failure = FAILURE) -> tuple[Fate, int, int | None]:
    decision = policy.decide(failed, failure, now=1_000_000, chance=0.0)
    return decision.fate, decision.attempts, decision.at


def test_pause_doubles_up_to_the_longest() -> None:
    policy = Policy(attempts=100, first_ms=1_000, longest_ms=600_000)
    pauses = [policy.pause(attempts, chance=0.0) for attempts in (1, 2, 3, 10, 11, 90)]
    assert pauses == [1_000, 2_000, 4_000, 512_000, 600_000, 600_000]


def test_jitter_takes_up_to_half_of_the_pause() -> None:
    policy = Policy(first_ms=1_000)
    assert policy.pause(1, chance=1.0) == 500
    assert policy.pause(1, chance=0.5) == 750


@pytest.mark.parametrize(
    ("then", "fate"), [("hold", Fate.HOLD), ("dead-letter", Fate.DEAD), ("stop", Fate.STOP)]
)
def test_after_the_last_attempt_the_setting_decides(then: str, fate: Fate) -> None:
    policy = Policy(attempts=3, then=then)  # type: ignore[arg-type]
    assert decide(policy, 1) == (Fate.RETRY, 2, 1_002_000)
    assert decide(policy, 2) == (fate, 3, None)


def test_handler_that_decides_for_itself_needs_no_further_attempts() -> None:
    policy = Policy(attempts=5)
    assert decide(policy, 0, Failure("Hold", "", fate=Fate.HOLD)) == (Fate.HOLD, 1, None)
    assert decide(policy, 0, Failure("Skip", "", fate=Fate.DEAD)) == (Fate.DEAD, 1, None)


def test_failure_during_an_outage_uses_up_no_attempt() -> None:
    policy = Policy(attempts=1)
    assert decide(policy, 0, Failure("E", "", counts=False)) == (Fate.RETRY, 0, 1_001_000)


def test_error_is_bounded_and_keeps_its_reason() -> None:
    failure = Failure("ValueError", "x" * 10_000, "trace " * 10_000)
    assert len(failure.reason) == 500
    assert len(failure.text) == 4_000


def test_cause_for_everyone_leaves_out_what_an_error_may_quote() -> None:
    assert Failure("ValueError", "card 4711 refused").cause == "ValueError"
    assert Failure("Hold", "manual review", fate=Fate.HOLD).cause == "Hold: manual review"


def test_settings_of_the_handler_come_before_those_of_the_guard() -> None:
    flow = FlowDefinition(
        name="billing", partitions=1, created_at=0, topic="t", attempts=7, backoff="2s..4s",
        then="stop",
    )  # fmt: skip
    assert Policy.of(flow) == Policy(7, 2_000, 4_000, "stop")
    assert Policy.of(flow, attempts=2, then="hold") == Policy(2, 2_000, 4_000, "hold")
    with pytest.raises(InvalidArgumentError, match="hold, dead-letter or stop"):
        Policy.of(flow, then="explode")


@pytest.mark.parametrize("text", ["", "1s..", "5s..1s", "0s..1s", "soon"])
def test_invalid_back_off_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError):
        parse_backoff(text)
