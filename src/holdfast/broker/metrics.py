"""What the broker counts. Plain numbers here; `exposition` turns them into Prometheus' text."""

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(slots=True)
class RequestMetrics:
    count: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Metrics:
    """Counters since the start, and gauges where they are cheap to keep."""

    requests: defaultdict[int, RequestMetrics] = field(
        default_factory=lambda: defaultdict(RequestMetrics)
    )
    connections: int = 0
    refused_connections: int = 0
    idle_closed: int = 0
    bad_frames: int = 0
    handler_failures: int = 0
    appended_bytes: int = 0
    appended_batches: int = 0
    rejected_batches: int = 0
    fetched_bytes: int = 0
    corrupt_reads: int = 0
    storage_failures: int = 0
    flushes: int = 0
    flush_seconds: float = 0.0
