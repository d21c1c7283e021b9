"""The settings of a pipeline."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from holdfast.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSettings:
    """Settings of one pipeline, under `[pipeline]` in holdfast.toml."""

    data_dir: Path = Path("holdfast-data/pipeline")
    """Folder for scratch files."""
    lake: str = "holdfast-data/lake"
    """Location of the tables: a folder, or a URL that Spark can write to."""
    spark_master: str = "local[*]"
    """Spark master. The default is this machine."""
    spark_memory: str = "1g"
    """Heap of the driver, which is all of Spark on one machine."""
    spark_ui_port: int | None = None
    """Port of Spark's own web pages. Off by default."""
    http: str | None = None
    """Address of `/metrics` and `/healthz`. Off by default."""
    log_format: Literal["text", "json"] = "text"
    """Text lines, or one JSON object per line."""

    gate: bool = True
    """Run the gates, which hold and release."""
    raw_zone: bool = True
    """Land every event in Delta tables."""
    raw_zone_seconds: float = 60.0
    """The most seconds between two commits to a table while events arrive. With many events there
    is a commit every 10 seconds, and a flow's first events after a pause land at once."""
    raw_zone_history_hours: float = 24.0
    """Hours for which old versions of a raw zone's table can be read. The pipeline compacts small
    files, and deletes files that no version within this time has."""
    accept_loss: str = ""
    """Flows, separated by commas, that continue although retention deleted events before they were
    taken or landed. Set it for one start only: it would accept the next loss as well."""

    def __post_init__(self) -> None:
        if not self.raw_zone_history_hours >= 1:
            raise ConfigError(
                "raw_zone_history_hours must be at least 1: whoever reads a table, like an audit, "
                "needs the files of the version that it has opened."
            )

    @property
    def loss_accepted(self) -> frozenset[str]:
        return frozenset(filter(None, map(str.strip, self.accept_loss.split(","))))

    @property
    def lake_root(self) -> str:
        """The lake as an absolute path or URL, independent of the working directory of Spark's
        process. A `file:///` URL becomes a path: Spark writes it as `file:/`, which Delta takes
        for another location."""
        folder = self.lake
        if folder.startswith("file:"):
            folder = unquote(urlsplit(folder).path)
        return folder if "://" in folder else str(Path(folder).resolve())
