"""Reports: how each part of a flow's pipeline is, one record of `holdfast.pipeline` each.

The topic is compacted, its key `<flow>/<part>`. A part's report is written when something in it
changes, and every ten seconds in any case: its silence means that nobody runs it.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from holdfast.errors import InvalidRecordError
from holdfast.flows.documents import Document, encode

REPORTS_TOPIC = "holdfast.pipeline"
REPORT_EVERY_S = 10.0

PartState = Literal["starting", "running", "waiting", "failed", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One part of one flow's pipeline. Counts are since the start of its process."""

    flow: str
    part: str
    """gate, or raw-zone."""
    state: PartState
    reason: str = ""
    """What keeps it from going on, in words."""
    blocked: bool = False
    """As much is held as may be, and the flow takes no more events until there is room."""
    at: int
    process: str
    """Which process speaks: its counts begin at 0."""
    taken: int = 0
    passed: int = 0
    """Events that came out to processed, drained ones among them."""
    held: int = 0
    dead: int = 0
    batches: int = 0
    batch_seconds: float = 0.0
    """In all batches together."""
    latency_seconds: float = 0.0
    """Of all batches together: from the newest event's timestamp to the commit."""


def encode_report(report: Report) -> tuple[bytes, bytes]:
    """Key and value of the report's record."""
    return f"{report.flow}/{report.part}".encode(), encode(
        {
            "flow": report.flow,
            "part": report.part,
            "state": report.state,
            "reason": report.reason or None,
            "blocked": report.blocked or None,
            "at": report.at,
            "process": report.process,
            "taken": report.taken,
            "passed": report.passed,
            "held": report.held,
            "dead": report.dead,
            "batches": report.batches,
            "batch_seconds": round(report.batch_seconds, 6),
            "latency_seconds": round(report.latency_seconds, 6),
        }
    )


def decode_report(key: bytes | None, value: bytes | None) -> Report:
    """The report in a record, or InvalidRecordError."""
    document = Document(value, "pipeline's report")
    report = Report(
        flow=document.text("flow"),
        part=document.text("part"),
        state=_state(document.text("state")),
        reason=document.optional_text("reason") or "",
        blocked=document.flag("blocked"),
        at=document.integer("at"),
        process=document.text("process"),
        taken=document.integer("taken"),
        passed=document.integer("passed"),
        held=document.integer("held"),
        dead=document.integer("dead"),
        batches=document.integer("batches"),
        batch_seconds=document.optional_number("batch_seconds") or 0.0,
        latency_seconds=document.optional_number("latency_seconds") or 0.0,
    )
    document.end()
    if key != f"{report.flow}/{report.part}".encode():
        raise InvalidRecordError("This pipeline's report names another part than its key.")
    return report


def _state(text: str) -> PartState:
    for state in get_args(PartState):
        if text == state:
            return state  # type: ignore[no-any-return]
    raise InvalidRecordError(f"This pipeline's report has an unknown state: {text!r}.")
