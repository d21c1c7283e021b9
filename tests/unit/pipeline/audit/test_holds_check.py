"""A key that was released while a hold stood is found from the names in the journal alone."""

from typing import Any

from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.holds_check import contradictions

Given = tuple[Outcome, str, dict[str, Any]]


def held(name: str, outcome: Outcome = Outcome.HELD) -> Given:
    return outcome, "hold", {"name": name}


def found(*given: Given) -> list[tuple[int, str]]:
    empty = {"name": None, "ended": None, "others": None, "prefix": None}
    return list(
        contradictions(
            {**empty, "journal_offset": offset, "outcome": outcome, "command": command, **fields}
            for offset, (outcome, command, fields) in enumerate(given)
        )
    )


def test_a_key_that_drains_with_its_last_hold_is_in_order() -> None:
    assert not found(
        held("fraud"),
        held("support", Outcome.ADDED),
        held("support", Outcome.UPDATED),
        (Outcome.HOLD_RELEASED, "release", {"ended": ["support"]}),
        (Outcome.EXPIRED, "hold", {"name": "fraud"}),
        (Outcome.UPDATED, "release", {}),
        held("support"),
        (Outcome.RELEASED, "release", {"ended": ["support"]}),
    )


def test_key_released_while_a_hold_stands_is_a_finding() -> None:
    given = held("fraud"), held("support", Outcome.ADDED)
    released = (Outcome.RELEASED, "release", {"ended": ["support"]})
    assert found(*given, released) == [(2, "released while held by fraud")]
    expired = (Outcome.EXPIRED, "hold", {"name": "support"})
    assert found(*given, expired) == [(2, "expired while held by fraud")]


def test_a_key_that_stays_held_without_a_hold_is_found() -> None:
    released = (Outcome.HOLD_RELEASED, "release", {"ended": ["fraud"]})
    assert found(held("fraud"), released) == [(1, "hold-released, and no hold stands")]


def test_a_partition_that_finds_events_of_a_held_key_begins_with_all_holds() -> None:
    begins = (Outcome.HELD, "hold", {"name": "fraud", "others": [of_key("support")]})
    released = (Outcome.RELEASED, "release", {"ended": ["fraud"]})
    assert found(begins, released) == [(1, "released while held by support")]


def test_journals_from_before_holds_had_names_are_in_order() -> None:
    old: tuple[Given, ...] = (
        (Outcome.HELD, "hold", {}), (Outcome.UPDATED, "hold", {}),
        (Outcome.RELEASED, "release", {}),
    )  # fmt: skip
    assert not found(*old, *old)
    assert not found((Outcome.HELD, "hold", {}), (Outcome.EXPIRED, "hold", {}))


def test_holds_of_a_key_and_of_its_prefix_with_one_name_are_two() -> None:
    both = (Outcome.HELD, "hold", {"name": "ana", "others": [of_prefix("ana")]})
    released = {"ended": ["ana"]}
    assert not found(
        both,
        (Outcome.HOLD_RELEASED, "release", released),
        (Outcome.RELEASED, "release-prefix", {**released, "prefix": b"t/"}),
    )
    assert found(both, (Outcome.RELEASED, "release", released)) == [
        (1, "released while held by ana")
    ]


def of_prefix(name: str) -> dict[str, Any]:
    return {"name": name, "prefix": "t/", "prefix_base64": None}


def test_a_flow_that_is_resumed_while_a_pause_stands_is_found() -> None:
    given = (
        (Outcome.PAUSED, "pause", {"name": "ana"}),
        (Outcome.ADDED, "pause", {"name": "ben"}),
        (Outcome.RESUMED, "resume", {"ended": ["ben"]}),
    )
    assert found(*given) == [(2, "resumed while held by ana")]


def of_key(name: str) -> dict[str, Any]:
    return {"name": name, "prefix": None, "prefix_base64": None}
