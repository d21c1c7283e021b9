"""Reports of a flow's checks of quality: records of the compacted topic `holdfast.quality`.

The flow's name is the key, so the topic keeps the last report of each flow, and a reader needs no
Spark to show it.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.errors import InvalidRecordError
from holdfast.flows.documents import VERSION

QUALITY_TOPIC = "holdfast.quality"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    check: str
    """As the flow declares it."""
    passed: bool
    examined: int
    """The number of checked events."""
    failed: int
    """The number of events that failed. 1 or 0 for checks of the whole flow."""
    says: str
    """The result in words."""
    examples: tuple[str, ...] = ()
    """The first events that failed, as `partition:offset` in the events topic. Values are not
    stored: a reader gets them by their coordinates, with the flow's masks."""


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The results of all checks of a flow, at one time."""

    flow: str
    at: int
    events: int
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.results)

    def document(self) -> dict[str, Any]:
        """The report as a JSON object."""
        return {"version": VERSION, **asdict(self), "passed": self.passed}


def encode_quality(report: QualityReport) -> tuple[bytes, bytes]:
    """Key and value of the report's record."""
    return report.flow.encode(), json.dumps(report.document(), separators=(",", ":")).encode()


def decode_quality(key: bytes | None, value: bytes | None) -> QualityReport:
    """The report in a record, or InvalidRecordError."""
    try:
        fields = json.loads(value or b"")
        if fields.pop("version") != VERSION or fields["flow"].encode() != key:
            raise ValueError("another version, or another flow than its key")
        fields.pop("passed")
        results = tuple(map(_result, fields.pop("results")))
        return QualityReport(**fields, results=results)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidRecordError(f"This report of quality cannot be read: {error}.") from None


def _result(fields: dict[str, Any]) -> CheckResult:
    return CheckResult(**{**fields, "examples": tuple(fields.get("examples", ()))})
