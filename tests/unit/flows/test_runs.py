"""Records of runs: what is asked, that it shall end, how far it is."""

import json

import pytest

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.redriven import Mark, decode_mark, encode_mark
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.runs import (
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
)
from holdfast.flows.work import (
    MAX_VALUE_BYTES,
    Backfill,
    Coordinate,
    OffsetRange,
    Quality,
    Redrive,
    Replay,
    Verify,
    Work,
)

WORKS: list[Work] = [
    Replay(),
    Replay(
        offsets=(OffsetRange(0, 5, 9), OffsetRange(3, 7)),
        since=1_000,
        until=2_000,
        keys=(b"customer-7", b"\x00\xff"),
        where="get_json_object(value, '$.a') = 'b'",
        json=(("$.status", "failed"), ("$.a", "x=y")),
        rate=12.5,
        replayed=True,
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
]


def request(work: Work, run_id: str = "run-1") -> RunRequest:
    return RunRequest(id=run_id, flow="orders", actor="ana", at=1, work=work)


def progress(**fields: object) -> RunProgress:
    given = {"id": "run-1", "state": RunState.RUNNING, "started_at": 1, "updated_at": 2, **fields}
    return RunProgress(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("work", WORKS, ids=repr)
def test_what_is_asked_for_reads_back_as_it_was_written(work: Work) -> None:
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
        ({"run": "undo"}, "no work 'undo'"),
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
        (lambda: Replay(json=(("status", "x"),)), "no JSON path"),
        (lambda: OffsetRange(0, 5, 4), "ends before it begins"),
        (lambda: OffsetRange.parse("5-9"), "is not a range"),
        (lambda: Coordinate.parse("5"), "no place in a topic"),
        (lambda: Backfill(files=("a",), since=1), "not both"),
        (lambda: Backfill(key_from="$.a"), "of files alone"),
        (Redrive, "Say which dead letters"),
        (lambda: Redrive(everything=True, reason="invalid"), "Say which dead letters"),
        (lambda: Redrive(reason="invalid", value=b""), "exactly one letter"),
        (lambda: Redrive(letters=(Coordinate(0, 0),), value=b"x" * (MAX_VALUE_BYTES + 1)),
         "at most"),
        (lambda: request(Replay(), run_id="a/b"), "cannot name a run"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_words(make: object, why: str) -> None:
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
    assert first.request.work == Replay()
    assert (first.state, first.cancelling) == (RunState.RUNNING, True)
    assert first.progress is not None
    assert first.progress.done == 2
    assert (second.id, second.state) == ("run-2", RunState.REQUESTED)
    assert book.get("run-3") is None


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
