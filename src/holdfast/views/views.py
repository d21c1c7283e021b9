"""All flows, live."""

from types import TracebackType
from typing import Self

from holdfast.client.connection import Connection
from holdfast.errors import NotFoundError
from holdfast.views.changes import Changes
from holdfast.views.flow_view import FlowView
from holdfast.views.follower import Follower
from holdfast.views.meter import Meter


class Views:
    """The view of every registered flow. Threads of its own keep it up to date from `start` to
    `stop`; a broker that is away leaves it as it was, and it goes on by itself."""

    def __init__(self, connection: Connection) -> None:
        self.changes = Changes()
        """Flows that come, change and go; their health; a sample a second of each."""
        self._flows: dict[str, FlowView] = {}
        self._follower = Follower(connection, self._flows, self.changes)
        self._meter = Meter(connection, self._flows, self.changes)

    def start(self) -> None:
        """Begin to follow. Returns at once; see `ready`."""
        self._follower.start()
        self._meter.start()

    def stop(self) -> None:
        self._meter.stop()
        self._follower.stop()

    @property
    def ready(self) -> bool:
        """Whether everything that was there at the start has been read."""
        return self._follower.caught_up.is_set()

    @property
    def trouble(self) -> str:
        """Why views do not move just now; empty if they do."""
        return self._meter.trouble

    def wait_ready(self, within: float) -> bool:
        """Wait so many seconds for that. -> whether it is ready"""
        return self._follower.caught_up.wait(within)

    def flows(self) -> list[FlowView]:
        """By name."""
        return sorted(self._flows.copy().values(), key=lambda flow: flow.name)

    def flow(self, name: str) -> FlowView:
        """The flow of that name, or NotFoundError."""
        found = self._flows.get(name)
        if found is None:
            raise NotFoundError(f"There is no flow {name!r}.")
        return found

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
