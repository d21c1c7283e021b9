"""What can be set about `holdfast up`."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class UpSettings:
    """Settings of the whole, under `[up]` in holdfast.toml; those of a part are in its section."""

    data_dir: Path = Path("holdfast-data")
    """All data of all parts."""
    lake: str | None = None
    """Folder or URL of the lake; inside `data_dir` unless given."""
    kafka: str | None = None
    """Brokers to use, `host:port`, instead of an embedded one."""
    broker_port: int | None = None
    """9092 or, where that is taken, a free one, unless given."""
    metrics_port: int | None = None
    """Of the pipeline: 9600 or, where that is taken, a free one, unless given."""
    web: bool = True
    """Run the API and the dashboard."""
    web_port: int | None = None
    """Of the API and the dashboard: 8600 or, where that is taken, a free one, unless given."""
    spark_master: str | None = None
    """Where Spark runs: on this machine unless given."""
    demo: bool = False
    """Make flows with traffic, so that there is something to look at."""
