"""Ids that follow from DAG, run and task, so that a retry finds what an earlier try has started."""

import hashlib
import json
from typing import Any

_DIGITS = 24


def task_id(context: Any, name: str) -> str:
    """The id of what a task starts: the same in every try, another in every DAG run, task and
    mapped index.

    It has at most 64 letters, digits and dashes, as Holdfast requires of run ids.
    """
    ti = context["ti"]
    parts = [ti.dag_id, ti.run_id, ti.task_id, ti.map_index]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]
    return f"{name}-airflow-{digest}"


def numbered(base: str, number: int) -> str:
    """The id of the first, second, … request of a task.

    >>> numbered("replay-airflow-1f", 1), numbered("replay-airflow-1f", 2)
    ('replay-airflow-1f', 'replay-airflow-1f-2')
    """
    return base if number == 1 else f"{base}-{number}"
