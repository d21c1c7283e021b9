"""The newest commits of a Delta table, from the files of its log: Delta's own history of a table is
a Spark job."""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pyspark.sql import SparkSession

from holdfast.pipeline.spark.hadoop_files import HadoopFiles


def commit_file(location: str, version: int) -> str:
    return f"{location}/_delta_log/{version:020d}.json"


def commit_info(entry: str) -> Mapping[str, Any]:
    """What a file of the log says about its commit: one JSON object per line, one of them that."""
    actions = map(json.loads, entry.splitlines())
    return next((action["commitInfo"] for action in actions if "commitInfo" in action), {})


def newest_commits(session: SparkSession, location: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Version and information of each commit, the newest first; nothing if there is no table."""
    files = HadoopFiles(session)
    version = _newest(files, location)
    while version >= 0 and files.exists(entry := commit_file(location, version)):
        yield version, commit_info(files.read_text(entry))
        version -= 1


def _newest(files: HadoopFiles, location: str) -> int:
    """The newest version: from the last checkpoint on, of which there is one in some dozen commits,
    or else from a list of all files."""
    last = f"{location}/_delta_log/_last_checkpoint"
    if not files.exists(last):
        found = files.find(f"{location}/_delta_log/{'[0-9]' * 20}.json")
        return max((int(PurePosixPath(each).stem) for each in found), default=-1)
    version = int(json.loads(files.read_text(last))["version"])
    while files.exists(commit_file(location, version + 1)):
        version += 1
    return version
