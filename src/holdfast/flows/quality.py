"""What came of a flow's checks of quality: a record of the compacted topic `holdfast.quality`.

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
    """What came of one check."""

    check: str
    """As the flow declares it."""
    passed: bool
    examined: int
    """Events that were looked at."""
    failed: int
    """Of them: those that speak against it. 1 or 0 for checks of the whole flow."""
    says: str
    """In words: what was found."""


@dataclass(frozen=True, slots=True)
class QualityReport:
    """What came of all checks of a flow, at one time."""

    flow: str
    at: int
    events: int
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.results)

    def document(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
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
        results = tuple(CheckResult(**result) for result in fields.pop("results"))
        return QualityReport(**fields, results=results)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidRecordError(f"This report of quality cannot be read: {error}.") from None
