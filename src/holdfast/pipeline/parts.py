"""What the pipeline runs for each flow: parts, which start, fail and stop by themselves."""

from typing import Protocol

from holdfast.flows.registry import FlowDefinition


class Part(Protocol):
    """One thing that runs for one flow, for example its gate or its raw zone.

    A part that has failed is stopped, and a new one is made and started later.
    """

    def start(self) -> None:
        """Begin, and return once it runs. Raises what stands against it."""

    def change(self, flow: FlowDefinition) -> None:
        """The flow's definition is another from now on."""

    def failure(self) -> Exception | None:
        """Why it has ended by itself; None while it runs."""

    def settled(self) -> bool:
        """Whether it has come so far that others may take the machine to start."""

    def trouble(self) -> str | None:
        """What keeps it from going on just now, though it runs; None if it goes on."""

    def measure(self) -> None:
        """Bring its metrics up to date. Called every second or so, while it runs."""

    def stop(self) -> None:
        """End, and return once nothing of it runs any more. It may have failed before."""


class MakePart(Protocol):
    """Makes the part of one kind for a flow."""

    def __call__(self, flow: FlowDefinition) -> Part: ...
