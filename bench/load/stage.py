"""Where the lake's benchmarks play: a Kafka, a folder, and one Spark session."""

from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.pipeline.spark.session import create_session

Figures = dict[str, float]

PARTITIONS = 6


@dataclass(slots=True)
class Stage:
    """Shared by the parts of the benchmark."""

    bootstrap: str
    folder: Path
    quick: bool
    _session: SparkSession | None = field(default=None, init=False)

    @property
    def session(self) -> SparkSession:
        """Spark as the pipeline starts it; a process has one."""
        if self._session is None:
            self._session = create_session(self.folder / "spark")
        return self._session

    @property
    def connection(self) -> Connection:
        return Connection(ClientSettings(bootstrap=self.bootstrap))

    @property
    def lake(self) -> str:
        return str(self.folder / "lake")

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()
