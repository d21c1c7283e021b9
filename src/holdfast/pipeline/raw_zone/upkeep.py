"""Keeps the table of a raw zone small: few files, a short log, and no file that no reader needs.

Each commit adds a small file and an entry of Delta's log. So from time to time the small files of a
day are rewritten as one, and files and log entries that are older than the history are deleted.

Compaction is a commit of its own that changes no rows. Whatever is interrupted leaves the table as
it was, or files that no version names: they are deleted later. Everything is done by Spark, which
is the only writer of the table.
"""

from datetime import timedelta
from time import monotonic
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from holdfast import faults

COMPACT_FILES = 100
"""New files until the next compaction. With a commit each 10 seconds: every quarter of an hour."""
_SMALL_BYTES = 16 * 1024**2
"""A larger file is left alone. So a compaction rewrites at most 1.6 GB, and mostly a thousandth."""
_COMPACTED_BYTES = 64 * 1024**2
_DELETE_SECONDS = 60 * 60.0
"""Between two deletions: each lists all files of the table."""

_OPTIONS = {
    "spark.databricks.delta.optimize.minFileSize": str(_SMALL_BYTES),
    "spark.databricks.delta.optimize.maxFileSize": str(_COMPACTED_BYTES),
    "spark.databricks.delta.optimize.maxThreads": "1",
    # A deletion would be two commits of its own, after which the position is harder to find.
    "spark.databricks.delta.vacuum.logging.enabled": "false",
    # The history may be shorter than a week: the raw zone is the only writer of its table.
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}


def properties(history: timedelta) -> dict[str, str]:
    """The properties of a table whose old versions can be read for as long as `history`."""
    interval = f"interval {round(history.total_seconds())} seconds"
    return {
        "delta.deletedFileRetentionDuration": interval,
        "delta.logRetentionDuration": interval,
    }


class Upkeep:
    """The upkeep of one table. The caller must be its only writer."""

    def __init__(self, session: SparkSession, location: str, history: timedelta) -> None:
        self._main = session
        self._location = location
        self._history = history
        self._session: SparkSession | None = None
        self._delete_at = 0.0

    def count_files(self) -> int:
        """The number of files in the current version of the table."""
        return int(self._log().unsafeVolatileSnapshot().numOfFiles())

    def run(self) -> None:
        """Compact small files, and delete what is older than the history, if that is due."""
        self.compact()
        if monotonic() >= self._delete_at:
            self._delete_at = monotonic() + _DELETE_SECONDS
            self.delete_old()

    def compact(self) -> None:
        """Rewrite the small files of each day as one."""
        self._table().optimize().executeCompaction()

    def delete_old(self) -> None:
        """Delete files that no version within the history has, and older entries of the log."""
        self._set_properties()
        self._table().vacuum()
        faults.reach("raw-zone-after-vacuum")
        log, jvm = self._log(), self._jvm
        # By itself Delta deletes whole days only: up to 17,000 entries would stay for a second day.
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        name = "org.apache.spark.sql.delta.TruncationGranularity$"
        granularity = jvm.java.lang.Class.forName(name, True, loader).getField("MODULE$").get(None)
        nothing = jvm.scala.Option.empty()
        log.cleanUpExpiredLogs(log.unsafeVolatileSnapshot(), nothing, nothing, granularity.MINUTE())

    def _set_properties(self) -> None:
        """Tables that were made with another history, or before there was one, get this one."""
        wanted = properties(self._history)
        (detail,) = self._table().detail().collect()
        if wanted.items() <= detail["properties"].items():
            return
        listed = ", ".join(f"'{name}' = '{value}'" for name, value in wanted.items())
        self._own_session.sql(f"ALTER TABLE delta.`{self._location}` SET TBLPROPERTIES ({listed})")

    def _table(self) -> DeltaTable:
        return DeltaTable.forPath(self._own_session, self._location)

    def _log(self) -> Any:
        logs = self._jvm.org.apache.spark.sql.delta.DeltaLog
        return logs.forTable(self._main._jsparkSession, self._location)

    @property
    def _jvm(self) -> Any:
        return self._main.sparkContext._jvm

    @property
    def _own_session(self) -> SparkSession:
        """A sibling session, because these options are not for other queries."""
        if self._session is None:
            self._session = self._main.newSession()
            for name, value in _OPTIONS.items():
                self._session.conf.set(name, value)
        return self._session
