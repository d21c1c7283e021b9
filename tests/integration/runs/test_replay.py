"""Replay: events of the raw zone through `<flow>.events` again, each once."""

import dataclasses
from pathlib import Path
from time import time

import pytest
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.clients import wait_until
from tests.integration.runs.lake import PATIENCE_S, by_key, numbered, running

from holdfast.errors import InvalidArgumentError
from holdfast.flows.run_specs import OffsetRange, Replay
from holdfast.flows.runs import RunState
from holdfast.pipeline.runs.selection import check_filter

pytestmark = pytest.mark.spark


def test_a_replay_sends_events_again_in_order_with_a_mark(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path
) -> None:
    with running(kafka, spark, tmp_path) as flow:
        then = round(time() * 1000) - 3_600_000
        flow.send(
            [("a", b"1"), ("b", None), (None, b"3"), ("a", b"4")],
            headers=[("trace", b"\x00"), ("trace", None)],
            timestamp=then,
        )
        flow.wait_until_landed(4)
        run = flow.ask(Replay())
        progress = flow.finish(run).progress
        assert progress is not None
        assert progress.result == {"events": 4, "left_out": 0}
        assert (progress.done, progress.total) == (4, 4)
        events = flow.records("events")
        originals = {
            (r.partition, r.offset): r for r in events if r.header("holdfast-replay-run") is None
        }
        for record in flow.replayed(run):
            source = (record.header("holdfast-replay-source") or b"").split(b":")
            original = originals.pop((int(source[0]), int(source[1])))
            assert (record.key, record.value, record.partition, record.timestamp_ms) == (
                original.key, original.value, original.partition, then
            )  # fmt: skip
            assert record.headers[:2] == original.headers
        assert not originals
        assert by_key(flow.replayed(run))[b"a"] == [b"1", b"4"]

        again = flow.ask(Replay(), run_id=run.id)
        assert again.progress == progress, "the same run id is the same run"
        flow.wait_until_landed(8)
        assert flow.run(Replay())["events"] == 4, "without those of the first replay"
        groups = [group.name for group in flow.client.groups.list()]
        assert not [name for name in groups if run.id in name], "nothing is left behind"


def test_a_replay_sends_only_selected_events_and_a_dry_run_none(
    embedded_broker: EmbeddedBroker,
    spark: SparkSession,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with running(embedded_broker, spark, tmp_path) as flow:
        flow.fill(200)
        rows = flow.raw()
        now = round(time() * 1000)
        some = OffsetRange(0, 3, 7)
        for work, expected in (
            (Replay(offsets=(some, OffsetRange(1, 0, 2))), 6),
            (Replay(keys=(b"key-1", b"key-2", b"none")), 20),
            (Replay(json_filters=(("$.n", "17"),)), 1),
            (Replay(where="cast(get_json_object(value, '$.n') as int) < 9 and key <> 'key-3'"), 8),
            (Replay(since=now + 10**9), 0),
            (Replay(since=now - 10**6, until=now + 10**6, offsets=(some,)), 4),
        ):
            result = flow.run(dataclasses.replace(work, dry_run=True))
            assert result["events"] == expected, work
            assert len(result["sample"]) == min(10, expected)
        whole = flow.run(Replay(dry_run=True))
        assert (whole["events"], whole["keys"]) == (200, 20)
        assert whole["bytes"] == sum(len(row["key"]) + len(row["value"]) for row in rows)
        assert len(flow.records("events")) == 200, "a dry run sends nothing"
        assert not [line for line in caplog.records if line.levelname == "ERROR"]
        run = flow.ask(Replay(keys=(b"key-1",)))
        flow.finish(run)
        assert by_key(flow.replayed(run)) == {b"key-1": numbered(200)[b"key-1"]}
        wrong = flow.finish(flow.ask(Replay(where="amount > 5")), RunState.FAILED).progress
        assert wrong is not None
        assert "amount" in wrong.note


def test_a_replay_keeps_its_rate_and_stops_when_cancelled(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    with running(embedded_broker, spark, tmp_path) as flow:
        flow.fill(3_000)
        run = flow.ask(Replay(rate=1_000))
        progress = flow.finish(run).progress
        assert progress is not None
        assert progress.ended_at is not None
        assert by_key(flow.replayed(run)) == numbered(3_000)
        # Never quicker; how much slower is the machine's affair.
        assert progress.ended_at - progress.started_at >= 2_500
        slow = flow.ask(Replay(rate=100))

        def underway() -> bool:
            seen = flow.client.runs.get(slow.id).progress
            return seen is not None and seen.done > 0

        wait_until(underway, "a replay under way", PATIENCE_S)
        flow.client.runs.cancel(slow.id)
        ended = flow.finish(slow, RunState.CANCELLED).progress
        assert ended is not None
        sent = flow.replayed(slow)
        assert 0 < len(sent) == ended.done < 3_000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("reflect('java.lang.System', 'exit', 1) = 'x'", "must not call reflect"),
        ("exists (select 1)", "must not query other tables"),
        ("key in (select key from t)", "must not query other tables"),
        ("upper(JAVA_METHOD('a', 'b')) = 'x'", "must not call java_method"),
        ("other.function(key) = 1", "must not call other.function"),
        ("key = = 1", "cannot be parsed"),
    ],
)
def test_a_filter_cannot_change_its_event(spark: SparkSession, text: str, why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=why):
        check_filter(spark, text)
    check_filter(spark, "upper(key) like 'A%' and get_json_object(value, '$.a') > 5")
