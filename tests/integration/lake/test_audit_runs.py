"""Audits and refreshes as runs: what a running pipeline finds is the run's result."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.brokers import EmbeddedBroker
from tests.integration.lake.history import Story, contents, pipeline, produce, send, source
from tests.integration.pipeline.world import World, eventually

from holdfast.flows.run_specs import Quality, Refresh, Replay, RunSpec, Verify
from holdfast.flows.runs import Run, RunState
from holdfast.pipeline.runs.part import RunsPart
from holdfast.pipeline.runs.run_log import RunLog

pytestmark = pytest.mark.spark

PATIENCE_S = 400.0


def carried_out(world: World, work: RunSpec) -> Run:
    runs = world.client.runs
    ended = runs.wait(runs.ask(world.flow.name, work, actor="ana").id, timeout=PATIENCE_S)
    assert ended.state is RunState.DONE, ended
    return ended


def test_audit_checks_and_refresh_run_after_a_replay_and_a_planted_fault_is_found(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    checks = ("required n", "fresh 1h")
    story = Story(World(embedded_broker, checks=checks, schema="n INT"), str(tmp_path / "lake"))
    world = story.world
    flow = world.flow.describe()
    with pipeline(story, spark, tmp_path):
        log = RunLog(world.connection)
        runs = RunsPart(spark, world.connection, flow, story.lake, lambda: None, log)
        runs.start()
        try:
            world.flow.hold("held").wait(PATIENCE_S)
            send(world, *(b"k%d" % (i % 5) for i in range(40)), b"held", b"held")
            eventually(lambda: story.landed(spark), "all events landed", PATIENCE_S)
            replay = carried_out(world, Replay()).progress
            assert replay is not None
            assert replay.result["events"] == 42
            eventually(lambda: story.landed(spark), "the replayed events landed", PATIENCE_S)
            eventually(world.is_taken, "the replayed events taken", PATIENCE_S)

            verified = carried_out(world, Verify())
            assert verified.progress is not None
            result = verified.progress.result
            assert verified.passed, result
            assert [result[name] for name in ("events", "processed", "held", "landed")] == [
                84, 80, 4, 84
            ]  # fmt: skip
            checked = carried_out(world, Quality())
            assert checked.passed
            assert checked.progress is not None
            assert [each["check"] for each in checked.progress.result["results"]] == list(checks)
            assert checked.progress.result["events"] == 42, "what was replayed counts once"

            refreshed = [
                carried_out(world, Refresh(rebuild=again)) for again in (False, False, True)
            ]
            rows = [run.progress and run.progress.result for run in refreshed]
            assert rows == [
                {"added": 84, "quarantined": 0, "rows": 84, "gold": {}},
                {"added": 0, "quarantined": 0, "rows": 84, "gold": {}},
                {"added": 84, "quarantined": 0, "rows": 84, "gold": {}},
            ]

            twice = contents(world, world.names.processed)[0]
            produce(world, world.names.processed, twice)
            spoilt = carried_out(world, Verify(without_raw_zone=True))
            assert spoilt.passed is False
            assert spoilt.progress is not None
            [found] = [
                found for check in spoilt.progress.result["checks"] for found in check["found"]
            ]
            assert (found["fault"], found["count"]) == ("doubled", 1)
            [place] = found["examples"]
            assert (place["partition"], place["offset"]) == source(twice)
        finally:
            runs.stop()
            log.close()
