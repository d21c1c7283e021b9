"""The parts of the process that routes use."""

from dataclasses import dataclass

from holdfast.client.client import Client
from holdfast.client.connection import Connection
from holdfast.control.live_tail import Tails
from holdfast.errors import UnavailableError
from holdfast.views.quality_view import QualityView
from holdfast.views.redriven_view import RedrivenView
from holdfast.views.runs_view import RunsView
from holdfast.views.views import Views


@dataclass(frozen=True, slots=True)
class Services:
    """Every route finds them on `app.state.services`."""

    connection: Connection
    client: Client
    views: Views
    tails: Tails
    runs: RunsView
    quality: QualityView
    redriven: RedrivenView

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
            RedrivenView(connection),
        )

    def ready_views(self) -> Views:
        """The views, or UnavailableError while they are being built: until then a missing flow
        must not look as if it did not exist."""
        if not self.views.ready:
            trouble = self.views.trouble or "Try again in a moment."
            raise UnavailableError(f"The views are being built from Kafka. {trouble}")
        return self.views

    def start(self) -> None:
        """Returns at once: see `views.ready`."""
        self.views.start()
        self.runs.start()
        self.quality.start()
        self.redriven.start()

    def stop(self) -> None:
        self.tails.stop()
        self.views.stop()
        self.runs.stop()
        self.quality.stop()
        self.redriven.stop()
        self.client.close()
