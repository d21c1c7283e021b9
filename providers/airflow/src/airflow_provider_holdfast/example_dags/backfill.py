"""Every night: land events that are missing in the raw zone, refresh the tables, verify."""

from datetime import datetime

from airflow.sdk import DAG, Param, task

from airflow_provider_holdfast.api import segment
from airflow_provider_holdfast.hook import HoldfastHook
from airflow_provider_holdfast.runs import BackfillOperator, RefreshOperator, VerifyOperator

with DAG(
    "backfill",
    description="Land missing events in the raw zone, refresh the tables, verify the flow",
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    render_template_as_native_obj=True,
    tags=["holdfast"],
    params={
        "flow": Param("orders", type="string", description="The flow."),
        "files": Param(
            [],
            type="array",
            items={"type": "string"},
            description="Parquet files or JSON lines, as paths of the pipeline's machine (role "
            "admin). Empty: the topic.",
        ),
        "key_from": Param("", type="string", description="Of files: a column or a JSON path."),
        "time_from": Param("", type="string", description="Of files: a column or a JSON path."),
    },
    doc_md=__doc__,
) as dag:
    backfill = BackfillOperator(
        task_id="backfill",
        flow="{{ params.flow }}",
        files="{{ params.files }}",
        key_from="{{ params.key_from }}",
        time_from="{{ params.time_from }}",
    )

    @task.short_circuit(ignore_downstream_trigger_rules=False)
    def has_tables(params: dict) -> bool:
        """Skips the refresh: only a flow with a schema has tables."""
        with HoldfastHook().api() as api:
            return bool(api.get(f"/flows/{segment(params['flow'])}")["schema"])

    refresh = RefreshOperator(task_id="refresh", flow="{{ params.flow }}")
    verify = VerifyOperator(task_id="verify", flow="{{ params.flow }}", trigger_rule="none_failed")

    backfill >> has_tables() >> refresh >> verify
    backfill >> verify
