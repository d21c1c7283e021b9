"""The interface of a part: a component that the pipeline runs for each flow."""

from collections.abc import Callable
from typing import Protocol

from holdfast.flows.registry import FlowDefinition


class Part(Protocol):
    """A component that runs for one flow, for example its gate or its raw zone.

    A failed part is stopped; later a new one is created and started.
    """

    def start(self) -> None:
        """Start, and return once it runs. Raises if it cannot start."""

    def change(self, flow: FlowDefinition) -> None:
        """The flow's definition has changed."""

    def failure(self) -> Exception | None:
        """The error that ended it; None while it runs."""

    def settled(self) -> bool:
        """Returns True once its start is so far that the next part may start."""

    def trouble(self) -> str | None:
        """Why a running part makes no progress now; None if it does."""

    def measure(self) -> None:
        """Update its metrics. Called about every second while it runs."""

    def stop(self) -> None:
        """Stop, and return once nothing of it runs. It may have failed before."""


MakePart = Callable[[FlowDefinition], Part]
"""Creates the part of one kind for a flow."""
