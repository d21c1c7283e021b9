"""Replay: events of the raw zone through the gate again, exactly once for each run."""

from collections import defaultdict
from time import time

import pytest
from tests.integration.runs.stack import FlowUnderTest, Stack, replayed

from holdfast.client.record import Record
from holdfast.flows.work import OffsetRange, Replay

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

KEYS = [f"key-{number}" for number in range(20)]


def filled(stack: Stack, count: int, stem: str = "replay") -> FlowUnderTest:
    """A flow with so many events of 20 keys, landed in the raw zone."""
    flow = stack.flow(stem)
    flow.send((KEYS[n % len(KEYS)], b'{"n":%d}' % n) for n in range(count))
    flow.wait_until_landed(count)
    return flow


def by_key(records: list[Record]) -> dict[bytes | None, list[bytes | None]]:
    found = defaultdict(list)
    for record in records:
        found[record.key].append(record.value)
    return dict(found)


def test_a_replay_sends_the_events_again_in_order_and_marked(stack: Stack) -> None:
    flow = stack.flow("marked")
    then = round(time() * 1000) - 3_600_000
    flow.send(
        [("a", b"1"), ("b", None), (None, b"3"), ("a", b"4")],
        headers=[("trace", b"\x00"), ("trace", None)],
        timestamp=then,
    )
    flow.wait_until_landed(4)
    run = flow.ask(Replay())
    result = stack.finish(run).progress
    assert result is not None
    assert result.result == {"events": 4, "left_out": 0}
    assert (result.done, result.total) == (4, 4)
    everything = flow.wait_for("processed", 8)
    events = flow.records("events")
    originals = {(r.partition, r.offset): r for r in events if not replayed([r], run.id)}
    sent = replayed(events, run.id)
    for record in sent:
        partition, offset = map(int, (record.header("holdfast-replay-source") or b"").split(b":"))
        original = originals.pop((partition, offset))
        assert (record.key, record.value, record.partition) == (
            original.key, original.value, original.partition
        )  # fmt: skip
        assert record.headers[:2] == original.headers
        assert record.timestamp_ms == original.timestamp_ms == then
    assert not originals
    assert by_key(replayed(everything, run.id))[b"a"] == [b"1", b"4"]

    again = stack.client.runs.ask(flow.name, Replay(), run_id=run.id)
    assert again.progress == result, "the same run id is the same run"
    assert flow.run(Replay()) == {"events": 4, "left_out": 0}, "not those of the first replay"
    assert flow.run(Replay(replayed=True))["events"] == 12


@pytest.mark.parametrize("point", ["run-mid-produce", "run-before-commit", "run-after-commit"])
def test_killed_in_the_middle_it_goes_on_without_loss_or_doubles(stack: Stack, point: str) -> None:
    if point != "run-before-commit" and stack.broker.kind == "apache":
        pytest.skip("one point on each broker, all on one")
    count = 3_000
    flow = filled(stack, count, "killed")
    stack.start(fault=f"{point}@1")
    run = flow.ask(Replay())
    stack.wait_at_fault()
    stack.kill()
    assert stack.finish(run).progress is not None
    sent = replayed(flow.records("events"), run.id)
    assert len(sent) == count
    assert len({r.header("holdfast-replay-source") for r in sent}) == count
    assert by_key(sent) == {
        key.encode(): [b'{"n":%d}' % n for n in range(count) if KEYS[n % len(KEYS)] == key]
        for key in KEYS
    }


def test_replayed_events_of_a_held_key_stay_held(stack: Stack) -> None:
    flow = filled(stack, 40, "held")
    flow.wait_for("processed", 40)
    flow.handle.hold("key-3").wait(60)
    run = flow.ask(Replay())
    stack.finish(run)
    passed = replayed(flow.wait_for("processed", 78), run.id)
    held = replayed(flow.wait_for("held", 2), run.id)
    assert {record.key for record in held} == {b"key-3"}
    assert b"key-3" not in by_key(passed)


def test_a_replay_takes_what_it_is_told_and_a_dry_run_says_so_and_sends_nothing(
    embedded_stack: Stack,
) -> None:
    flow = filled(embedded_stack, 200, "selected")
    rows = flow.raw()
    middle = rows[0]["timestamp"].timestamp() * 1000
    some = OffsetRange(0, 3, 7)
    for work, expected in (
        (Replay(offsets=(some,)), 4),
        (Replay(keys=(b"key-1", b"key-2", b"none")), 20),
        (Replay(json=(("$.n", "17"),)), 1),
        (Replay(where="cast(get_json_object(value, '$.n') as int) < 10 and key <> 'key-3'"), 9),
        (Replay(since=round(middle) + 10**9), 0),
        (Replay(until=round(middle) + 10**9, offsets=(some,), keys=(rows[3]["key"],)), None),
    ):
        dry = Replay(**{f: getattr(work, f) for f in work.__slots__} | {"dry_run": True})
        result = flow.run(dry)
        if expected is None:
            assert result["events"] >= 1
        else:
            assert result["events"] == expected, work
        assert len(result["sample"]) == min(10, result["events"])
    whole = flow.run(Replay(dry_run=True))
    assert (whole["events"], whole["keys"]) == (200, 20)
    assert whole["bytes"] == sum(len(row["key"]) + len(row["value"]) for row in rows)
    assert len(flow.records("events")) == 200
    assert flow.run(Replay(keys=(b"key-1",)))["events"] == 10
    sent = flow.records("events")
    assert len(sent) == 210
    assert by_key(sent)[b"key-1"] == [b'{"n":%d}' % n for n in range(1, 200, 20)] * 2
