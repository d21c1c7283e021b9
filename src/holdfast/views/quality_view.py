"""The last report of quality of each flow, in memory."""

from holdfast.client.compacted_topic import FollowedTopic
from holdfast.client.connection import Connection
from holdfast.errors import NotFoundError
from holdfast.flows.quality import QUALITY_TOPIC, QualityReport, decode_quality


class QualityView(FollowedTopic):
    """Follows `holdfast.quality` from `start` to `stop`."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, QUALITY_TOPIC, self._add)
        self._reports: dict[str, QualityReport] = {}

    def list(self) -> list[QualityReport]:
        """The last report of every flow that has one, by name."""
        self.check("The reports")
        with self.lock:
            return [self._reports[flow] for flow in sorted(self._reports)]

    def get(self, flow: str) -> QualityReport:
        """The last report of a flow, or NotFoundError."""
        self.check("The reports")
        with self.lock:
            report = self._reports.get(flow)
        if report is None:
            raise NotFoundError(
                f"The quality of {flow} was never checked. `holdfast quality {flow}` does it."
            )
        return report

    def _add(self, key: bytes | None, value: bytes | None) -> None:
        if value is None:
            self._reports.pop((key or b"").decode(errors="replace"), None)
        else:
            report = decode_quality(key, value)
            self._reports[report.flow] = report
