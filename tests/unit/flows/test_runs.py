"""Records of runs: what is asked, that it shall end, how far it is."""

import json
from dataclasses import replace

import pytest

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.redriven import Mark, decode_mark, encode_mark
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import (
    Backfill,
    Coordinate,
    OffsetRange,
    Quality,
    Redrive,
    Refresh,
    Replay,
    RunSpec,
    Verify,
)
from holdfast.flows.runs import (
    MOST_ENDED,
    Run,
    RunBook,
    RunCancel,
    RunProgress,
    RunRequest,
    RunState,
    decode_run_record,
    encode_cancel,
    encode_progress,
    encode_request,
    tombstones,
)

WORKS: list[RunSpec] = [
    Replay(),
    Replay(
        offsets=(OffsetRange(0, 5, 9), OffsetRange(3, 7)),
        since=1_000,
        until=2_000,
        keys=(b"customer-7", b"\x00\xff"),
        where="get_json_object(value, '$.a') = 'b'",
        json_filters=(("$.status", "failed"), ("$.a", "x=y")),
        rate=12.5,
        with_replayed=True,
        dry_run=True,
    ),
    Backfill(),
    Backfill(offsets=(OffsetRange(1, 0, 4),), since=5, until=5),
    Backfill(files=("/in/*.parquet", "/in/a.jsonl"), key_from="$.id", time_from="$.at"),
    Redrive(everything=True),
    Redrive(letters=(Coordinate(2, 41),), value=b"\x00mended", again=True),
    Redrive(reason="invalid", keys=(b"k",)),
    Verify(),
    Verify(full=True, since=1_000, until=2_000, without_raw_zone=True),
    Quality(),
    Quality(days=7),
    Refresh(),
    Refresh(rebuild=True),
]


def request(work: RunSpec, run_id: str = "run-1") -> RunRequest:
    return RunRequest(id=run_id, flow="orders", actor="ana", at=1, spec=work)


def progress(**fields: object) -> RunProgress:
    given = {"id": "run-1", "state": RunState.RUNNING, "started_at": 1, "updated_at": 2, **fields}
    return RunProgress(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("work", WORKS, ids=repr)
def test_run_request_survives_the_log(work: RunSpec) -> None:
    assert decode_run_record(*encode_request(request(work))) == request(work)


def test_cancel_and_progress_read_back_as_they_were_written() -> None:
    cancel = RunCancel(id="run-1", actor="bo", at=5)
    assert decode_run_record(*encode_cancel(cancel)) == cancel
    far = progress(
        state=RunState.DONE, ended_at=9, done=3, total=4, rate=1.5, note="n",
        plan={"slices": [["t", 0, 1, 2]]}, result={"events": 3},
    )  # fmt: skip
    assert decode_run_record(*encode_progress(far)) == far


def test_a_record_that_is_not_fully_understood_is_refused() -> None:
    key, value = encode_request(request(Replay()))
    for changed, why in (
        ({"run": "undo"}, "no kind of run 'undo'"),
        ({"more": 1}, "unknown fields: more"),
        ({"rate": "fast"}, "'rate' must be a number"),
        ({"offsets": ["7"]}, "is not a range"),
        ({"id": "run-2"}, "another run"),
        ({"version": 2}, "version is 2"),
    ):
        with pytest.raises(InvalidRecordError, match=why):
            decode_run_record(key, json.dumps({**json.loads(value), **changed}).encode())
    with pytest.raises(InvalidRecordError, match="no known kind"):
        decode_run_record(b"x:run-1", value)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Replay(rate=0), "A rate is above 0"),
        (lambda: Replay(rate=1e9), "A rate is above 0"),
        (lambda: Replay(since=2, until=1), "ends before it begins"),
        (lambda: Replay(json_filters=(("status", "x"),)), "not a JSON path"),
        (lambda: OffsetRange(0, 5, 4), "ends before it begins"),
        (lambda: OffsetRange.parse("5-9"), "is not a range"),
        (lambda: Coordinate.parse("5"), "not a position in a topic"),
        (lambda: Backfill(files=("a",), since=1), "not both"),
        (lambda: Backfill(key_from="$.a"), "only be given for files"),
        (Redrive, "Choose dead letters"),
        (lambda: Redrive(everything=True, reason="invalid"), "Choose dead letters"),
        (lambda: Redrive(reason="invalid", value=b""), "exactly one letter"),
        (lambda: Redrive(letters=(Coordinate(0, 0),), value=b"x" * (512 * 1024 + 1)),
         "at most"),
        (lambda: request(Replay(), run_id="a/b"), "cannot name a run"),
    ],
)  # fmt: skip
def test_invalid_run_spec_is_refused_with_a_reason(make: object, why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=why):
        make()  # type: ignore[operator]


def test_a_book_folds_records_in_any_order_and_keeps_the_first_request_of_an_id() -> None:
    book = RunBook()
    records = [
        encode_progress(progress(done=1)),
        encode_request(request(Replay())),
        encode_cancel(RunCancel(id="run-1", actor="bo", at=5)),
        encode_request(request(Backfill())),
        encode_progress(progress(done=2)),
        encode_request(request(Backfill(), run_id="run-2")),
    ]
    for record in records:
        book.take(*record)
    first, second = book
    assert first.request.spec == Replay()
    assert (first.state, first.cancelling) == (RunState.RUNNING, True)
    assert first.progress is not None
    assert first.progress.done == 2
    assert (second.id, second.state) == ("run-2", RunState.REQUESTED)
    assert book.get("run-3") is None


def test_the_oldest_ended_runs_of_a_flow_are_surplus_and_tombstones_remove_them() -> None:
    book = RunBook()
    for number in range(MOST_ENDED + 3):
        run_id = f"run-{number}"
        book.take(*encode_request(request(Verify(), run_id=run_id)))
        if number != 1:  # it runs for longer than all others
            ended = replace(progress(state=RunState.DONE), id=run_id)
            book.take(*encode_progress(ended))
    assert book.surplus("orders") == ["run-0", "run-2"]
    assert book.surplus("another") == []
    for key in tombstones("run-0"):
        book.take(key, None)
    assert book.get("run-0") is None
    assert book.surplus("orders") == ["run-2"]


def test_time_left_follows_from_the_rate_and_is_not_guessed() -> None:
    def run(**fields: object) -> Run:
        return Run(request(Replay()), None, progress(**fields))

    assert run(done=25, total=100, rate=25.0).seconds_left == 3.0
    assert run(done=25, total=100, rate=25.0).fraction == 0.25
    assert run(done=25, total=100).seconds_left is None
    assert run(done=25, rate=25.0).seconds_left is None
    assert run(state=RunState.DONE, done=25, total=100, rate=25.0).seconds_left is None
    assert run(state=RunState.DONE, total=0).fraction == 1.0
    assert Run(request(Replay())).fraction is None


def test_marks_are_those_of_one_flow_and_not_of_its_namesake() -> None:
    flow = FlowDefinition(name="orders", partitions=1, created_at=7)
    again = FlowDefinition(name="orders", partitions=1, created_at=8)
    mark = Mark(letter=Coordinate(2, 41), run="run-1", actor="ana", at=1, attempt=2)
    assert decode_mark(flow, *encode_mark(flow, mark)) == mark
    assert decode_mark(again, *encode_mark(flow, mark)) is None
