"""Operators and sensors against a running `holdfast up`."""

import asyncio
import os
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowFailException, TaskDeferred
from airflow_provider_holdfast.commands import HoldOperator, ReleaseOperator
from airflow_provider_holdfast.event_triggers import DeadLetterTrigger, KeyHeldTrigger
from airflow_provider_holdfast.hook import HoldfastHook
from airflow_provider_holdfast.runs import QualityOperator, ReplayOperator, VerifyOperator
from airflow_provider_holdfast.sensors import (
    FlowCleanSensor,
    KeyNotHeldSensor,
    LagBelowSensor,
    RunEndedSensor,
)
from airflow_provider_holdfast.triggers import ConditionTrigger, RunTrigger

from conftest import ended, make_letters, wait_until

pytestmark = pytest.mark.usefixtures("airflow")


def context(run_id: str, task_id: str = "task") -> Any:
    """The context of one task. Every try of it has the same names."""
    pushed: dict[str, Any] = {}
    ti = SimpleNamespace(
        dag_id=f"dag-{os.getpid()}",
        run_id=run_id,
        task_id=task_id,
        map_index=-1,
        pushed=pushed,
        xcom_push=lambda key, value: pushed.update({key: value}),
    )
    return {"ti": ti}


def deferred(operator: Any, run: Any) -> Any:
    with pytest.raises(TaskDeferred) as caught:
        operator.execute(run)
    return caught.value.trigger


def slow_replay(flow: str) -> ReplayOperator:
    return ReplayOperator(task_id="replay", flow=flow, keys=["customer-1"], rate=0.2)


def fired(trigger: Any) -> Any:
    """The first event of a trigger that went through Airflow's database."""
    path, kwargs = trigger.serialize()
    assert path.rpartition(".")[2] == type(trigger).__name__

    return asyncio.run(first_event(type(trigger)(**kwargs)))


async def first_event(trigger: Any) -> Any:
    return (await asyncio.wait_for(anext(trigger.run()), 120)).payload


def test_retry_attaches_to_the_run_under_way_until_it_is_cancelled(api: Any, flow: str) -> None:
    run = context("retry")
    first = deferred(slow_replay(flow), run)
    assert isinstance(first, RunTrigger)
    again = deferred(slow_replay(flow), run)
    other = deferred(slow_replay(flow), context("another DAG run"))
    assert again.run_name == first.run_name != other.run_name
    page = run["ti"].pushed["_link_RunLink"]
    assert page.endswith(f"/runs/{first.run_name}")
    for trigger in (first, other):
        asyncio.run(trigger.on_kill())  # Airflow calls it if a user ends the deferred task
        assert ended(api, trigger.run_name)["state"] == "cancelled"
    operator = slow_replay(flow)
    event = fired(first)
    with pytest.raises(AirflowFailException, match="cancelled the run"):
        operator.execute_complete(run, event)
    third = deferred(slow_replay(flow), run)
    assert third.run_name == f"{first.run_name}-2"
    asyncio.run(third.on_kill())
    assert ended(api, third.run_name)["state"] == "cancelled"


def test_killing_a_task_in_the_worker_cancels_its_run(api: Any, flow: str) -> None:
    operator = slow_replay(flow)
    operator.deferrable, operator.poll_interval = False, 0.2
    failures: list[BaseException] = []

    def execute() -> None:
        try:
            operator.execute(context("kill"))
        except AirflowFailException as error:
            failures.append(error)

    thread = Thread(target=execute)
    thread.start()
    wait_until(lambda: operator.page, "a run")
    operator.on_kill()
    thread.join(120)
    assert "cancelled the run" in str(failures[0])
    assert ended(api, operator.page.rpartition("/")[2])["state"] == "cancelled"


def test_try_after_success_takes_the_result_and_starts_nothing(api: Any, flow: str) -> None:
    run = context("done")

    def verify() -> VerifyOperator:
        return VerifyOperator(task_id="verify", flow=flow, deferrable=False, poll_interval=0.5)

    first, second = verify().execute(run), verify().execute(run)
    assert first["run"] == second["run"]
    assert second["result"]["verdict"] in ("clean", "nothing to check")
    sensor = RunEndedSensor(task_id="ended", run=first["run"])
    assert sensor.execute(run)["state"] == "done"


def test_failed_quality_names_the_events_and_the_next_try_checks_again(api: Any, flow: str) -> None:
    run = context("quality")
    names = []
    for _ in range(2):
        operator = QualityOperator(task_id="check", flow=flow)
        trigger = deferred(operator, run)
        names.append(trigger.run_name)
        with pytest.raises(AirflowFailException, match=r"customer-bad breaks .range total"):
            operator.execute_complete(run, fired(trigger))
        (row, *_) = run["ti"].pushed["rows"]
        assert (row["key"], '"total":5000.0' in row["value"]) == ("customer-bad", True)
    assert names[1] == f"{names[0]}-2"


def test_retried_hold_is_one_command_and_a_cleared_one_holds_again(api: Any, flow: str) -> None:
    run, key = context("hold"), "a key/with a slash"

    def hold() -> Any:
        operator = HoldOperator(
            task_id="hold", flow=flow, key=key, reason="inventory", deferrable=False
        )
        return operator.execute(run)

    def release(name: str) -> Any:
        operator = ReleaseOperator(task_id="release", flow=flow, key=key, deferrable=False)
        return operator.execute(context(name))

    first = hold()
    assert first["outcome"] == "held"
    assert hold()["command_id"] == first["command_id"]
    assert run["ti"].pushed["_link_KeyLink"].endswith("b64.YSBrZXkvd2l0aCBhIHNsYXNo")
    assert release("one")["outcome"] == "released"
    assert release("one")["outcome"] == "released"
    cleared = hold()
    assert (cleared["outcome"], cleared["command_id"] != first["command_id"]) == ("held", True)
    sensor = KeyNotHeldSensor(task_id="free", flow=flow, key=key, poke_interval=0.2)
    trigger = deferred(sensor, run)
    assert isinstance(trigger, ConditionTrigger)
    assert release("one")["outcome"] == "released"  # a cleared release releases again
    assert sensor.execute_complete(run, fired(trigger))["state"] == "ACTIVE"


def test_lag_and_flow_sensors_see_a_verified_flow(api: Any, flow: str) -> None:
    run = context("sensors")
    below = LagBelowSensor(task_id="lag", flow=flow, events=1, deferrable=False, poke_interval=0.5)
    assert below.execute(run)["lag"] == 0
    name = api.post(f"/flows/{flow}/verifications", {"full": True})["run"]
    requested_at = api.get("/runs", {"flow": flow})["runs"][0]["requested_at"]
    clean = FlowCleanSensor(task_id="clean", flow=flow, since=requested_at, deferrable=False)
    assert clean.execute(run)["run"] == name
    late = FlowCleanSensor(task_id="late", flow=flow, since="2999-01-01T00:00:00Z")
    assert isinstance(deferred(late, run), ConditionTrigger)


def test_unknown_flow_fails_for_good(api: Any) -> None:
    operator = ReplayOperator(task_id="replay", flow="no-such-flow")
    with pytest.raises(AirflowFailException, match="There is no flow 'no-such-flow'"):
        operator.execute(context("unknown"))


def test_held_key_and_dead_letters_fire_event_triggers(api: Any, flow: str) -> None:
    async def observed() -> tuple[Any, Any]:
        held = asyncio.create_task(first_event(KeyHeldTrigger(flow)))
        letter = asyncio.create_task(first_event(DeadLetterTrigger(flow)))
        await asyncio.to_thread(make_letters, api, flow, "customer-event", 1)
        return await held, await letter

    held, letter = asyncio.run(observed())
    assert (held["flow"], held["key"], held["reason"]) == (flow, "customer-event", "test")
    assert (letter["key"], letter["error"]) == ("customer-event", "dead-lettered")
    assert "value" not in letter


def test_test_button_names_actor_and_role(api: Any) -> None:
    assert HoldfastHook().test_connection() == (
        True,
        "Connected as local with the role admin.",
    )
