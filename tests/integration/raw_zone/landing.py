"""A process that lands the events of one flow until it is killed: `python -m ... <settings>`."""

import json
import sys
import time
from datetime import timedelta
from pathlib import Path

from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.raw_zone.zone import RawZone, RawZoneSettings
from holdfast.pipeline.spark.session import create_session


def main() -> None:
    given = json.loads(sys.argv[1])
    zone = RawZone(
        create_session(Path(given["scratch"]), master="local[2]"),
        Connection(ClientSettings(bootstrap=given["bootstrap"])),
        FlowDefinition(name=given["flow"], partitions=given["partitions"], created_at=0),
        RawZoneSettings(
            lake=given["lake"], seconds=0.1, compact_files=1, history=timedelta(hours=1)
        ),
        Metrics(),
    )
    zone.start()
    while zone.failure() is None:
        time.sleep(0.1)


if __name__ == "__main__":
    main()
