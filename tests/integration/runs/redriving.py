"""A process that carries one redrive out: `python -m ... <bootstrap> <flow> <run>`. No Spark."""

import sys
from collections.abc import Mapping
from threading import Event
from typing import Any

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.flows.runs import RunState
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.redrive import RedriveRun
from holdfast.pipeline.runs.run_log import RunLog


def carry_out(bootstrap: str, flow: str, run_id: str) -> Mapping[str, Any]:
    """Returns the run's result."""
    connection = Connection(ClientSettings(bootstrap=bootstrap))
    definition = holdfast.connect(bootstrap).flow(flow).describe()
    log = RunLog(connection)
    while (run := log.get(run_id)) is None:
        log.poll(0.1)
    execution = Execution(run, log, Event())
    result = RedriveRun(connection, definition, execution).carry_out()
    execution.end(RunState.DONE, result)
    log.close()
    return result


if __name__ == "__main__":
    carry_out(*sys.argv[1:])
