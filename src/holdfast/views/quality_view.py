"""The last report of quality of each flow, in memory."""

from threading import Lock

from holdfast.client.connection import Connection
from holdfast.errors import NotFoundError, UnavailableError
from holdfast.flows.quality import QUALITY_TOPIC, QualityReport, decode_quality
from holdfast.views.followed_table import FollowedTable


class QualityView:
    """Follows `holdfast.quality` from `start` to `stop`. Reading it blocks nobody."""

    def __init__(self, connection: Connection) -> None:
        self._reports: dict[str, QualityReport] = {}
        self._guard = Lock()
        self._table = FollowedTable(connection, QUALITY_TOPIC, self._take)

    def start(self) -> None:
        self._table.start()

    def stop(self) -> None:
        self._table.stop()

    def list(self) -> list[QualityReport]:
        """The last report of every flow that has one, by name."""
        self._check()
        with self._guard:
            return [self._reports[flow] for flow in sorted(self._reports)]

    def get(self, flow: str) -> QualityReport:
        """The last report of a flow, or NotFoundError."""
        self._check()
        with self._guard:
            report = self._reports.get(flow)
        if report is None:
            raise NotFoundError(
                f"The quality of {flow} was never checked. `holdfast quality {flow}` does it."
            )
        return report

    def _check(self) -> None:
        if not self._table.known:
            raise UnavailableError("The reports are being read from Kafka. Ask again soon.")

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        with self._guard:
            if value is None:
                self._reports.pop((key or b"").decode(errors="replace"), None)
            else:
                report = decode_quality(key, value)
                self._reports[report.flow] = report
