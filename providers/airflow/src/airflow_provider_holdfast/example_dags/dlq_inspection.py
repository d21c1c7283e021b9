"""Read the dead letters of a flow, group them by reason and key, report, and redrive those that may
be redriven: their reason is allowed, and they have not failed too often."""

from collections import Counter
from datetime import datetime

from airflow.sdk import DAG, Param, task

from airflow_provider_holdfast.hook import HoldfastHook
from airflow_provider_holdfast.runs import RedriveOperator

_MOST_LETTERS = 10_000
"""A redrive takes at most this number of letters by their positions."""


def attempts_of(letter: dict) -> int:
    """How often the event has failed; 1 for one that was never redriven."""
    headers = {header["name"]: header["value"]["text"] for header in letter["headers"]}
    return int(headers.get("holdfast-attempt") or 1)


with DAG(
    "dlq_inspection",
    description="Group dead letters by reason and key, report, redrive those that may be redriven",
    schedule="@hourly",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    render_template_as_native_obj=True,
    tags=["holdfast"],
    params={
        "flow": Param("orders", type="string", description="The flow."),
        "since": Param("24h", type="string", description="How far to look back, such as 24h."),
        "redrive": Param(
            ["overflow"],
            type="array",
            items={"type": "string"},
            description="Reasons whose letters are redriven. Empty: report only.",
        ),
        "attempts": Param(
            3, type="integer", description="Leave out events that failed this often."
        ),
    },
    doc_md=__doc__,
) as dag:

    @task
    def inspect(params: dict) -> dict:
        """The groups of dead letters, and the letters to redrive. It stores no values."""
        groups: Counter[tuple[str, str]] = Counter()
        allowed = []
        letters = HoldfastHook().dead_letters(
            params["flow"], most=_MOST_LETTERS, since=params["since"]
        )
        for letter in letters:
            groups[letter["error"] or "unknown", letter["key"] or ""] += 1
            if letter["error"] in params["redrive"] and attempts_of(letter) < params["attempts"]:
                allowed.append(f"{letter['partition']}:{letter['offset']}")
        return {
            "groups": [
                {"reason": reason, "key": key, "letters": count}
                for (reason, key), count in groups.most_common(1_000)
            ],
            "letters": groups.total(),
            "allowed": allowed,
        }

    @task
    def report(found: dict, params: dict) -> str:
        """Writes a table to the task's log and to XCom."""
        lines = [
            f"The flow {params['flow']} has {found['letters']:,} dead letters; "
            f"{len(found['allowed']):,} may be redriven.",
            "| reason | key | letters |",
            "|---|---|---|",
            *(f"| {g['reason']} | {g['key']} | {g['letters']} |" for g in found["groups"]),
        ]
        print("\n".join(lines))
        return "\n".join(lines)

    @task.short_circuit
    def any_allowed(found: dict) -> bool:
        """Skips the redrive if no letter may be redriven."""
        return bool(found["allowed"])

    redrive = RedriveOperator(
        task_id="redrive",
        flow="{{ params.flow }}",
        letters="{{ ti.xcom_pull(task_ids='inspect')['allowed'] }}",
    )

    found = inspect()
    report(found) >> any_allowed(found) >> redrive
