"""A process that refreshes silver: `python -m ... <folder> <lake> <schema>`."""

import sys
from pathlib import Path

from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.spark.session import create_session
from holdfast.pipeline.tables.silver import refresh_silver

if __name__ == "__main__":
    folder, lake, schema = sys.argv[1:]
    session = create_session(Path(folder), master="local[2]")
    flow = FlowDefinition(name="orders", partitions=1, created_at=0, schema=schema)
    refresh_silver(session, flow, lake)
