"""The example DAGs against a running `holdfast up`, with their deferrals."""

import importlib
from typing import Any

import pytest
from airflow_provider_holdfast.triggers import RunTrigger

from conftest import ended, letters, make_letters

pytestmark = pytest.mark.usefixtures("airflow")


def carry_out(name: str, **params: Any) -> tuple[str, dict[str, Any]]:
    """Runs an example DAG. Returns its state, and the state of each task."""
    module = importlib.import_module(f"airflow_provider_holdfast.example_dags.{name}")
    run = module.dag.test(run_conf=params)
    return run.state, {ti.task_id: ti.state for ti in run.get_task_instances()}


def runs_of(api: Any, flow: str, kind: str) -> list[dict[str, Any]]:
    runs = api.get("/runs", {"flow": flow, "limit": 1_000})["runs"]
    return [run for run in runs if run["kind"] == kind and "airflow" in run["run"]]


def test_replay_dag_replays_and_verifies(
    api: Any, flow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = []
    poll = RunTrigger._result

    async def polled(trigger: RunTrigger, client: Any) -> Any:
        waited.append(trigger.run_name)
        return await poll(trigger, client)

    monkeypatch.setattr(RunTrigger, "_result", polled)
    state, tasks = carry_out("replay", flow=flow, keys=["customer-1"])
    assert (state, set(tasks.values())) == ("success", {"success"})
    assert len(set(waited)) == 3, "count, replay and verify wait in triggers"
    replay, count = runs_of(api, flow, "replay")
    assert (count["result"]["events"], replay["done"]) == (9, 9)
    assert replay["options"]["keys"] == ["customer-1"]
    assert runs_of(api, flow, "verify")[0]["result"]["verdict"] == "clean"


def test_replay_dag_skips_the_replay_without_events(api: Any, flow: str) -> None:
    before = len(runs_of(api, flow, "replay"))
    state, tasks = carry_out("replay", flow=flow, keys=["no-such-key"])
    assert (state, tasks["replay"]) == ("success", "skipped")
    assert len(runs_of(api, flow, "replay")) == before + 1


def test_backfill_dag_lands_refreshes_and_verifies(api: Any, flow: str) -> None:
    state, tasks = carry_out("backfill", flow=flow)
    assert (state, set(tasks.values())) == ("success", {"success"})
    assert runs_of(api, flow, "backfill")[0]["state"] == "done"
    assert runs_of(api, flow, "refresh")[0]["result"]["rows"] >= 10


def test_data_quality_dag_fails_if_an_event_breaks_a_check(api: Any, flow: str) -> None:
    state, tasks = carry_out("data_quality", flow=flow)
    assert (state, tasks) == ("failed", {"check": "failed"})
    run = runs_of(api, flow, "quality")[0]
    assert run["result"]["passed"] is False
    assert len(ended(api, run["run"])["result"]["results"][0]["examples"]) >= 1


def test_dlq_inspection_dag_redrives_only_allowed_reasons(api: Any, flow: str) -> None:
    make_letters(api, flow, "customer-dead", 3)
    state, tasks = carry_out("dlq_inspection", flow=flow, redrive=["overflow"])
    assert (state, tasks["report"], tasks["redrive"]) == ("success", "success", "skipped")
    state, tasks = carry_out("dlq_inspection", flow=flow, redrive=["dead-lettered"])
    assert (state, tasks["redrive"]) == ("success", "success")
    (run,) = runs_of(api, flow, "redrive")
    assert run["done"] == len(letters(api, flow, "customer-dead")) == 3
