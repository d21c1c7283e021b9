"""The audit's result: complete, as JSON and as text."""

import json
from dataclasses import replace
from typing import Any

from holdfast.cli.runs import verdict_code
from holdfast.cli.verify import _explained
from holdfast.flows.status import Position
from holdfast.pipeline.audit.bounds import Bounds, LogRange
from holdfast.pipeline.audit.journal import JournalFacts
from holdfast.pipeline.audit.report import Examined, missing_logs
from holdfast.pipeline.audit.verification import (
    CHECKS,
    MEANING,
    Check,
    Example,
    Fault,
    Finding,
    Verdict,
    Verification,
)


def verification(*found: Finding, **fields: Any) -> Verification:
    usual = dict(  # noqa: C408
        flow="orders", events=3, processed=2, held=1, dead=0, landed=3,
        commands=1, checks=(Check("every event in exactly one place", 3, found),),
        ranges={0: (0, 3)}, incremental=False, seconds=1.5,
    )  # fmt: skip
    return Verification(**{**usual, **fields})


def test_every_fault_has_a_meaning_and_belongs_to_one_check() -> None:
    asked = [fault for faults in CHECKS.values() for fault in faults]
    assert sorted(asked) == sorted(Fault)
    assert set(MEANING) == set(Fault)


def test_a_result_is_written_as_json_with_counts_and_coordinates() -> None:
    lost = Finding(Fault.LOST, 25, (Example("events", 0, 1),))
    document = json.loads(json.dumps(verification(lost).document()))
    (check,) = document["checks"]
    assert check["violations"] == 25
    assert check["found"][0]["fault"] == "lost"
    assert check["found"][0]["examples"][0]["offset"] == 1
    assert document["ranges"] == {"0": [0, 3]}
    assert (document["clean"], document["verdict"]) == (False, "not clean")
    assert check["verdict"] == "VIOLATED"


def test_a_fault_is_printed_with_its_meaning_and_the_number_of_further_ones() -> None:
    lost = Finding(Fault.LOST, 25, (Example("events", 0, 1), Example("events", 1, 7, "why")))
    lines = _explained(verification(lost))
    assert lines[0].startswith("lost: 25 x an event that is neither in processed")
    assert lines[1:4] == ["  events[0]@1", "  events[1]@7 (why)", "  and 23 more (see --examples)"]
    assert lines[-1].startswith("NOT CLEAN: orders, 3 events")
    assert _explained(verification())[-1].startswith("CLEAN: orders")


def test_check_without_anything_to_examine_is_not_clean() -> None:
    assert Check("order of each key", 0).verdict == "nothing to check"
    assert Check("order of each key", 1).verdict == "clean"
    assert Check("raw zone complete", 0, (), "no time").verdict == "not checked: no time"
    assert Check("x", 0, (Finding(Fault.LOST, 1, ()),), "no time").verdict == "VIOLATED"


def test_audit_is_clean_only_if_events_were_examined_and_no_log_was_empty() -> None:
    lost = Finding(Fault.LOST, 1, ())
    assert verification().verdict is Verdict.CLEAN
    assert verification(events=0).verdict is Verdict.NOTHING_TO_CHECK
    assert (
        verification(missing=("The raw zone has none of 3 events.",)).verdict is Verdict.INCOMPLETE
    )
    assert verification(lost, missing=("x",), events=0).verdict is Verdict.NOT_CLEAN
    assert [verdict_code(verdict) for verdict in Verdict] == [0, 1, 5, 5]


def test_report_lists_unchecked_and_missing_parts() -> None:
    lines = _explained(verification(not_checked=("this",), missing=("that",)))
    assert lines[:2] == ["not checked: this", "missing: that"]
    assert lines[2].startswith("INCOMPLETE: orders")


def test_empty_raw_zone_is_missing_where_events_exist() -> None:
    totals = {"events": 3, "processed": 3, "held": 0, "dead": 0, "landed": 0}
    seen = Examined(
        totals=totals, commands=0, records=9, journal_records=1, partitions_compared=1,
        worker_letters=0, seals=0, raw_zone=True, incremental=False, limited=False,
    )  # fmt: skip
    assert seen.missing() == ("The raw zone has none of 3 events.",)
    assert replace(seen, totals={**totals, "landed": 1}).missing() == ()
    assert replace(seen, raw_zone=False).missing() == ()
    gone = replace(seen, raw_zone=False, totals={**totals, "events": 0})
    assert gone.missing() == ("The events of 3 records were deleted, and the raw zone lacks them.",)
    verdicts = {check.name: check.verdict for check in gone.checks({})}
    assert verdicts["every command answered"] == "nothing to check"
    assert verdicts["raw zone complete"] == "not checked: the raw zone was excluded"


def test_a_control_log_that_lacks_taken_commands_is_reported() -> None:
    nothing = LogRange({0: 0}, {0: 0})
    position = Position(offset=9, control=5, step=3, owner="o")
    facts = JournalFacts(starts={0: 0}, losses=(), skipped=(), changes=(), sizes=(), records=1)

    def found(control: LogRange) -> dict[Fault, Finding]:
        bounds = Bounds(
            positions={0: position}, events=nothing, control=control, journal=nothing,
            status=nothing, held=nothing, processed=nothing, dlq=nothing, held_since={}, settled={},
        )  # fmt: skip
        return missing_logs(bounds, facts, ())

    assert found(LogRange({0: 0}, {0: 5})) == {}
    assert set(found(LogRange({0: 0}, {0: 4}))) == {Fault.CONTROL_MISSING}
    assert set(found(LogRange({0: 2}, {0: 5}))) == {Fault.CONTROL_MISSING}


def test_a_range_after_a_checkpoint_never_begins_after_its_end() -> None:
    log = LogRange({0: 5, 1: 0}, {0: 10, 1: 10})
    assert log.after({}) == log
    assert log.after({0: 7, 1: 12}).starts == {0: 7, 1: 10}
    assert log.after({0: 7, 1: 12}).length == 3
