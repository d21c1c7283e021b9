"""The history of a run, as its clients saw it.

Times are seconds of one monotonic clock: all of it is written down by one process, which no fault
touches. What is only known to have been asked for is `info`, as Jepsen calls it: it may have
happened, may happen later, or never.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

FOREVER = float("inf")


class State(StrEnum):
    """The result of a request, as far as its client knows it."""

    OK = "ok"
    INFO = "info"
    """Nobody knows: no answer came, or an error that leaves it open."""
    ABORTED = "aborted"
    """Part of a transaction whose commit was never asked for: it must not be seen."""


@dataclass(slots=True)
class Send:
    """An event. Its id is in its value; ids of one producer rise in the order of sending."""

    id: int
    flow: str
    producer: str
    key: bytes | None
    valid: bool
    """True if it fits the flow's schema."""
    invoked: float
    state: State = State.INFO
    completed: float = FOREVER
    partition: int = -1
    offset: int = -1
    oversized: bool = False
    """True if it is too large for all output topics."""


@dataclass(slots=True)
class Asked:
    """A command."""

    flow: str
    key: bytes
    name: str
    """hold, release or dead-letter"""
    id: str
    invoked: float
    expires: float = FOREVER
    """When a hold may end by itself, by the clock of this process."""
    state: State = State.INFO
    completed: float = FOREVER
    offset: int = -1
    """On the control log."""


@dataclass(frozen=True, slots=True)
class Poll:
    """A record that a read_committed reader of processed was given."""

    partition: int
    offset: int
    id: int
    at: float


@dataclass(frozen=True, slots=True)
class Inflicted:
    """A fault, and when it was over; `detail` says what was hit."""

    kind: str
    at: float
    until: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ClockSet:
    """From then on the pipeline's clock is this many seconds ahead."""

    at: float
    ahead: float


@dataclass(slots=True)
class History:
    """Each list has one writer, or is appended to, which the interpreter does as one."""

    seed: int
    sends: list[Send] = field(default_factory=list)
    commands: list[Asked] = field(default_factory=list)
    polls: dict[str, list[Poll]] = field(default_factory=dict)
    """By flow."""
    faults: list[Inflicted] = field(default_factory=list)
    clock: list[ClockSet] = field(default_factory=list)
    worker: list[str] = field(default_factory=list)
    """Lines of the worker's own record: see `worker`."""
    breaches: list[str] = field(default_factory=list)
    """Wrong behaviour that the runner of the system saw, in words."""

    def save(self, path: Path) -> None:
        """One JSON document a line."""
        with path.open("w") as file:
            for document in self._documents():
                file.write(json.dumps(document, default=_plain) + "\n")

    def _documents(self) -> Iterator[dict[str, Any]]:
        yield {"type": "run", "seed": self.seed}
        for kind, entries in (
            ("send", self.sends),
            ("command", self.commands),
            ("fault", self.faults),
            ("clock", self.clock),
        ):
            for entry in entries:
                yield {"type": kind, **asdict(entry)}
        for flow, polls in self.polls.items():
            for poll in polls:
                yield {"type": "poll", "flow": flow, **asdict(poll)}
        for line in self.worker:
            yield {"type": "worker", "line": line}
        for breach in self.breaches:
            yield {"type": "breach", "what": breach}


def _plain(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
