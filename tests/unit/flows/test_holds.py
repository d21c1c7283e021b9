"""Which hold is meant by one who names none, and what people are told of those that remain."""

import pytest

from holdfast.errors import InvalidArgumentError
from holdfast.flows.holds import (
    ChooseHoldError,
    StandingHold,
    held_until,
    own_or_only,
    reasons_of,
    still_held,
)
from holdfast.flows.registry import FlowDefinition, decode_flow, encode_flow

FRAUD = StandingHold("h1", 1, "ana", "fraud check", None, "fraud-team")
SUPPORT = StandingHold("h2", 2, "ben", "asked", 1_767_225_600_000, "ben")
OLD = StandingHold("h3", 3, "cem", "disputed", 5_000)
"""From before holds had names."""


def test_own_hold_is_meant_before_the_only_one() -> None:
    assert own_or_only([FRAUD, SUPPORT], "ben") == (SUPPORT,)
    assert own_or_only([FRAUD, OLD], "cem") == (OLD,)
    assert own_or_only([FRAUD], "ben") == (FRAUD,)
    assert own_or_only([], "ben") == ()


def test_several_holds_of_others_have_to_be_chosen_from() -> None:
    with pytest.raises(ChooseHoldError, match=r"2 holds, and none is of eve.*fraud-team.*ben"):
        own_or_only([FRAUD, SUPPORT], "eve")


def test_a_key_is_held_until_its_last_hold_expires() -> None:
    assert held_until([SUPPORT, OLD]) == SUPPORT.expires_at
    assert held_until([SUPPORT, FRAUD]) is None
    assert held_until([]) is None


def test_message_lists_remaining_holds_with_expiry_and_reason() -> None:
    assert still_held("customer-7", [FRAUD, SUPPORT]) == (
        "customer-7 is still held by fraud-team (never expires): fraud check; "
        "by ben (until 2026-01-01 00:00 UTC): asked."
    )
    assert still_held("customer-7", []) == ""
    assert reasons_of([FRAUD, SUPPORT, FRAUD]) == "fraud check · asked"


def test_a_flow_can_require_reasons() -> None:
    flow = FlowDefinition(name="orders", partitions=1, created_at=1, require_reasons=True)
    assert decode_flow(*encode_flow(flow)) == flow
    flow.check_reason("cleared")
    with pytest.raises(InvalidArgumentError, match="requires a reason"):
        flow.check_reason(" ")
