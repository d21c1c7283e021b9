"""A gate as a process of its own, to be killed: keeper and batches, without Spark.

python -m tests.integration.pipeline.gate_process BOOTSTRAP FLOW PATIENCE MOST_EVENTS driver|tasks
"""

import logging
import sys
import time

from tests.integration.pipeline.feeder import Feeder

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.keeper import Keeper


def main() -> None:
    bootstrap, flow, patience, most, path = sys.argv[1:]
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    logging.getLogger("holdfast.client.librdkafka").setLevel(logging.ERROR)
    definition = holdfast.connect(bootstrap).flow(flow).describe()
    settings = ClientSettings(bootstrap=bootstrap, request_timeout=float(patience))
    connection = Connection(settings)
    gate = FlowGate(connection, definition)
    gate.start()
    keeper = Keeper(gate)
    keeper.start()
    feeder = Feeder(connection, gate, most=int(most), tasks=path == "tasks")
    print("running", flush=True)
    while keeper.error is None:
        if not feeder.turn():
            time.sleep(0.005)
    raise keeper.error


if __name__ == "__main__":
    main()
