"""Reports: the state of each part of a flow's pipeline, one record of `holdfast.pipeline` each.

The parts of a guard are its partitions, each reported by the worker that owns it. The topic is
compacted, its key `<flow>/<part>`. A part's report is written when something in it changes, and at
least every ten seconds: without reports, the part is not running.
"""

from dataclasses import dataclass, replace
from typing import Literal

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode, read_fields, write_fields

REPORTS_TOPIC = "holdfast.pipeline"
REPORT_SECONDS = 10.0
COUNTS_SECONDS = 1.0
"""Counts are read, and written if they have changed, at most this often. A changed state is written
at once."""

PartState = Literal["starting", "running", "waiting", "failed", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One part of one flow's pipeline. Counts are since the start of its process."""

    flow: str
    part: str
    """gate, or raw-zone; of a guard `partition-<number>`."""
    state: PartState
    reason: str = ""
    """The reason why it waits or has failed, in words."""
    blocked: bool = False
    """The limit of held events is reached; the flow takes no events until there is room."""
    at: int
    process: str
    """The process that reports; its counts begin at 0."""
    taken: int = 0
    passed: int = 0
    """Events that came out to processed, drained ones among them."""
    held: int = 0
    dead: int = 0
    batches: int = 0
    batch_seconds: float = 0.0
    """The duration of all batches together."""
    latency_seconds: float = 0.0
    """The sum over all batches of the time from the newest event's timestamp to the commit."""
    files: int = 0
    """Of a raw zone: the files of its table. 0: they were not counted yet."""
    lands_within: float = 0.0
    """Of a raw zone: the most seconds between two of its commits while events arrive."""
    lag: int = 0
    """Of a guard's partition: events that its worker has yet to take."""


def partition_part(partition: int) -> str:
    """The name of the part that is a partition of a guard."""
    return f"partition-{partition}"


def is_due(before: Report, now: Report, seconds: float) -> bool:
    """Returns True if a report should be written, `seconds` after the one before."""
    if (before.state, before.reason, before.blocked) != (now.state, now.reason, now.blocked):
        return True
    if seconds >= REPORT_SECONDS:
        return True
    return seconds >= COUNTS_SECONDS and replace(before, at=now.at) != now


def encode_report(report: Report) -> tuple[bytes, bytes]:
    """Key and value of the report's record."""
    return f"{report.flow}/{report.part}".encode(), encode(write_fields(report))


def decode_report(key: bytes | None, value: bytes | None) -> Report:
    """The report in a record, or InvalidRecordError."""
    document = Document(value, "pipeline's report")
    try:
        report = Report(**read_fields(Report, document))
    except InvalidArgumentError as error:
        raise InvalidRecordError(f"This pipeline's report cannot be read: {error}") from None
    document.end()
    if key != f"{report.flow}/{report.part}".encode():
        raise InvalidRecordError("This pipeline's report names another part than its key.")
    return report
