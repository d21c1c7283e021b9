"""A gate with Spark as a process of its own, to be killed.

python -m tests.integration.pipeline.spark_process BOOTSTRAP FLOW PATIENCE FOLDER driver|tasks
"""

import logging
import sys
import time
from pathlib import Path

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.intake import Intake
from holdfast.pipeline.gate.keeper import Keeper
from holdfast.pipeline.spark.session import create_session


def main() -> None:
    bootstrap, flow, patience, folder, path = sys.argv[1:]
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    logging.getLogger("holdfast.client.librdkafka").setLevel(logging.ERROR)
    session = create_session(Path(folder) / "spark", master="local[2]")
    definition = holdfast.connect(bootstrap).flow(flow).describe()
    settings = ClientSettings(bootstrap=bootstrap, request_timeout=float(patience))
    gate = FlowGate(Connection(settings), definition)
    gate.start()
    keeper = Keeper(gate)
    intake = Intake(lambda: session, gate, small=path == "driver")
    keeper.start()
    intake.start()
    print("running", flush=True)
    while keeper.error is None and intake.failure() is None:
        time.sleep(0.1)
    raise SystemExit(f"{keeper.error!r} {intake.failure()!r}")


if __name__ == "__main__":
    main()
