"""What can be set about a pipeline."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSettings:
    """Settings of one pipeline, under `[pipeline]` in holdfast.toml."""

    data_dir: Path = Path("holdfast-data/pipeline")
    """Scratch files, and checkpoints unless `checkpoints` says otherwise."""
    checkpoints: str | None = None
    """Where Spark plans its batches. May be lost: no truth is there."""
    lake: str = "holdfast-data/lake"
    """Where tables are: a folder, or a URL that Spark can write to."""
    spark_master: str = "local[*]"
    """Where Spark runs: on this machine unless given."""
    spark_memory: str = "1g"
    """Heap of the driver, which is all of Spark on one machine."""
    spark_ui_port: int | None = None
    """Port of Spark's own web pages; none unless given."""
    http: str | None = None
    """Address of `/metrics` and `/healthz`; none unless given."""
    log_format: Literal["text", "json"] = "text"
    """Lines for people, or an object a line."""

    gate: bool = True
    """Hold and release."""
    raw_zone: bool = True
    """Land every event in Delta."""
    raw_zone_seconds: float = 10.0
    """Between two commits to a table."""
    raw_zone_max_offsets: int = 500_000
    """Most events of one commit."""
    accept_loss: str = ""
    """Flows, with commas between, that go on although retention deleted events before they were
    taken or landed. For one start: the next loss is accepted as well."""

    @property
    def loss_accepted(self) -> frozenset[str]:
        return frozenset(filter(None, map(str.strip, self.accept_loss.split(","))))

    @property
    def checkpoint_root(self) -> str:
        return self.checkpoints or str(self.data_dir.resolve() / "checkpoints")

    @property
    def lake_root(self) -> str:
        """The lake, whatever folder Spark's process is in. (As a `file:///` URL Delta takes it for
        another location than the `file:/` that Spark makes of it: such a one becomes a folder.)"""
        folder = self.lake
        if folder.startswith("file:"):
            folder = unquote(urlsplit(folder).path)
        return folder if "://" in folder else str(Path(folder).resolve())
