"""The audit's result: complete, ready for JSON, and told in words."""

import json

from holdfast.cli.verify import _explained
from holdfast.pipeline.lake.audit.bounds import Stretch
from holdfast.pipeline.lake.audit.verification import (
    CHECKS,
    MEANING,
    Check,
    Example,
    Fault,
    Found,
    Verification,
)


def verification(*found: Found) -> Verification:
    return Verification(
        flow="orders", clean=not found, events=3, processed=2, held=1, dead=0, landed=3,
        commands=1, checks=(Check("every event in exactly one place", 3, found),),
        ranges={0: (0, 3)}, incremental=False, seconds=1.5,
    )  # fmt: skip


def test_every_fault_has_a_meaning_and_belongs_to_one_question() -> None:
    asked = [fault for faults in CHECKS.values() for fault in faults]
    assert sorted(asked) == sorted(Fault)
    assert set(MEANING) == set(Fault)


def test_a_result_is_written_as_json_with_counts_and_coordinates() -> None:
    lost = Found(Fault.LOST, 25, (Example("events", 0, 1),))
    document = json.loads(json.dumps(verification(lost).document()))
    (check,) = document["checks"]
    assert check["violations"] == 25
    assert check["found"][0]["fault"] == "lost"
    assert check["found"][0]["examples"][0]["offset"] == 1
    assert document["ranges"] == {"0": [0, 3]}
    assert document["clean"] is False


def test_what_is_wrong_is_said_with_its_meaning_and_how_many_more_there_are() -> None:
    lost = Found(Fault.LOST, 25, (Example("events", 0, 1), Example("events", 1, 7, "why")))
    lines = _explained(verification(lost))
    assert lines[0].startswith("lost: 25 x an event that is nowhere")
    assert lines[1:4] == ["  events[0]@1", "  events[1]@7 (why)", "  and 23 more (see --examples)"]
    assert lines[-1].startswith("NOT CLEAN: orders, 3 events")
    assert _explained(verification())[-1].startswith("CLEAN: orders")


def test_what_comes_after_a_border_never_begins_behind_the_end() -> None:
    log = Stretch({0: 5, 1: 0}, {0: 10, 1: 10})
    assert log.after({}) == log
    assert log.after({0: 7, 1: 12}).starts == {0: 7, 1: 10}
    assert log.after({0: 7, 1: 12}).length == 3
