"""All flows, live."""

from typing import Self

from holdfast.client.connection import Connection
from holdfast.errors import NotFoundError
from holdfast.views.changes import Changes
from holdfast.views.flow_view import FlowView
from holdfast.views.follower import Follower
from holdfast.views.meter import Meter
from holdfast.views.standstill import Standstill


class Views:
    """The views of all registered flows. Its threads update them from `start` to `stop`. While a
    broker is away the views stay as they are (see `standstill`), and then continue."""

    def __init__(self, connection: Connection) -> None:
        self.changes = Changes()
        """New, changed and removed flows; their health; a sample a second of each."""
        self._flows: dict[str, FlowView] = {}
        self._follower = Follower(connection, self._flows, self.changes)
        self._meter = Meter(connection, self._flows, self.changes)

    def start(self) -> None:
        """Start to follow. Returns at once; see `ready`."""
        self._follower.start()
        self._meter.start()

    def stop(self) -> None:
        self._meter.stop()
        self._follower.stop()

    @property
    def ready(self) -> bool:
        """True once all records that existed at the start were read."""
        return self._follower.caught_up.is_set()

    @property
    def trouble(self) -> str:
        """Why views are not updated at the moment; empty if they are."""
        return self._follower.failure or self._meter.trouble

    @property
    def standstill(self) -> Standstill | None:
        """Since when and why the views show old data; None if they are up to date, or if the broker
        failed for a moment only."""
        for each in (self._follower.standstill, self._meter.standstill):
            if each is not None and each.lasts:
                return each
        return None

    def flows(self) -> list[FlowView]:
        return sorted(self._flows.copy().values(), key=lambda flow: flow.name)

    def flow(self, name: str) -> FlowView:
        """The flow of that name, or NotFoundError."""
        view = self._flows.get(name)
        if view is None:
            raise NotFoundError(f"There is no flow {name!r}.")
        return view

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
