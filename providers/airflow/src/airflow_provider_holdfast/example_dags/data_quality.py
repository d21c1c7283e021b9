"""Run the quality checks of a flow. If one fails, the run fails with the events that break it."""

from datetime import datetime

from airflow.sdk import DAG, Param

from airflow_provider_holdfast.runs import QualityOperator

with DAG(
    "data_quality",
    description="Run the quality checks of a flow, and show the events that break them",
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    render_template_as_native_obj=True,
    tags=["holdfast"],
    params={
        "flow": Param("orders", type="string", description="The flow."),
        "days": Param(1, type="integer", minimum=1, description="Check events of this many days."),
    },
    doc_md=__doc__,
) as dag:
    QualityOperator(task_id="check", flow="{{ params.flow }}", days="{{ params.days }}")
