"""What the routes stand on."""

from dataclasses import dataclass

from holdfast.api.tailing import Tails
from holdfast.client.client import Client
from holdfast.client.connection import Connection
from holdfast.views.quality_view import QualityView
from holdfast.views.runs_view import RunsView
from holdfast.views.views import Views


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of the process that every route may use; on `app.state.services`."""

    connection: Connection
    client: Client
    views: Views
    tails: Tails
    runs: RunsView
    quality: QualityView

    @classmethod
    def over(cls, connection: Connection) -> "Services":
        """Services of one connection. They live from `start` to `stop`."""
        return cls(
            connection,
            Client(connection),
            Views(connection),
            Tails(connection),
            RunsView(connection),
            QualityView(connection),
        )

    def start(self) -> None:
        """Returns at once: see `views.ready`."""
        self.views.start()
        self.runs.start()
        self.quality.start()

    def stop(self) -> None:
        self.tails.stop()
        self.views.stop()
        self.runs.stop()
        self.quality.stop()
        self.client.close()
