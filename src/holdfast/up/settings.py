"""The settings of `holdfast up`."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class UpSettings:
    """The settings under `[up]` in holdfast.toml; each part has its own section."""

    data_dir: Path = Path("holdfast-data")
    """All data of all parts."""
    lake: str | None = None
    """Folder or URL of the lake; by default inside `data_dir`."""
    kafka: str | None = None
    """Brokers to use, `host:port`, instead of an embedded one."""
    broker_port: int | None = None
    """The broker's port; by default 9092 or, if that is in use, a free one."""
    metrics_port: int | None = None
    """The pipeline's port; by default 9600 or, if that is in use, a free one."""
    web: bool = True
    """Run the API and the dashboard."""
    web_port: int | None = None
    """The port of API and dashboard; by default 8600 or, if that is in use, a free one."""
    spark_master: str | None = None
    """The Spark master; by default Spark runs on this machine."""
    demo: bool = False
    """Create demo flows with traffic."""
