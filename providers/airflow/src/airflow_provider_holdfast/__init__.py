"""Holdfast for Apache Airflow: connection, hook, operators, sensors, event triggers.

provider_info   description of this package for Airflow, with the fields of the connection's form
api             requests to Holdfast's REST API, blocking and asyncio; needs no Airflow
events          server-sent events of the API; needs no Airflow
conditions      conditions that sensors wait for; needs no Airflow
hook            `HoldfastHook`: the API with the address and token of a connection
identity        run ids and idempotency keys, from DAG, run and task
waiting         connection, deferral and failures, for all operators
links           links from a task to its page in Holdfast
runs            operators that start a run and wait for it
commands        operators that hold and release a key
sensors         sensors: key not held, run ended, flow clean, lag below
triggers        triggers of deferred tasks
event_triggers  triggers that start DAGs: a key was held, a dead letter arrived
example_dags    replay, backfill, dlq_inspection, data_quality
"""

from airflow_provider_holdfast.provider_info import get_provider_info

__all__ = ["get_provider_info"]
