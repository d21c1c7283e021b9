"""Replay events of a flow: count them, wait until the flow keeps up, replay, verify."""

from airflow.sdk import DAG, Param, task

from airflow_provider_holdfast.runs import ReplayOperator, VerifyOperator
from airflow_provider_holdfast.sensors import LagBelowSensor

with DAG(
    "replay",
    description="Send events of a flow through it again, and verify the flow",
    schedule=None,
    catchup=False,
    max_active_runs=1,
    render_template_as_native_obj=True,
    tags=["holdfast"],
    params={
        "flow": Param("orders", type="string", description="The flow."),
        "since": Param(None, type=["null", "string"], format="date-time"),
        "until": Param(None, type=["null", "string"], format="date-time"),
        "keys": Param([], type="array", items={"type": "string"}, description="All, if empty."),
        "rate": Param(500.0, type="number", description="Events per second, at most."),
        "lag": Param(10_000, type="integer", description="Start below this lag of the flow."),
    },
    doc_md=__doc__,
) as dag:
    chosen = {
        "flow": "{{ params.flow }}",
        "since": "{{ params.since }}",
        "until": "{{ params.until }}",
        "keys": "{{ params['keys'] }}",
    }
    count = ReplayOperator(task_id="count", dry_run=True, **chosen)

    @task.short_circuit(ignore_downstream_trigger_rules=False)
    def any_events(run: dict) -> bool:
        """Skips the rest if no event matches."""
        events = run["result"]["events"]
        print(f"{events:,} events match. See {run['page']}.")
        return events > 0

    keeps_up = LagBelowSensor(
        task_id="keeps_up", flow="{{ params.flow }}", events="{{ params.lag }}"
    )
    replay = ReplayOperator(task_id="replay", rate="{{ params.rate }}", **chosen)
    verify = VerifyOperator(task_id="verify", flow="{{ params.flow }}")

    any_events(count.output) >> keeps_up >> replay >> verify
